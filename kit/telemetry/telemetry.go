// Package telemetry provides the metrics and traces of a service: metrics for Prometheus, traces by the OpenTelemetry
// protocol. Each can be disabled. If both are, the Observer is nil and adds no cost.
//
// Metrics and spans contain no secrets and nothing that a client can use to exhaust memory: they have the pattern of a
// route, never its path, which can contain a token, and no query, header or error message.
package telemetry

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options configure an Observer.
type Options struct {
	Metrics  bool
	Traces   Settings
	Exporter sdktrace.SpanExporter // nil uses the exporter that the environment configures, if any
	Service  string                // the default of OTEL_SERVICE_NAME
	Version  string                // of the service
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

// New returns an Observer for what is enabled, or nil. Call Shutdown when the service stops.
func New(ctx context.Context, o Options) (*Observer, error) {
	observer := &Observer{}
	if o.Metrics {
		observer.metrics = newMetrics(o.Version)
	}
	if o.Exporter != nil || o.Traces.enabled() {
		var err error
		if observer.traces, err = newTraces(ctx, o); err != nil {
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
