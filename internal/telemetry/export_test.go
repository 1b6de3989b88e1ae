package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Descriptions are those of all metrics that are registered, also of those that have no value yet.
func (o *Observer) Descriptions() []string {
	descs := make(chan *prometheus.Desc)
	go func() {
		o.metrics.registry.Describe(descs)
		close(descs)
	}()
	var out []string
	for d := range descs {
		out = append(out, d.String())
	}
	return out
}
