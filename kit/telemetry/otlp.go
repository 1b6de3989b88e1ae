package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// otlp sends traces by OTLP/HTTP in protobuf. It is ours because the exporter of OpenTelemetry for the same
// (otlptracehttp) links gRPC, for the type of one message: 2 MB of each image, and three modules more in every project.
// On the wire, TracesData is that message.
type otlp struct {
	endpoint string
	headers  map[string]string
	compress bool
	http     *http.Client
	backoff  time.Duration // before the second try

	closing chan struct{} // closed: no waiting any more
	once    sync.Once
	ctx     context.Context // ends with Stop, and what is under way with it
	cancel  context.CancelFunc
}

// The patience of a client with a receiver that is down or busy. All tries at one batch end with
// OTEL_BSP_EXPORT_TIMEOUT, each try with OTEL_EXPORTER_OTLP_TIMEOUT.
const (
	firstBackoff = time.Second
	maxBackoff   = 30 * time.Second
	maxReply     = 64 << 10 // bytes that are read of an answer, so that the connection can be used again
)

func newOTLP(c Settings) (*otlp, error) {
	given, err := headers(cmp.Or(c.TracesHeaders, c.Headers))
	if err != nil {
		return nil, fmt.Errorf("telemetry: headers: %w", err)
	}
	client, err := c.httpClient()
	if err != nil {
		return nil, fmt.Errorf("telemetry: certificate: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &otlp{
		endpoint: c.endpoint(), headers: given, compress: cmp.Or(c.TracesCompression, c.Compression) == "gzip",
		http: client, backoff: firstBackoff, closing: make(chan struct{}), ctx: ctx, cancel: cancel,
	}, nil
}

// Start implements otlptrace.Client. There is nothing to connect to before there is something to send.
func (*otlp) Start(context.Context) error { return nil }

// hurry ends all waiting: from now on each batch has one try.
func (o *otlp) hurry() { o.once.Do(func() { close(o.closing) }) }

// Stop implements otlptrace.Client. What is under way is cut off.
func (o *otlp) Stop(context.Context) error {
	o.cancel()
	o.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It tries again as the OTLP specification says, section "OTLP/HTTP
// Response", for as long as ctx lasts.
func (o *otlp) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(o.ctx, cancel)()
	body, err := o.encode(spans)
	if err != nil {
		return err
	}
	for backoff := o.backoff; ; backoff = min(2*backoff, maxBackoff) {
		wait, err := o.post(ctx, body)
		if err == nil || wait < 0 {
			return err
		}
		if wait == 0 {
			wait = backoff/2 + rand.N(backoff/2+1)
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
			return err
		}
		select {
		case <-time.After(wait):
		case <-o.closing:
			return err
		case <-ctx.Done():
			return err
		}
	}
}

func (o *otlp) encode(spans []*tracepb.ResourceSpans) ([]byte, error) {
	raw, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil || !o.compress {
		return raw, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(raw)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

// never is the wait after which a batch is not tried again.
const never = -1

// post tries once. After an error it says how long to wait before the next try: 0 leaves that to the caller.
func (o *otlp) post(ctx context.Context, body []byte) (wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, o.endpoint, bytes.NewReader(body))
	if err != nil {
		return never, bare(err)
	}
	for name, value := range o.headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	if o.compress {
		request.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := o.http.Do(request)
	if err != nil {
		return 0, bare(err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxReply)) // what it says is not needed
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		wait = retryAfter(answer.Header.Get("Retry-After"))
	default:
		wait = never
	}
	if answer.StatusCode/100 == 2 {
		return 0, nil
	}
	return wait, fmt.Errorf("the receiver answered %d", answer.StatusCode)
}

// bare leaves out of an error the address, in which a key may stand.
func bare(err error) error {
	var withAddress *url.Error
	if errors.As(err, &withAddress) {
		return withAddress.Err
	}
	return err
}

// retryAfter reads the header of the name: seconds, or a moment (RFC 9110 section 10.2.3). 0: it says nothing.
func retryAfter(text string) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 3600)) * time.Second // longer than any batch lives
	}
	if moment, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(moment))
	}
	return 0
}
