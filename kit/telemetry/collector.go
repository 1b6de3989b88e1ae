package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// collector is an OpenTelemetry collector that receives OTLP over HTTP in protobuf. It implements otlptrace.Client, as otlptracehttp does,
// which imports gRPC: 94 packages that the service does not use otherwise.
type collector struct {
	url    string
	header http.Header
	gzip   bool
	client *http.Client
	redact *strings.Replacer // of the values of headers, which are often keys
}

const (
	protobuf = "application/x-protobuf"
	// The pauses between attempts, ±50 %; those of OpenTelemetry.
	firstPause           = 5 * time.Second
	maxPause             = 30 * time.Second
	maxCollectorResponse = 64 << 10 // bytes that are read
	maxCollectorMessage  = 200      // bytes of a response in an error
)

// newCollector returns the collector that the settings configure, by default the one on this machine.
func newCollector(s Settings) (*collector, error) {
	target, err := url.Parse(cmp.Or(s.TracesEndpoint, s.Endpoint, "http://localhost:4318"))
	if err != nil {
		return nil, errors.New("the endpoint is not a URL") // without its value, which can be secret
	}
	if s.TracesEndpoint == "" {
		target = target.JoinPath("v1/traces")
	}
	c := &collector{url: target.String(), header: http.Header{}, gzip: cmp.Or(s.TracesCompression, s.Compression) == "gzip"}
	c.header.Set("User-Agent", "OTel OTLP Exporter Go/"+otlptrace.Version())
	var hidden []string
	validPairs(cmp.Or(s.TracesHeaders, s.Headers), func(name, value string) bool {
		c.header.Set(name, value)
		if value != "" {
			hidden = append(hidden, value, "(header)")
		}
		return true
	})
	c.redact = strings.NewReplacer(hidden...)
	c.header.Set("Content-Type", protobuf)
	if c.gzip {
		c.header.Set("Content-Encoding", "gzip")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if transport.TLSClientConfig, err = s.tls(); err != nil {
		return nil, err
	}
	c.client = &http.Client{
		Transport: transport, Timeout: time.Duration(cmp.Or(s.TracesTimeout, s.Timeout)) * time.Millisecond,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the headers must not be sent to another host
	}
	return c, nil
}

// tls returns the certificates of the settings, which Check has read before.
func (s Settings) tls() (*tls.Config, error) {
	config := &tls.Config{}
	if file := cmp.Or(s.TracesCertificate, s.Certificate); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(pem)
	}
	if certificate, key := s.clientCertificate(); certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// Start implements otlptrace.Client.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client. No export is in progress, unless the process ends.
func (c *collector) Stop(context.Context) error { return nil }

// UploadTraces implements otlptrace.Client. It tries again until ctx ends, if the collector is overloaded or does not respond in time.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// It has the encoding of ExportTraceServiceRequest, whose package imports gRPC.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	if c.gzip {
		var compressed bytes.Buffer
		w := gzip.NewWriter(&compressed)
		_, _ = w.Write(body) // a Buffer returns no error
		_ = w.Close()
		body = compressed.Bytes()
	}
	for pause := firstPause; ; pause = min(pause*3/2, maxPause) {
		again, after, err := c.send(ctx, body)
		if !again {
			return err
		}
		select {
		case <-time.After(max(after, pause/2+rand.N(pause))):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// send makes one attempt. It reports whether to try again, and the least time before, from Retry-After.
func (c *collector) send(ctx context.Context, body []byte) (again bool, after time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, 0, err
	}
	request.Header = c.header.Clone()
	response, err := c.client.Do(request)
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Temporary() && ctx.Err() == nil, 0, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxCollectorResponse))
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, retryAfter(response.Header.Get("Retry-After")), c.rejection(response, text)
	}
	switch response.StatusCode / 100 {
	case 2:
	case 3:
		return false, 0, fmt.Errorf("%s: the collector redirects; set its final address as the endpoint", response.Status)
	default:
		return false, 0, c.rejection(response, text)
	}
	if n := rejectedSpans(text); n > 0 && response.Header.Get("Content-Type") == protobuf {
		return false, 0, fmt.Errorf("the collector rejected %d spans", n)
	}
	return false, 0, err
}

// rejection returns an error with the status and the message of a response.
func (c *collector) rejection(response *http.Response, text []byte) error {
	message := c.redact.Replace(string(bytes.TrimSpace(text)))
	if len(message) > maxCollectorMessage {
		message = strings.ToValidUTF8(message[:maxCollectorMessage], "") + "…"
	}
	return fmt.Errorf("%s: %s", response.Status, message)
}

// rejectedSpans returns the number of rejected spans in an ExportTraceServiceResponse: field 1 of field 1.
func rejectedSpans(response []byte) (n uint64) {
	number, kind, read := protowire.ConsumeTag(response)
	if read < 0 || number != 1 || kind != protowire.BytesType {
		return 0
	}
	partial, read := protowire.ConsumeBytes(response[read:])
	if read < 0 {
		return 0
	}
	number, kind, read = protowire.ConsumeTag(partial)
	if read < 0 || number != 1 || kind != protowire.VarintType {
		return 0
	}
	n, _ = protowire.ConsumeVarint(partial[read:])
	return n
}

// retryAfter returns the time in a Retry-After header, or 0 if it has none.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	date, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return time.Until(date)
}
