package s3

import (
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// headerSum is the header of a file's SHA-256 in hexadecimal.
const headerSum = "X-Amz-Meta-Sha256"

// emptySum is the SHA-256 of no bytes.
const emptySum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// request is a request that can be repeated.
type request struct {
	method  string
	key     string // "": the bucket
	query   map[string]string
	header  map[string]string
	from    *os.File // the body; nil: none
	size    int64
	payload string // SHA-256 of the body
}

const (
	attempts      = 3
	maxRetryAfter = 5 * time.Second
)

// send sends a request, again if the server is overloaded or the connection fails. The caller must close the body of the response.
// If the server rejects the request, send returns an *Error.
func (s *Store) send(ctx context.Context, r request) (*http.Response, error) {
	backoff := s.backoff
	for attempt := 1; ; attempt++ {
		response, err := s.sendOnce(ctx, r)
		if err == nil {
			return response, nil
		}
		pause := backoff/2 + rand.N(backoff)
		if rejected := (*Error)(nil); errors.As(err, &rejected) {
			pause = max(pause, rejected.retryAfter)
		}
		if attempt == attempts || ctx.Err() != nil || !isTemporary(err) || pause > maxRetryAfter {
			return nil, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		backoff *= 4
	}
}

// errIdle is the error of a body without progress.
var errIdle = errors.New("no bytes were transferred for too long")

// isTemporary reports whether another attempt can succeed soon. A request that took too long is not repeated.
func isTemporary(err error) bool {
	if rejected := (*Error)(nil); errors.As(err, &rejected) {
		return slices.Contains([]int{
			http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		}, rejected.Status)
	}
	slow := (net.Error)(nil)
	return !errors.Is(err, errIdle) && !(errors.As(err, &slow) && slow.Timeout())
}

// url returns the address of a key with a query.
func (s *Store) url(key string, query map[string]string) *url.URL {
	u := *s.config.Endpoint
	path := "/" + key
	if s.config.PathStyle {
		path = strings.TrimSuffix("/"+s.config.Bucket+path, "/")
	} else {
		u.Host = s.config.Bucket + "." + u.Host
	}
	u.Path, u.RawPath = path, escapePath(path)
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(query)) {
		pairs = append(pairs, escape(name)+"="+escape(query[name]))
	}
	u.RawQuery = strings.Join(pairs, "&")
	return &u
}

// continueSize is the size from which the server can reject an upload before the bytes are sent.
const continueSize = 1 << 20

func (s *Store) sendOnce(parent context.Context, r request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(parent)
	idle := time.AfterFunc(s.idle, func() { cancel(errIdle) })
	idle.Stop()
	h := (&http.Request{Method: r.method, URL: s.url(r.key, r.query), Header: http.Header{}, ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	for name, value := range r.header {
		h.Header.Set(name, value)
	}
	payload := emptySum
	if r.from != nil {
		payload = r.payload
		h.Body, h.ContentLength = &upload{from: io.NewSectionReader(r.from, 0, r.size), idle: idle, limit: s.idle}, r.size
	}
	sign(h, s.keys, s.config.Region, payload, s.now())
	if r.size >= continueSize {
		h.Header.Set("Expect", "100-continue")
	}
	response, err := s.transport.RoundTrip(h)
	idle.Stop()
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		cancel(nil)
		return nil, err
	}
	response.Body = &download{ReadCloser: response.Body, ctx: ctx, cancel: cancel, idle: idle, limit: s.idle}
	if response.StatusCode/100 != 2 {
		defer func() { _ = response.Body.Close() }()
		return nil, s.rejected(h, response)
	}
	return response, nil
}

// upload is the body of a request, which must make progress.
type upload struct {
	from  io.Reader
	idle  *time.Timer
	limit time.Duration
}

func (u *upload) Read(p []byte) (n int, err error) {
	n, err = u.from.Read(p)
	if err == nil {
		u.idle.Reset(u.limit) // until the bytes are sent
	} else {
		u.idle.Stop()
	}
	return n, err
}

// Close ends the time limit.
func (u *upload) Close() error {
	u.idle.Stop()
	return nil
}

// download is the body of a response, which must make progress while it is read.
type download struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	idle   *time.Timer
	limit  time.Duration
}

func (d *download) Read(p []byte) (n int, err error) {
	d.idle.Reset(d.limit)
	n, err = d.ReadCloser.Read(p)
	d.idle.Stop()
	if err != nil && err != io.EOF && d.ctx.Err() != nil {
		err = context.Cause(d.ctx)
	}
	return n, err
}

// Close ends the request.
func (d *download) Close() error {
	defer d.cancel(nil)
	return d.ReadCloser.Close()
}
