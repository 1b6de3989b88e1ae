package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// Phases of an attack.
const (
	calm      = 5 * time.Second
	attacking = 15 * time.Second
	sampling  = 100 * time.Millisecond
)

// attack describes clients that try to prevent a service from serving others. probe is a request of another client.
type attack struct {
	name    string
	seeded  bool // the service has the database with many articles
	setUp   func(*service) error
	clients int
	request func(s *service, client int) []byte
	stalls  bool // the clients send a request and do not read the response
	probe   func(*service) []byte
}

var attacks = []attack{
	{"64 searches for ten common words", true, nil, 64,
		func(*service, int) []byte { // ten beginnings of words that most articles have
			return request("GET", "/articles?limit=1&q=b+d+f+g+h+k+l+m+n+p", "", "")
		}, false,
		func(s *service) []byte { return request("GET", "/articles/"+s.data.Records[0].ID, "", "") }},
	{"200 clients that do not read a page of 40 MB", false, largeArticles, 200,
		func(*service, int) []byte { return request("GET", "/articles?limit=100", "", "") }, true,
		func(*service) []byte { return request("GET", "/articles?limit=10&fields=title", "", "") }},
	{"300 bodies of 1 MiB without the last byte", false, nil, 300,
		func(*service, int) []byte {
			body := request("POST", "/articles", "", `{"title":"`+strings.Repeat("x", 1<<20-12)+`"}`)
			return body[:len(body)-1]
		}, true,
		func(*service) []byte { return request("GET", "/articles?limit=1", "", "") }},
	{"10 connections of a user who repeats a batch that fails", false, nil, 10,
		func(s *service, _ int) []byte {
			return request("POST", "/batch", "Bearer "+s.tokens[1], failingBatch)
		}, false,
		func(s *service) []byte {
			return request("PATCH", "/users/me", "Bearer "+s.tokens[0], fmt.Sprintf(`{"name":"N%d"}`, time.Now().UnixNano()))
		}},
	{"6 users who create articles of 100,000 Han characters", false, nil, 24,
		func(s *service, client int) []byte {
			return request("POST", "/articles", "Bearer "+s.tokens[1+client%6], `{"title":"T","content":"`+han(100_000)+`"}`)
		}, false,
		func(s *service) []byte {
			return request("PATCH", "/users/me", "Bearer "+s.tokens[0], fmt.Sprintf(`{"name":"N%d"}`, time.Now().UnixNano()))
		}},
}

// failingBatch creates 99 articles, and fails at the last operation.
var failingBatch = `{"operations":[` + strings.Repeat(`{"method":"POST","path":"/articles","body":{"title":"T","content":"one two three four five"}},`, 99) +
	`{"method":"DELETE","path":"/articles/000000000000000000000000"}]}`

func han(n int) string {
	var text strings.Builder
	for range n {
		text.WriteRune(rune(0x4e00 + rand.IntN(20_000)))
	}
	return text.String()
}

// largeArticles creates 100 articles of 400 kB.
func largeArticles(s *service) error {
	content := strings.Repeat("𠀀", 100_000)
	for range 100 {
		if err := s.call("POST", "/articles", "Bearer "+s.tokens[0], `{"title":"T","content":"`+content+`"}`, &struct{}{}); err != nil {
			return err
		}
	}
	return nil
}

// moment is one measurement during an attack.
type moment struct {
	at, took, ready time.Duration // time since the start; duration of the probe; duration of /readyz
	memory          int64
	failed          bool // the probe had a status of 400 or more, or no response
}

// measureAttacks measures every attack on the built service and on the binary of --before, if given. It prints a table and draws
// a chart.
func measureAttacks(ctx context.Context, o options, work string, stdout, stderr io.Writer) error {
	fmt.Fprintln(stdout, "| attack | version | memory before, at most MiB | other client before, meanwhile: p99 ms | failed | /readyz at most ms |\n| :-- | :-- | --: | --: | --: | --: |")
	var charts []attackChart
	for n, a := range attacks {
		if !o.rows.MatchString(a.name) {
			continue
		}
		chart := attackChart{name: a.name}
		for _, version := range []struct{ name, binary string }{{"before", o.before}, {"after", o.binary}} {
			if version.binary == "" {
				continue
			}
			moments, err := a.measure(ctx, o, version.binary, filepath.Join(work, fmt.Sprintf("attack-%d-%s.db", n, version.name)), stderr)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", a.name, version.name, err)
			}
			fmt.Fprintf(stdout, "| %s | %s | %s |\n", a.name, version.name, summary(moments))
			chart.add(version.name, moments)
		}
		charts = append(charts, chart)
	}
	if o.chart == "" {
		return nil
	}
	return drawAttacks(charts, o.chart)
}

