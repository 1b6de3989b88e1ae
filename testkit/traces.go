package testkit

import (
	"context"
	"log/slog"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"example.com/ginseng/kit/telemetry"
)

// Spans has the exported spans of a service.
type Spans struct{ *tracetest.InMemoryExporter }

// Shutdown implements trace.SpanExporter. Unlike InMemoryExporter.Shutdown, it keeps the spans.
func (Spans) Shutdown(context.Context) error { return nil }

// Observe returns an Observer with metrics and traces, and the exporter of its spans. The exporter has all spans after the
// Shutdown of the Observer.
func Observe(t testing.TB) (*telemetry.Observer, Spans) {
	t.Helper()
	spans := Spans{tracetest.NewInMemoryExporter()}
	o, err := telemetry.New(context.Background(), telemetry.Options{
		Metrics: true, Exporter: spans, Service: "test", Version: "test", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return o, spans
}

// Observed returns an Option that sets the Observer of the service.
func Observed(o *telemetry.Observer) Option { return func(c *Config) { c.Observer = o } }
