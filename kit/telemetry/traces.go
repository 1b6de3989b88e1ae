package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// newTraces starts the exporter. It sets no global of OpenTelemetry.
func newTraces(ctx context.Context, o Options) (*traces, error) {
	exporter := o.Exporter
	if exporter == nil {
		var err error
		if exporter, err = autoexport.NewSpanExporter(ctx); err != nil {
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
	lost int
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
