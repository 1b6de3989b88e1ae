// Package telemetry provides the metrics and traces of a service: metrics for Prometheus, traces by the OpenTelemetry
// protocol. Each can be disabled. If both are, the Observer is nil and adds no cost.
//
// Metrics and spans contain no secrets and nothing that a client can use to exhaust memory: they have the pattern of a
// route, never its path, which can contain a token, and no query, header or error message.
package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Options configure an Observer.
type Options struct {
	Metrics  bool
	Traces   Settings
	Exporter sdktrace.SpanExporter // nil uses the exporter that the environment configures, if any
	Service  string                // the default of OTEL_SERVICE_NAME
	Version  string                // the version of the service
	Log      *slog.Logger
}

// Observer records metrics and traces. All methods accept a nil Observer, which records nothing.
type Observer struct {
	metrics *metrics // nil if disabled
	traces  *traces  // nil if disabled
}

type traces struct {
	trace.Tracer
	provider   *sdktrace.TracerProvider
	propagator propagation.TextMapPropagator
}

// New returns an Observer for what is enabled, or nil if neither metrics nor traces are. Call Shutdown when the service
// stops.
func New(ctx context.Context, o Options) (*Observer, error) {
	observer := &Observer{}
	if o.Metrics {
		observer.metrics = newMetrics(o.Version)
	}
	if o.Exporter != nil || o.Traces.enabled() {
		var err error
		observer.traces, err = newTraces(ctx, o)
		if err != nil {
			return nil, err
		}
	}
	if observer.metrics == nil && observer.traces == nil {
		return nil, nil
	}
	return observer, nil
}

// Shutdown exports the remaining spans until ctx ends.
func (o *Observer) Shutdown(ctx context.Context) error {
	if o == nil || o.traces == nil {
		return nil
	}
	return o.traces.provider.Shutdown(ctx)
}

// Metered is a component with metrics.
type Metered interface {
	Collectors() []prometheus.Collector
}

// Register adds the metrics of components.
func (o *Observer) Register(components ...Metered) {
	if o == nil || o.metrics == nil {
		return
	}
	for _, component := range components {
		o.metrics.registry.MustRegister(component.Collectors()...)
	}
}

// newTraces starts the exporter. It sets no global of OpenTelemetry.
func newTraces(ctx context.Context, o Options) (*traces, error) {
	exporter := o.Exporter
	if exporter == nil {
		var err error
		if o.Traces.Exporter == "console" {
			exporter, err = stdouttrace.New()
		} else {
			exporter, err = otlptracehttp.New(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("telemetry: exporter: %w", err)
		}
	}
	service, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName(o.Service), semconv.ServiceVersion(o.Version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("telemetry: OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(service), sdktrace.WithBatcher(&lossLogger{SpanExporter: exporter, log: o.Log}))
	t := &traces{Tracer: provider.Tracer("example.com/ginseng/kit/telemetry"), provider: provider, propagator: propagation.TraceContext{}}
	if slices.Contains(o.Traces.Propagators, "none") {
		t.propagator = propagation.NewCompositeTextMapPropagator()
	}
	return t, nil
}

// lossLogger logs when spans begin to be lost and when export works again, not each failure.
type lossLogger struct {
	sdktrace.SpanExporter
	log  *slog.Logger
	lost int // spans since the last successful export
}

var urls = regexp.MustCompile(`https?://[^\s"]+`)

// ExportSpans is called by one goroutine at a time. It returns no error: OpenTelemetry would print it, with the address
// of the collector, which can contain a key.
func (l *lossLogger) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := l.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil:
		if l.lost == 0 {
			l.log.Warn("traces are lost: the collector is unreachable or rejects them", "error", urls.ReplaceAllString(err.Error(), "(collector)"))
		}
		l.lost += len(spans)
	case l.lost > 0:
		l.log.Info("traces are exported again", "lostSpans", l.lost)
		l.lost = 0
	}
	return nil
}

// Request is an observed request.
type Request struct {
	observer      *Observer
	method, route string
	started       time.Time
	span          trace.Span // nil if traces are disabled
}

// unmatched is the route label of requests without a route.
const unmatched = "unmatched"

// Begin starts the observation of a request. route is the pattern of its route, or "" if there is none. The returned context
// has the span, which continues the trace of the request's header traceparent. Call Request.End after the response.
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

// TraceID returns the trace ID of the request, or "" if traces are disabled.
func (r Request) TraceID() string {
	if r.span == nil {
		return ""
	}
	return r.span.SpanContext().TraceID().String()
}

// End ends the observation. status is that of the response. userID is the authenticated user, or "".
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
