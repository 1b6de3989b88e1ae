package server

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/ginseng/middleware"
)

// streamMetrics implements kit.Metered.
type streamMetrics []prometheus.Collector

// delayBuckets are in seconds.
var delayBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 5, 30}

// observeStreams returns the metrics of streams.
func observeStreams(streams *middleware.Streams) streamMetrics {
	open := prometheus.GaugeOpts{Name: "streams_open", Help: "Open streams of changes on this instance."}
	delays := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "stream_delay_seconds", Help: "Time from a change to its event on a stream that was open before.", Buckets: delayBuckets,
	})
	streams.Delay = func(d time.Duration) { delays.Observe(d.Seconds()) }
	return streamMetrics{prometheus.NewGaugeFunc(open, func() float64 { return float64(streams.Open()) }), delays}
}

func (s streamMetrics) Collectors() []prometheus.Collector { return s }
