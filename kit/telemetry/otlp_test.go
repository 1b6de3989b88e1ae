package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver takes traces as a collector does. Its answers are those of the list, then 200.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	answers []func(http.ResponseWriter)
	calls   int
	header  http.Header
	names   []string // of the spans in the calls that were answered 200
}

func newReceiver(t *testing.T, answers ...func(http.ResponseWriter)) *receiver {
	r := &receiver{answers: answers}
	r.Server = httptest.NewUnstartedServer(r)
	r.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(func() { r.Close() })
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body := io.Reader(q.Body)
	if q.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			panic(err)
		}
		body = z
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		panic(err)
	}
	var data tracepb.TracesData
	if err := proto.Unmarshal(raw, &data); err != nil {
		panic(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	r.header = q.Header
	if len(r.answers) > 0 {
		answer := r.answers[0]
		r.answers = r.answers[1:]
		answer(w)
		return
	}
	for _, resource := range data.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				r.names = append(r.names, span.Name)
			}
		}
	}
}

// state is what the receiver has seen.
func (r *receiver) state() (calls int, names []string, header http.Header) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls, r.names, r.header
}

func status(code int, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

// cut closes the connection without an answer.
func cut(http.ResponseWriter) { panic(http.ErrAbortHandler) }

func newClient(t *testing.T, c Settings) *otlp {
	t.Helper()
	client, err := newOTLP(c)
	if err != nil {
		t.Fatal(err)
	}
	client.backoff = time.Millisecond
	t.Cleanup(func() { _ = client.Stop(context.Background()) })
	return client
}

func batch(name string) []*tracepb.ResourceSpans {
	return []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{Name: name}}}}}}
}

// TestUpload holds the client to the OTLP specification: which answers are final, and which are tried again.
func TestUpload(t *testing.T) {
	t.Parallel()
	past := time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)
	for name, test := range map[string]struct {
		answers []func(http.ResponseWriter)
		calls   int
		err     string // "" is none
	}{
		"taken":              {nil, 1, ""},
		"busy":               {[]func(http.ResponseWriter){status(429), status(502), status(503), status(504)}, 5, ""},
		"busy, with a time":  {[]func(http.ResponseWriter){status(503, "Retry-After", past)}, 2, ""},
		"cut off":            {[]func(http.ResponseWriter){cut}, 2, ""},
		"refused":            {[]func(http.ResponseWriter){status(400)}, 1, "400"},
		"failed":             {[]func(http.ResponseWriter){status(500)}, 1, "500"},
		"elsewhere":          {[]func(http.ResponseWriter){status(307, "Location", "/other")}, 1, "307"},
		"busy for too long":  {[]func(http.ResponseWriter){status(503, "Retry-After", "3000")}, 1, "503"},
		"busy, then refused": {[]func(http.ResponseWriter){status(503), status(401)}, 2, "401"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, test.answers...)
			r.Start()
			c := good()
			c.Endpoint, c.Headers, c.Compression = r.URL, "api-key=a%2Cb", "gzip"
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := newClient(t, c).UploadTraces(ctx, batch("x"))
			calls, names, header := r.state()
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) || calls != test.calls {
				t.Errorf("%d calls, %v; want %d, %q", calls, err, test.calls, test.err)
			}
			if got := fmt.Sprint(names); err == nil && got != "[x]" || err != nil && got != "[]" {
				t.Errorf("spans %s", got)
			}
			if header.Get("Api-Key") != "a,b" || header.Get("Content-Type") != "application/x-protobuf" || header.Get("Content-Encoding") != "gzip" {
				t.Errorf("header %v", header)
			}
		})
	}
}

// TestUploadWaits holds the wait to Retry-After, and its end to that of the service.
func TestUploadWaits(t *testing.T) {
	t.Parallel()
	again := make(chan struct{})
	busy := status(503, "Retry-After", "600")
	r := newReceiver(t, status(503, "Retry-After", "1"), func(w http.ResponseWriter) { close(again); busy(w) }, busy)
	r.Start()
	c := good()
	c.Endpoint = r.URL
	client := newClient(t, c)
	begun := time.Now()
	done := make(chan error, 1)
	go func() { done <- client.UploadTraces(t.Context(), batch("x")) }()
	<-again
	if took := time.Since(begun); took < time.Second {
		t.Errorf("it came again after %v", took)
	}
	client.hurry()
	if err := <-done; err == nil {
		t.Error("it was taken")
	}
	if err := client.UploadTraces(t.Context(), batch("y")); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("after the last wait: %v", err)
	}
	if err := client.UploadTraces(t.Context(), batch("z")); err != nil {
		t.Errorf("with one try left, and a receiver that is well: %v", err)
	}
	_ = client.Stop(t.Context())
	if err := client.UploadTraces(t.Context(), batch("late")); err == nil {
		t.Error("it sends after its end")
	}
}

// TestCertificate trusts the receiver by the file that the setting names, and not without.
func TestCertificate(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	r.StartTLS()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	c := good()
	c.Endpoint = r.URL
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := newClient(t, c).UploadTraces(ctx, batch("x")); err == nil || strings.Contains(err.Error(), r.URL) {
		t.Errorf("without the file: %v", err)
	}
	c.Certificate = file
	if err := newClient(t, c).UploadTraces(t.Context(), batch("x")); err != nil {
		t.Error(err)
	}
}

// TestReceiverDown makes far more spans than the queue holds while the receiver hangs: nobody waits for it, what does not
// fit is dropped, and the end comes in time and cuts off what is under way.
func TestReceiverDown(t *testing.T) {
	t.Parallel()
	reached, gone := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // so that the server sees the client go
		close(reached)
		<-r.Context().Done()
		close(gone)
	}))
	t.Cleanup(server.Close)
	c := good()
	c.Endpoint, c.QueueSize, c.BatchSize, c.BatchDelay = server.URL, 64, 16, 1
	o, err := New(Options{Traces: c, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	const spans = 50_000
	begun := time.Now()
	for n := range spans {
		_, span := o.traces.Start(t.Context(), "span")
		span.End()
		if n == 0 {
			<-reached
		}
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("%d spans took %v: somebody waited", spans, took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begun = time.Now()
	if err := o.Shutdown(ctx); err == nil {
		t.Error("it does not tell that spans are lost")
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("the end took %v", took)
	}
	<-gone
}

// TestReporter says when spans begin to be lost and when that is over, once each.
func TestReporter(t *testing.T) {
	t.Parallel()
	bad := status(500)
	r := newReceiver(t, bad, bad, bad)
	r.Start()
	var log bytes.Buffer
	c := good()
	c.Endpoint = r.URL + "/hunter2"
	o, err := New(Options{Traces: c, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		_, span := o.traces.Start(t.Context(), "span")
		span.End()
		if err := o.traces.provider.ForceFlush(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := o.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	text := log.String()
	if strings.Count(text, "\n") != 2 || !strings.Contains(text, "traces are lost") || !strings.Contains(text, "lostSpans=3") || strings.Contains(text, "hunter2") {
		t.Errorf("the log:\n%s", text)
	}
}
