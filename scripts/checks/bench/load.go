package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

// connections is the number of concurrent requests.
const connections = 32

// warmUp is the time before each measurement.
const warmUp = 100 * time.Millisecond

// responseTimeout is the longest time for a response.
const responseTimeout = 60 * time.Second

// figures are the measurements of a server in one round, or the medians of several rounds.
type figures struct {
	PerSecond float64       `json:"perSecond"`
	P50       time.Duration `json:"p50"`
	P99       time.Duration `json:"p99"`
	CPU       time.Duration `json:"cpu"`              // CPU time of the server per request
	Peak      int64         `json:"peak"`             // largest resident memory of the server, in bytes
	Failed    int           `json:"failed"`           // number of responses with an unexpected status
	Spread    float64       `json:"spread"`           // of PerSecond: (largest - smallest) / 2 / median
	Absent    bool          `json:"absent,omitempty"` // the server has no such requests
}

// medians returns the medians of several rounds, the largest peak, all failures, and the spread of the rates.
func medians(rounds []figures) (m figures) {
	m.PerSecond = median(rounds, func(f figures) float64 { return f.PerSecond })
	m.P50 = median(rounds, func(f figures) time.Duration { return f.P50 })
	m.P99 = median(rounds, func(f figures) time.Duration { return f.P99 })
	m.CPU = median(rounds, func(f figures) time.Duration { return f.CPU })
	slowest, fastest := m.PerSecond, m.PerSecond
	for _, f := range rounds {
		m.Peak = max(m.Peak, f.Peak)
		m.Failed += f.Failed
		m.Absent = f.Absent
		slowest, fastest = min(slowest, f.PerSecond), max(fastest, f.PerSecond)
	}
	if m.PerSecond > 0 {
		m.Spread = (fastest - slowest) / 2 / m.PerSecond
	}
	return m
}

func median[T cmp.Ordered](rounds []figures, value func(figures) T) T {
	values := make([]T, len(rounds))
	for i, f := range rounds {
		values[i] = value(f)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// load repeats the requests on all connections and measures them. With a pid of 0, memory and CPU time are unknown.
func load(ctx context.Context, addr string, pid int, requests [][]byte, status int, seconds time.Duration) (f figures, err error) {
	workers := make([]*worker, connections)
	first := rand.IntN(len(requests)) // so that a round does not repeat the first requests of the previous round
	from := time.Now().Add(warmUp)
	until := from.Add(seconds)
	for i := range workers {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return f, err
		}
		defer conn.Close()
		if err := conn.SetDeadline(until.Add(responseTimeout)); err != nil {
			return f, err
		}
		workers[i] = &worker{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), next: first + i*len(requests)/connections}
	}
	done := make(chan error, len(workers))
	for _, w := range workers {
		go func() { done <- w.run(requests, status, from, until) }()
	}
	select {
	case <-time.After(time.Until(from)):
	case <-ctx.Done():
		return f, ctx.Err()
	}
	resetPeak(pid)
	used := cpuTime(pid)
	for range workers {
		err = errors.Join(err, <-done)
	}
	took := time.Since(from)
	used = cpuTime(pid) - used
	if err != nil {
		return f, err
	}

	var times []time.Duration
	for _, w := range workers {
		times = append(times, w.times...)
		f.Failed += w.failed
	}
	slices.Sort(times)
	f.PerSecond = float64(len(times)) / took.Seconds()
	f.P50, f.P99 = times[len(times)/2], times[len(times)*99/100]
	f.CPU = used / time.Duration(len(times))
	f.Peak = peakMemory(pid)
	return f, ctx.Err()
}

// worker is the client of one connection. It writes prepared requests and reads the responses with fasthttp, which uses little
// CPU time, because client and server share the CPU.
type worker struct {
	conn     net.Conn
	in       *bufio.Reader
	next     int // index of the next request
	response fasthttp.Response
	times    []time.Duration
	failed   int
}

// run sends requests until the time until. It counts the requests sent after the time from: at least one.
func (w *worker) run(requests [][]byte, status int, from, until time.Time) error {
	for begun := time.Now(); begun.Before(until) || len(w.times) == 0; {
		if _, err := w.conn.Write(requests[w.next%len(requests)]); err != nil {
			return err
		}
		w.next++
		if err := w.response.Read(w.in); err != nil {
			return err
		}
		now := time.Now()
		if !begun.Before(from) {
			w.times = append(w.times, now.Sub(begun))
			if w.response.StatusCode() != status {
				w.failed++
			}
		}
		begun = now
	}
	return nil
}

// request returns the bytes of a request. A body is JSON.
func request(method, path, authorization, body string) []byte {
	return requestWith(method, path, authorization, "application/json", body)
}

// requestWith returns the bytes of a request. If body is not "", its media type is mediaType.
func requestWith(method, path, authorization, mediaType, body string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, path)
	if authorization != "" {
		fmt.Fprintf(&b, "Authorization: %s\r\n", authorization)
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\nContent-Length: %d\r\n", mediaType, len(body))
	}
	b.WriteString("\r\n" + body)
	return []byte(b.String())
}

// send sends one request and returns the response. A status of 400 or more is an error, returned with the response.
func send(addr string, raw []byte) (*http.Response, []byte, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(responseTimeout)); err != nil {
		return nil, nil, err
	}
	if _, err := conn.Write(raw); err != nil {
		return nil, nil, err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		line, _, _ := bytes.Cut(raw, []byte("\r\n"))
		err = fmt.Errorf("%s: %s: %s", line, response.Status, body)
	}
	return response, body, err
}
