package testkit

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"example.com/ginseng/kit/telemetry"
)

// Receiver is an OTLP collector.
type Receiver struct {
	URL string

	t     testing.TB
	mu    sync.Mutex
	spans []*tracepb.Span
	raw   []byte
}

// NewReceiver starts a Receiver, and stops it at the end of the test.
func NewReceiver(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{t: t}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// ServeHTTP implements http.Handler.
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

// Spans returns the received spans, and the raw requests.
func (r *Receiver) Spans() (spans []*tracepb.Span, raw []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.spans), slices.Clone(r.raw)
}

// Observer returns an Observer with metrics, and traces that are exported to the Receiver. All spans have arrived when
// its Shutdown returns.
func (r *Receiver) Observer() *telemetry.Observer {
	r.t.Helper()
	exporter, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(r.URL+"/v1/traces"))
	if err != nil {
		r.t.Fatal(err)
	}
	o, err := telemetry.New(context.Background(), telemetry.Options{
		Metrics: true, Exporter: exporter, Service: "test", Version: "test", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return o
}

// Observed sets the Observer of the service.
func Observed(o *telemetry.Observer) Option { return func(c *Config) { c.Observer = o } }
