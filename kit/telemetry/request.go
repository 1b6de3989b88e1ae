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

// Request is one that an Observer sees.
type Request struct {
	observer      *Observer
	method, route string
	begun         time.Time
	span          trace.Span // nil where there are no traces
}

// unmatched stands where a request has no route: one label, whatever was asked for.
const unmatched = "unmatched"

// Begin is to be told of a request before anything is done with it. The route is its pattern, "" where it has none. The
// context is that of the request, and its span's. A parent that the request names is continued; whether that counts is
// the sampler's business.
func (o *Observer) Begin(r *http.Request, method, route string) (context.Context, Request) {
	ctx := r.Context()
	if o == nil {
		return ctx, Request{}
	}
	request := Request{observer: o, method: known(method), route: route, begun: time.Now()}
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

// otherMethod is the name of all methods that are not of HTTP: a client may make up any number of them.
const otherMethod = "_OTHER"

func known(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE":
		return method
	}
	return otherMethod
}

// TraceID is that of the request's span, "" where there is none.
func (r Request) TraceID() string {
	if r.span == nil {
		return ""
	}
	return r.span.SpanContext().TraceID().String()
}

// End tells what became of the request. userID is "" unless a user made it.
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
		m.durations.WithLabelValues(r.method, route).Observe(time.Since(r.begun).Seconds())
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
