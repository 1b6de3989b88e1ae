package telemetry

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// span returns spans to upload.
func span() []*tracepb.ResourceSpans {
	return []*tracepb.ResourceSpans{{SchemaUrl: "x", ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{Name: "GET /x"}}}}}}
}

// export returns the name of the span in a request to a collector.
func export(t *testing.T, r *http.Request) string {
	t.Helper()
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		var err error
		if body, err = gzip.NewReader(r.Body); err != nil {
			t.Error(err)
			return ""
		}
	}
	raw, err := io.ReadAll(body)
	var data tracepb.TracesData
	if err := errors.Join(err, proto.Unmarshal(raw, &data)); err != nil || len(data.ResourceSpans) != 1 {
		t.Errorf("%v: %q", err, raw)
		return ""
	}
	return data.ResourceSpans[0].ScopeSpans[0].Spans[0].Name
}

// TestCollectorSettings uploads with various settings, in which {} is the address of the collector.
func TestCollectorSettings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		settings Settings
		path     string
		header   map[string]string
	}{
		{"endpoint", Settings{Endpoint: "{}"}, "/v1/traces", map[string]string{"Content-Type": "application/x-protobuf", "Content-Encoding": "", "Api-Key": ""}},
		{"endpoint with a path", Settings{Endpoint: "{}/a/"}, "/a/v1/traces", nil},
		{"own endpoint", Settings{Endpoint: "http://127.0.0.1:1", TracesEndpoint: "{}/b"}, "/b", nil},
		{"own endpoint without a path", Settings{TracesEndpoint: "{}"}, "/", nil},
		{"gzip", Settings{Endpoint: "{}", Compression: "gzip"}, "/v1/traces", map[string]string{"Content-Encoding": "gzip"}},
		{"own compression", Settings{Endpoint: "{}", Compression: "gzip", TracesCompression: "none"}, "/v1/traces", map[string]string{"Content-Encoding": ""}},
		{"headers", Settings{Endpoint: "{}", Headers: "api-key = a%2Cb , Content-Type=text/plain"}, "/v1/traces",
			map[string]string{"Api-Key": "a,b", "Content-Type": "application/x-protobuf"}},
		{"own headers", Settings{Endpoint: "{}", Headers: "api-key=a", TracesHeaders: "x=y"}, "/v1/traces", map[string]string{"X": "y", "Api-Key": ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path, name, header := "", "", http.Header{}
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				path, name, header = r.URL.Path, export(t, r), r.Header
			}))
			defer server.Close()
			test.settings.Endpoint = strings.Replace(test.settings.Endpoint, "{}", server.URL, 1)
			test.settings.TracesEndpoint = strings.Replace(test.settings.TracesEndpoint, "{}", server.URL, 1)
			c, err := newCollector(test.settings)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.UploadTraces(t.Context(), span()); err != nil || path != test.path || name != "GET /x" {
				t.Errorf("%v, %q at %s", err, name, path)
			}
			for name, want := range test.header {
				if got := header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
}

