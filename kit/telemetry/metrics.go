package telemetry

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are the metrics of the Observer. The metric names have no prefix, so that one dashboard fits every service. The label
// job, which Prometheus adds, distinguishes services.
type metrics struct {
	registry     *prometheus.Registry
	requests     *prometheus.CounterVec   // by method, route, status
	durations    *prometheus.HistogramVec // by method, route
	inFlight     prometheus.Gauge
	operations   *prometheus.HistogramVec // by collection, operation
	failures     *prometheus.CounterVec   // by collection, operation, code
	batchWrites  prometheus.Histogram
	commitLength prometheus.Histogram
}

// The buckets of the histograms, in seconds unless noted. A request that reads a record takes less than a millisecond; a
// request that hashes a password takes tens of milliseconds. The timeout of a request is 30 s.
var (
	requestBuckets   = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	operationBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30}
	writeBuckets     = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256} // number of writes
	commitBuckets    = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1}
)

func newMetrics(version string) *metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	create := promauto.With(registry)
	create.NewGauge(prometheus.GaugeOpts{
		Name: "service_build_info", Help: "Always 1; the labels have the versions of the service and of Go.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	}).Set(1)
	return &metrics{
		registry: registry,
		requests: create.NewCounterVec(prometheus.CounterOpts{
			Name: "http_requests_total", Help: "Completed requests.",
		}, []string{"method", "route", "status"}),
		durations: create.NewHistogramVec(prometheus.HistogramOpts{
			Name: "http_request_duration_seconds", Help: "Time from the header of a request to the end of its response.", Buckets: requestBuckets,
		}, []string{"method", "route"}),
		inFlight: create.NewGauge(prometheus.GaugeOpts{
			Name: "http_requests_in_flight", Help: "Requests in progress.",
		}),
		operations: create.NewHistogramVec(prometheus.HistogramOpts{
			Name: "db_operation_duration_seconds", Help: "Duration of database operations, including failed operations.", Buckets: operationBuckets,
		}, []string{"collection", "operation"}),
		failures: create.NewCounterVec(prometheus.CounterOpts{
			Name: "db_operation_errors_total",
			Help: "Failed database operations; not_found and conflict are expected results, unavailable and internal are faults.",
		}, []string{"collection", "operation", "code"}),
		batchWrites: create.NewHistogram(prometheus.HistogramOpts{
			Name: "sqlite_batch_writes", Help: "Writes per transaction of the embedded engine.", Buckets: writeBuckets,
		}),
		commitLength: create.NewHistogram(prometheus.HistogramOpts{
			Name: "sqlite_commit_duration_seconds", Help: "Duration of a commit of the embedded engine.", Buckets: commitBuckets,
		}),
	}
}

// observeCommit records the number of writes and the duration of a commit of the embedded engine.
func (m *metrics) observeCommit(writes int, took time.Duration) {
	m.batchWrites.Observe(float64(writes))
	m.commitLength.Observe(took.Seconds())
}

// Registry returns the registry of the metrics, or nil if metrics are disabled.
func (o *Observer) Registry() *prometheus.Registry {
	if o == nil || o.metrics == nil {
		return nil
	}
	return o.metrics.registry
}

// Metrics returns a handler for GET /metrics. Call Metrics only if metrics are enabled.
func (o *Observer) Metrics(log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(o.metrics.registry, promhttp.HandlerOpts{
		ErrorLog: printer(func(text string) { log.Warn("metrics", "error", text) }),
	}))
	return mux
}

type printer func(string)

func (p printer) Println(v ...any) { p(fmt.Sprint(v...)) }