// measure starts a service, attacks it and samples it before, during and after the attack.
func (a attack) measure(ctx context.Context, o options, binary, database string, stderr io.Writer) ([]moment, error) {
	n := minArticles
	if a.seeded {
		n = o.articles[0]
	}
	set, err := seed(ctx, o, n, false, stderr)
	if err != nil {
		return nil, err
	}
	if err := copyFile(database, set.file); err != nil {
		return nil, err
	}
	s, err := startService(ctx, binary, database, "GOMEMLIMIT=100MiB")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	s.data = set
	if err := s.signIn(); err != nil {
		return nil, err
	}
	if a.setUp != nil {
		if err := a.setUp(s); err != nil {
			return nil, err
		}
	}
	var clients sync.WaitGroup
	defer clients.Wait()
	attackCtx, stop := context.WithTimeout(ctx, calm+attacking)
	defer stop()
	for n := range a.clients {
		clients.Go(func() { a.run(attackCtx, s, n) })
	}
	return a.sample(ctx, s)
}

// run waits until the attack begins, and then runs a client on one connection after the other, until ctx ends.
func (a attack) run(ctx context.Context, s *service, client int) {
	time.Sleep(calm)
	for ctx.Err() == nil {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			time.Sleep(sampling)
			continue
		}
		closed := context.AfterFunc(ctx, func() { _ = conn.Close() })
		_ = a.send(conn, a.request(s, client)) // the service may close the connection
		closed()
		_ = conn.Close()
	}
}

// send sends a request and reads the response, again and again, until the connection or a request fails. If a.stalls is true, it
// sends the request once and waits.
func (a attack) send(conn net.Conn, raw []byte) error {
	in := bufio.NewReaderSize(conn, 64<<10)
	var response fasthttp.Response
	for response.StatusCode() < http.StatusInternalServerError {
		if _, err := conn.Write(raw); err != nil {
			return err
		}
		if a.stalls {
			time.Sleep(calm)
			return nil
		}
		if err := response.Read(in); err != nil {
			return err
		}
	}
	return nil
}

func (a attack) sample(ctx context.Context, s *service) (moments []moment, err error) {
	begun := time.Now()
	for time.Since(begun) < 2*calm+attacking {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		m := moment{at: time.Since(begun)}
		var failed, notReady error
		m.took, failed = timed(s.addr, a.probe(s))
		m.ready, notReady = timed(s.addr, request("GET", "/readyz", "", ""))
		m.failed = errors.Join(failed, notReady) != nil
		m.memory = s.Memory()
		moments = append(moments, m)
		time.Sleep(max(0, sampling-m.took-m.ready))
	}
	return moments, nil
}

func timed(addr string, raw []byte) (time.Duration, error) {
	begun := time.Now()
	_, _, err := send(addr, raw)
	return time.Since(begun), err
}

// summary returns the cells of the table: the values before the attack, and the maximum or the 99th percentile during the attack.
func summary(moments []moment) string {
	var before, during []time.Duration
	var calmMemory, peak int64
	var ready time.Duration
	failed := 0
	for _, m := range moments {
		switch {
		case m.at < calm:
			before = append(before, m.took)
			calmMemory = max(calmMemory, m.memory)
		case m.at < calm+attacking:
			during = append(during, m.took)
			peak, ready = max(peak, m.memory), max(ready, m.ready)
			if m.failed {
				failed++
			}
		}
	}
	return fmt.Sprintf("%s, %s | %s, %s | %d of %d | %s", mebibytes(calmMemory), mebibytes(peak), milliseconds(p99(before)), milliseconds(p99(during)),
		failed, len(during), milliseconds(ready))
}

func p99(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)*99/100]
}
