package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"example.com/ginseng/middleware"
)

// streamMetrics implements telemetry.Metered.
type streamMetrics struct{ streams *middleware.Streams }

func (s streamMetrics) Collectors() []prometheus.Collector {
	open := prometheus.GaugeOpts{Name: "streams_open", Help: "Open streams of changes on this instance."}
	return []prometheus.Collector{prometheus.NewGaugeFunc(open, func() float64 { return float64(s.streams.Open()) })}
}