// TestCollectorCertificates uploads to a collector that requires the certificate of a client, which is also its own.
func TestCollectorCertificates(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	defer server.Close()
	own := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(kind string, der []byte) string {
		name := filepath.Join(dir, kind)
		if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	certificate, private := file("CERTIFICATE", own.Certificate[0]), file("PRIVATE KEY", key)
	for name, test := range map[string]struct {
		settings Settings
		fails    bool
	}{
		"all":            {Settings{Certificate: certificate, ClientCertificate: certificate, ClientKey: private}, false},
		"own":            {Settings{Certificate: private, TracesCertificate: certificate, TracesClientCertificate: certificate, TracesClientKey: private}, false},
		"no CA":          {Settings{ClientCertificate: certificate, ClientKey: private}, true},
		"no certificate": {Settings{Certificate: certificate}, true},
	} {
		test.settings.Endpoint = server.URL
		c, err := newCollector(test.settings)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.UploadTraces(t.Context(), span()); (err != nil) != test.fails {
			t.Errorf("%s: %v", name, err)
		}
		c.client.CloseIdleConnections()
	}
	if _, err := newCollector(Settings{ClientCertificate: certificate}); err == nil {
		t.Error("a certificate without a key is accepted")
	}
}

// transportFunc responds without a network.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestCollectorRetries uploads to a collector that fails. It compares the pauses between the attempts in seconds, without their random
// part, and the error after 90 s.
func TestCollectorRetries(t *testing.T) {
	t.Parallel()
	respond := func(status int, text string, header ...string) transportFunc {
		return func(*http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = w.WriteString(text)
			return w.Result(), nil
		}
	}
	ok := respond(200, "")
	hang := transportFunc(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	for name, test := range map[string]struct {
		attempts []transportFunc // the last one is repeated
		pauses   []float64       // the least
		want     string          // in the error
	}{
		"success":          {[]transportFunc{ok}, nil, ""},
		"overloaded":       {[]transportFunc{respond(503, ""), respond(429, ""), respond(502, ""), respond(504, ""), ok}, []float64{2.5, 3.75, 5.625, 8.4375}, ""},
		"seconds":          {[]transportFunc{respond(503, "", "Retry-After", "40"), ok}, []float64{40}, ""},
		"date":             {[]transportFunc{respond(503, "", "Retry-After", "Sat, 01 Jan 2000 00:00:50 GMT"), ok}, []float64{50}, ""}, // the time begins in 2000
		"timeout":          {[]transportFunc{hang, ok}, []float64{10 + 2.5}, ""},
		"always":           {[]transportFunc{respond(503, "later", "Retry-After", "60")}, []float64{60}, "context deadline exceeded: 503 Service Unavailable: later"},
		"rejected":         {[]transportFunc{respond(400, " no\n")}, nil, "400 Bad Request: no"},
		"redirect":         {[]transportFunc{respond(307, "", "Location", "http://elsewhere/v1/traces"), ok}, nil, "307 Temporary Redirect: the collector redirects"},
		"long":             {[]transportFunc{respond(400, strings.Repeat("a", 500)+"end")}, nil, "400 Bad Request: " + strings.Repeat("a", 200) + "…"},
		"echo":             {[]transportFunc{respond(400, "bad key SECRET")}, nil, "400 Bad Request: bad key (header)"},
		"unreachable":      {[]transportFunc{func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }}, nil, "refused"},
		"partial":          {[]transportFunc{respond(200, "\n\x09\x08\x03\x12\x05limit", "Content-Type", "application/x-protobuf")}, nil, "rejected 3 spans"},
		"warning":          {[]transportFunc{respond(200, "\n\x07\x12\x05limit", "Content-Type", "application/x-protobuf")}, nil, ""},
		"no partial":       {[]transportFunc{respond(200, "\n\x00", "Content-Type", "application/x-protobuf")}, nil, ""},
		"another language": {[]transportFunc{respond(200, "\nhello", "Content-Type", "text/plain")}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := newCollector(Settings{Endpoint: "http://collector", Timeout: 10000, Headers: "api-key=SECRET"})
				if err != nil {
					t.Fatal(err)
				}
				var times []time.Time
				c.client.Transport = transportFunc(func(r *http.Request) (*http.Response, error) {
					if name := export(t, r); name != "GET /x" {
						t.Errorf("attempt %d: %q", len(times), name)
					}
					times = append(times, time.Now())
					return test.attempts[min(len(times), len(test.attempts))-1](r)
				})
				ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
				defer cancel()
				err = c.UploadTraces(ctx, span())
				if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %v, want %q", err, test.want)
				}
				if len(times) != len(test.pauses)+1 {
					t.Fatalf("%d attempts, want %d", len(times), len(test.pauses)+1)
				}
				for i, least := range test.pauses {
					if got := times[i+1].Sub(times[i]).Seconds(); got < least || got > 3*least {
						t.Errorf("pause %d: %v s, want %v to %v", i, got, least, 3*least)
					}
				}
			})
		})
	}
}

// TestDefaultCollector checks the address without settings, as with OTEL_TRACES_EXPORTER=otlp.
func TestDefaultCollector(t *testing.T) {
	t.Parallel()
	if c, err := newCollector(Settings{}); err != nil || c.url != "http://localhost:4318/v1/traces" {
		t.Errorf("%v: %+v", err, c)
	}
}
