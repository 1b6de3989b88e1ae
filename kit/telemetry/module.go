package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Counter counts events, with a separate count for each value of a label.
type Counter struct{ vec *prometheus.CounterVec }

// NewCounter returns a Counter that reports 0 for each of the values until an event is counted.
func NewCounter(name, help, label string, values ...string) Counter {
	c := Counter{prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})}
	for _, value := range values {
		c.vec.WithLabelValues(value)
	}
	return c
}

// Inc counts an event with the label value.
func (c Counter) Inc(value string) { c.vec.WithLabelValues(value).Inc() }

// Collectors implements kit.Metered.
func (c Counter) Collectors() []prometheus.Collector { return []prometheus.Collector{c.vec} }

// Gauge is a value that is read each time the metrics are collected.
type Gauge struct{ gauge prometheus.Collector }

// NewGauge returns a Gauge whose value is the result of read.
func NewGauge(name, help string, read func() float64) Gauge {
	return Gauge{prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read)}
}

// Collectors implements kit.Metered.
func (g Gauge) Collectors() []prometheus.Collector { return []prometheus.Collector{g.gauge} }
