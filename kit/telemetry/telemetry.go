// Package telemetry provides metrics for Prometheus, and traces that it exports with the OpenTelemetry protocol. Metrics and
// traces can be disabled separately. If both are disabled, the Observer is nil and adds no cost.
//
// Metrics and spans contain no secrets, and no values that a client could use to exhaust memory. They contain the pattern of a
// route, but never the path of a request, which can contain a token. They contain no queries, headers or error messages.
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

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"example.com/ginseng/kit"
)

// Options configure an Observer.
type Options struct {
	Metrics  bool
	Traces   Settings
	Exporter sdktrace.SpanExporter // if nil, traces use the exporter that Traces configures, if any
	Service  string                // the default for OTEL_SERVICE_NAME
	Version  string                // the version of the service
	Log      *slog.Logger
}

// Observer records metrics and traces. All methods except Metrics accept a nil Observer, which records nothing.
type Observer struct {
	metrics *metrics // nil if disabled
	traces  *traces  // nil if disabled
}

type traces struct {
	trace.Tracer
	provider   *sdktrace.TracerProvider
	propagator propagation.TextMapPropagator
}

// New returns an Observer for the metrics and traces that are enabled. It returns nil if both are disabled. Call Shutdown when
// the service stops.
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

// Shutdown exports the remaining spans. It stops when ctx ends.
func (o *Observer) Shutdown(ctx context.Context) error {
	if o == nil || o.traces == nil {
		return nil
	}
	return o.traces.provider.Shutdown(ctx)
}

// Register registers the metrics of components.
func (o *Observer) Register(components ...kit.Metered) {
	if o == nil || o.metrics == nil {
		return
	}
	for _, component := range components {
		o.metrics.registry.MustRegister(component.Collectors()...)
	}
}

// newTraces starts the export of traces. It does not set global variables of OpenTelemetry.
func newTraces(ctx context.Context, o Options) (*traces, error) {
	exporter := o.Exporter
	if exporter == nil {
		var err error
		if exporter, err = newExporter(ctx, o.Traces); err != nil {
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

func newExporter(ctx context.Context, s Settings) (sdktrace.SpanExporter, error) {
	if s.Exporter == "console" {
		return stdouttrace.New()
	}
	c, err := newCollector(s)
	if err != nil {
		return nil, err
	}
	return otlptrace.New(ctx, c)
}

// lossLogger logs when the export begins to fail and when it works again. It does not log each failure.
type lossLogger struct {
	sdktrace.SpanExporter
	log  *slog.Logger
	lost int // number of spans that were lost since the last successful export
}

var urls = regexp.MustCompile(`https?://[^\s"]+`)

// ExportSpans is called by one goroutine at a time. It always returns nil, because OpenTelemetry would print an error with the
// address of the collector, which can contain a key.
func (l *lossLogger) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := l.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil:
		if l.lost == 0 {
			l.log.Warn("traces are lost: the collector is unreachable or rejects the traces", "error", urls.ReplaceAllString(err.Error(), "(collector)"))
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

// unmatched is the value of the label route for requests without a route.
const unmatched = "unmatched"

// Begin starts the observation of a request. route is the pattern of the request's route, or "" if no route matches. If
// traces are enabled, the returned context contains a span that continues the trace in the header traceparent of the request.
// Call Request.End after the response.
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

// otherMethod replaces unknown HTTP methods, which clients can choose freely.
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

// End ends the observation. status is the status of the response. userID is the ID of the authenticated user, or "".
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
