package testkit

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"example.com/ginseng/kit/telemetry"
)

// Receiver takes traces, as a collector does.
type Receiver struct {
	URL string

	t     testing.TB
	mu    sync.Mutex
	spans []*tracepb.Span
	raw   []byte
}

// NewReceiver starts one; the test's clean-up stops it.
func NewReceiver(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{t: t}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// ServeHTTP takes a batch.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	var data tracepb.TracesData
	raw, err := io.ReadAll(q.Body)
	if err == nil {
		err = proto.Unmarshal(raw, &data)
	}
	if err != nil || q.Method != http.MethodPost || q.URL.Path != "/v1/traces" || q.Header.Get("Content-Type") != "application/x-protobuf" {
		r.t.Errorf("%s %s: not traces: %v", q.Method, q.URL.Path, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw = append(r.raw, raw...)
	for _, resource := range data.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			r.spans = append(r.spans, scope.Spans...)
		}
	}
}

// Spans are those that have come, and all that came as it came.
func (r *Receiver) Spans() (spans []*tracepb.Span, raw []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.spans), slices.Clone(r.raw)
}

// Observer counts, and sends its traces to the Receiver; all of them have come when it is shut down. The values are the
// defaults of its settings.
func (r *Receiver) Observer() *telemetry.Observer {
	r.t.Helper()
	o, err := telemetry.New(telemetry.Options{
		Metrics: true, Service: "test", Version: "test", Log: slog.New(slog.DiscardHandler),
		Traces: telemetry.Settings{
			Endpoint: r.URL, Timeout: 10_000, Propagators: []string{"tracecontext"},
			BatchDelay: 100, BatchTimeout: 30_000, QueueSize: 100_000, BatchSize: 512,
		},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return o
}

// Observed has the service seen by o.
func Observed(o *telemetry.Observer) func(*Config) {
	return func(c *Config) { c.Host.Observer, c.Middleware.Observer = o, o }
}
