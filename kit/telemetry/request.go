package telemetry

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Request is an observed request.
type Request struct {
	observer      *Observer
	method, route string
	started       time.Time
	span          trace.Span // nil if traces are disabled
}

// unmatched is the route label of requests without a route.
const unmatched = "unmatched"

// Begin starts the observation of a request. The route is its pattern, or "". The returned context has the span, which
// continues the trace that the request's headers name.
func (o *Observer) Begin(r *http.Request, method, route string) (context.Context, Request) {
	ctx := r.Context()
	if o == nil {
		return ctx, Request{}
	}
	request := Request{observer: o, method: knownMethod(method), route: route, started: time.Now()}
	if o.metrics != nil {
		o.metrics.inFlight.Inc()
	}
	if o.traces != nil {
		ctx, request.span = o.traces.begin(ctx, r, request.method, route)
	}
	return ctx, request
}

func (t *traces) begin(ctx context.Context, r *http.Request, method, route string) (context.Context, trace.Span) {
	ctx = t.propagator.Extract(ctx, propagation.HeaderCarrier(r.Header))
	name := method
	if method == otherMethod {
		name = "HTTP"
	}
	attributes := []attribute.KeyValue{semconv.HTTPRequestMethodKey.String(method), semconv.URLScheme("http")}
	if route != "" {
		name += " " + route
		attributes = append(attributes, semconv.HTTPRoute(route))
	}
	return t.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes...))
}

// otherMethod replaces methods unknown to HTTP, which clients can choose freely.
const otherMethod = "_OTHER"

func knownMethod(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE":
		return method
	}
	return otherMethod
}

// TraceID returns the trace ID of the request, or "".
func (r Request) TraceID() string {
	if r.span == nil {
		return ""
	}
	return r.span.SpanContext().TraceID().String()
}

// End ends the observation. userID is the authenticated user, or "".
func (r Request) End(status int, userID string) {
	if r.observer == nil {
		return
	}
	if m := r.observer.metrics; m != nil {
		route := r.route
		if route == "" {
			route = unmatched
		}
		m.inFlight.Dec()
		m.requests.WithLabelValues(r.method, route, strconv.Itoa(status)).Inc()
		m.durations.WithLabelValues(r.method, route).Observe(time.Since(r.started).Seconds())
	}
	if r.span == nil {
		return
	}
	r.span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	if userID != "" {
		r.span.SetAttributes(semconv.EnduserID(userID))
	}
	if status >= http.StatusInternalServerError {
		r.span.SetAttributes(semconv.ErrorTypeKey.String(strconv.Itoa(status)))
		r.span.SetStatus(codes.Error, "")
	}
	r.span.End()
}
