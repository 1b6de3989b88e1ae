package telemetry

import (
	"context"
	"fmt"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// scope is the name under which the spans are made.
const scope = "example.com/ginseng/kit/telemetry"

// newTraces starts the exporter. Nothing is global: not the provider, not the propagator, not what happens to errors.
func newTraces(o Options) (*traces, error) {
	c := o.Traces
	t := &traces{propagator: c.propagator()}
	var exporter sdktrace.SpanExporter = console{o.Print}
	if c.Exporter != exporterConsole {
		var err error
		if t.client, err = newOTLP(c); err != nil {
			return nil, err
		}
		exporter = otlptrace.NewUnstarted(t.client)
	}
	what, err := describeService(c, o)
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	t.provider = sdktrace.NewTracerProvider(
		sdktrace.WithResource(what), sdktrace.WithSampler(c.sampler()),
		sdktrace.WithBatcher(&reporter{SpanExporter: exporter, log: o.Log}, sdktrace.WithBatchTimeout(milliseconds(c.BatchDelay)), sdktrace.WithExportTimeout(milliseconds(c.BatchTimeout)),
			sdktrace.WithMaxQueueSize(c.QueueSize), sdktrace.WithMaxExportBatchSize(c.BatchSize)),
	)
	t.Tracer = t.provider.Tracer(scope)
	return t, nil
}

// describeService is what each batch says of the service. OTEL_SERVICE_NAME wins over OTEL_RESOURCE_ATTRIBUTES, and that
// over what we know.
func describeService(c Settings, o Options) (*resource.Resource, error) {
	given, err := attributes(c.ResourceAttributes)
	if err != nil {
		return nil, err
	}
	known := append([]attribute.KeyValue{semconv.ServiceName(o.Service), semconv.ServiceVersion(o.Version)}, given...)
	if c.ServiceName != "" {
		known = append(known, semconv.ServiceName(c.ServiceName))
	}
	return resource.New(context.Background(), resource.WithTelemetrySDK(), resource.WithHost(), resource.WithAttributes(known...))
}

// reporter tells the log when spans begin to be lost, and when that is over; not each time.
type reporter struct {
	sdktrace.SpanExporter
	log  *slog.Logger
	lost int
}

// ExportSpans is called by one goroutine at a time. It keeps errors from the SDK, which would print them.
func (r *reporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := r.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil:
		if r.lost == 0 {
			r.log.Warn("traces are lost: nobody takes them", "error", err)
		}
		r.lost += len(spans)
	case r.lost > 0:
		r.log.Info("traces are taken again", "lostSpans", r.lost)
		r.lost = 0
	}
	return nil
}
