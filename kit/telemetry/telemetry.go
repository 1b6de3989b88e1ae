// Package telemetry lets an operator watch the service: metrics that Prometheus scrapes, and traces that leave by the
// OpenTelemetry protocol. Either can be off. Where both are, the Observer is nil, nothing is wrapped, and nothing here
// runs.
//
// What it tells bears no secret and nothing that a client could fill memory with: the pattern of a route and never its
// path, since the token of a password reset stands there; no query, no header, no text of an error.
package telemetry

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"example.com/ginseng/kit/meter"
)

// Options are what an Observer is made of.
type Options struct {
	Metrics bool
	Traces  Settings
	Service string    // what the service is called where Traces does not say
	Version string    // of the service
	Print   io.Writer // where the console's exporter prints
	Log     *slog.Logger
}

// Observer sees what the service does. A nil one sees nothing, at no cost.
type Observer struct {
	metrics *metrics // nil: off
	traces  *traces  // nil: off
}

// traces are where spans come from and where they go.
type traces struct {
	trace.Tracer
	provider   *sdktrace.TracerProvider
	propagator propagation.TextMapPropagator
	client     *otlp // nil: spans are printed
}

// New makes an Observer of what is on; nil if nothing is. Shut it down. The error is what Settings.Check finds.
func New(o Options) (*Observer, error) {
	observer := &Observer{}
	if o.Metrics {
		observer.metrics = newMetrics(o.Version)
	}
	if o.Traces.on() {
		var err error
		if observer.traces, err = newTraces(o); err != nil {
			return nil, err
		}
	}
	if observer.metrics == nil && observer.traces == nil {
		return nil, nil
	}
	return observer, nil
}

// Shutdown sends the spans that are left, each batch with one try, until ctx ends. Nothing is seen afterwards.
func (o *Observer) Shutdown(ctx context.Context) error {
	if o == nil || o.traces == nil {
		return nil
	}
	client := o.traces.client
	if client == nil {
		return o.traces.provider.Shutdown(ctx)
	}
	client.hurry()
	return errors.Join(o.traces.provider.Shutdown(ctx), client.Stop(ctx))
}

// Meter adds the metrics of parts of the service.
func (o *Observer) Meter(parts ...meter.Metered) {
	if o == nil || o.metrics == nil {
		return
	}
	for _, part := range parts {
		o.metrics.registry.MustRegister(collector(part.Metrics()))
	}
}
