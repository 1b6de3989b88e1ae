package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// connections is how many requests are under way at any moment.
const connections = 32

// warmUp comes before the time that is measured.
const warmUp = 300 * time.Millisecond

// patience is how long an answer may take.
const patience = 60 * time.Second

// figures are what one load of one server gave.
type figures struct {
	PerSecond float64       `json:"perSecond"`
	P50       time.Duration `json:"p50"`
	P99       time.Duration `json:"p99"`
	CPU       time.Duration `json:"cpu"`       // of the server, for a request
	ClientCPU time.Duration `json:"clientCPU"` // of this process, for a request
	Memory    int64         `json:"memory"`    // resident after the load, in bytes
	Peak      int64         `json:"peak"`      // resident at most during the load
	Failed    int           `json:"failed"`    // answers with another status than the wanted one
}

// load sends the requests, over and over, on all connections, and measures for a while. A pid of 0 is one whose memory
// and CPU cannot be read.
func load(
	ctx context.Context, addr string, pid int, requests [][]byte, status int, seconds time.Duration,
) (f figures, err error) {
	workers := make([]*worker, connections)
	from := time.Now().Add(warmUp)
	until := from.Add(seconds)
	for i := range workers {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return f, err
		}
		defer conn.Close()
		if err := conn.SetDeadline(until.Add(patience)); err != nil {
			return f, err
		}
		workers[i] = &worker{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), next: i * len(requests) / connections}
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
	server, client := cpuTime(pid), ownCPU()
	for range workers {
		err = errors.Join(err, <-done)
	}
	took := time.Since(from)
	server, client = cpuTime(pid)-server, ownCPU()-client
	if err != nil {
		return f, err
	}

	var times []time.Duration
	for _, w := range workers {
		times = append(times, w.times...)
		f.Failed += w.failed
	}
	slices.Sort(times)
	n := time.Duration(len(times))
	f.PerSecond = float64(n) / took.Seconds()
	f.P50, f.P99 = times[len(times)/2], times[len(times)*99/100]
	f.CPU, f.ClientCPU = server/n, client/n
	f.Memory, f.Peak = memory(pid)
	return f, ctx.Err()
}

// worker is a client of one connection. It writes requests that were made before, and reads of an answer just what it
// must: on a machine of two cores, what the client takes the server lacks.
type worker struct {
	conn   net.Conn
	in     *bufio.Reader
	next   int // of the requests
	times  []time.Duration
	failed int
}

func (w *worker) run(requests [][]byte, status int, from, until time.Time) error {
	for begun := time.Now(); begun.Before(until) || len(w.times) == 0; { // a slow one is waited for
		if _, err := w.conn.Write(requests[w.next%len(requests)]); err != nil {
			return err
		}
		w.next++
		got, err := skipAnswer(w.in)
		if err != nil {
			return err
		}
		now := time.Now()
		if !begun.Before(from) {
			w.times = append(w.times, now.Sub(begun))
			if got != status {
				w.failed++
			}
		}
		begun = now
	}
	return nil
}

// skipAnswer reads an HTTP/1.1 answer and keeps only its status.
func skipAnswer(in *bufio.Reader) (status int, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < len("HTTP/1.1 200") {
		return 0, fmt.Errorf("the answer begins with %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, err
	}
	length := 0
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return status, err
		}
		if len(line) <= len("\r\n") {
			break
		}
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return status, err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			return status, skipChunks(in)
		}
	}
	_, err = in.Discard(length)
	return status, err
}

func skipChunks(in *bufio.Reader) error {
	// Transfer-Encoding may not be the last header.
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= len("\r\n") {
			break
		}
	}
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		if _, err := in.Discard(int(size) + len("\r\n")); err != nil || size == 0 {
			return err
		}
	}
}

// request is one request as it goes over the wire.
func request(method, path, authorization, body string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, path)
	if authorization != "" {
		fmt.Fprintf(&b, "Authorization: %s\r\n", authorization)
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n" + body)
	return []byte(b.String())
}

// ask sends one request and returns the answer, which must have a status below 400.
func ask(addr string, raw []byte) (*http.Response, []byte, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
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

// ownCPU is what this process has used.
func ownCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
