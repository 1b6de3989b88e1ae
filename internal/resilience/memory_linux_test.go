package resilience_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/modules/policy"
	"example.com/ginseng/testkit/process"
	"example.com/ginseng/testkit/testdb"
)

// The data of TestMemory.
const (
	policies     = 20_000
	policyLabels = 20
	shelfItems   = 3
	itemBytes    = 1 << 20
)

// fill stores the data of TestMemory in a new database, and returns its address.
func fill(t *testing.T) string {
	t.Helper()
	address := "sqlite:" + filepath.Join(t.TempDir(), "test.db")
	db, err := engines.Open(t.Context(), address)
	must(t, err)
	all := store.Open[policy.Policy](db, store.Spec{Name: "policies"})
	items, shelves := store.Open[item](db, store.Spec{Name: "items"}), store.Open[shelf](db, store.Spec{Name: "shelves"})
	must(t, db.Prepare(t.Context()))
	meta := func() store.Meta { return store.NewMeta(store.NewID(), store.At(time.Now())) }
	var many []store.ID
	for range shelfItems {
		i := item{meta(), strings.Repeat("x", itemBytes)}
		must(t, items.Insert(t.Context(), i))
		many = append(many, i.ID)
	}
	must(t, shelves.Insert(t.Context(), shelf{meta(), many}))
	labels := map[string]string{}
	for i := range policyLabels {
		labels[fmt.Sprintf("example.com/a-long-name-of-a-label-%d", i)] = "a-long-value-of-a-label"
	}
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(64) // they are committed together
	for i := range policies {
		group.Go(func() error {
			return all.Insert(ctx, policy.Policy{Meta: meta(), Namespace: "n", Name: fmt.Sprint("p", i), Selector: &policy.Selector{MatchLabels: labels}})
		})
	}
	must(t, group.Wait())
	must(t, db.Close())
	return address
}

// TestMemory measures the memory that callers can make the service use, and the time of the requests of another client.
func TestMemory(t *testing.T) {
	long(t)
	testdb.SQLiteOnly(t)
	const (
		most    = 150      // MiB more than before an attack
		slowest = 1000     // ms, the median of the other client
		samples = 30       // requests of the other client before an attack, and during it
		readers = 200      // clients that do not read
		expands = 40       // anonymous callers of expand
		users   = 6        // who evaluate policies, twice each
		streams = 700      // of as many networks
		limit   = "200MiB" // as in the image
		percent = "100"    // of GOGC: a higher one measures what the collector leaves
	)
	address := fill(t)
	for _, attack := range []struct {
		name  string
		users int
		run   func(url string, tokens []string) (end func())
	}{
		{"200 clients that do not read Swagger UI", 0, func(url string, _ []string) func() {
			return stall(t, url, slices.Repeat([]string{get("/docs/swagger-ui-bundle.js")}, readers))
		}},
		{"40 anonymous callers of expand, who do not read 3 MiB", 0, func(url string, _ []string) func() {
			return stall(t, url, slices.Repeat([]string{get("/shelves?limit=1&expand=items")}, expands))
		}},
		{"6 users who evaluate 20,000 policies", users, func(url string, tokens []string) func() {
			evaluateAll(t, url, slices.Repeat(tokens, 2))
			return func() {}
		}},
		{"6 users who change an article of 400 KB, 64 times each, and do not read it", users, func(url string, tokens []string) func() {
			return stall(t, url, changes(t, url, tokens, func(path, change string) (string, string, string) { return "PATCH", path, change }))
		}},
		{"6 users who repeat a batch with 800 KB, 64 times each, and do not read the responses", users, func(url string, tokens []string) func() {
			requests := changes(t, url, tokens, func(path, change string) (string, string, string) {
				operation := `{"method":"PATCH","path":"` + path + `","body":` + change + `}`
				return "POST", "/batch", `{"operations":[` + operation + `,` + operation + `]}`
			})
			for _, request := range requests[:len(tokens)] {
				stall(t, url, []string{request})() // one after the other, so that each is stored
			}
			return stall(t, url, requests)
		}},
		{"700 streams that resume, and do not read", 1, func(url string, tokens []string) func() {
			return stall(t, url, resumptions(t, url, tokens[0], streams))
		}},
	} {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], serveShelves)
		cmd.Dir, cmd.Env = t.TempDir(), append(settings(address, "TRUSTED_PROXIES=127.0.0.0/8"), "GOMEMLIMIT="+limit, "GOGC="+percent)
		p := begin(t, cmd)
		var tokens []string
		for range attack.users {
			_, token := account(t, p.URL)
			tokens = append(tokens, token)
		}
		other := startOther(p.URL)
		other.await(samples)
		before, usual := resetPeak(t, p), other.median()
		end := attack.run(p.URL, tokens)
		other.await(samples)
		after, meanwhile := peak(t, p), other.stop()
		end()
		t.Logf("| %s | %d, %d | %.1f, %.1f | %d |", attack.name, before>>20, after>>20, usual, meanwhile, other.failed)
		if more := (after - before) >> 20; more > most {
			t.Errorf("%s: %d MiB more", attack.name, more)
		}
		if other.failed > 0 || meanwhile > slowest {
			t.Errorf("%s: %d requests of another client failed, median %.1f ms", attack.name, other.failed, meanwhile)
		}
		stop(t, p)
	}
}

// evaluateAll evaluates policies with each of the tokens at the same time.
func evaluateAll(t *testing.T, url string, tokens []string) {
	t.Helper()
	var running sync.WaitGroup
	for _, token := range tokens {
		running.Go(func() {
			r := newRequest(t, "POST", url+"/policies/evaluate", token, strings.NewReader(`{"namespace":"n","limit":100,"explain":true}`))
			if got := send(http.DefaultClient, r); got.status != http.StatusOK && got.status != http.StatusServiceUnavailable {
				t.Errorf("evaluate: status %d: %.200s", got.status, got.body)
			}
		})
	}
	running.Wait()
}

// changes returns 64 requests of each user, in turn, which change a long article of the user. request returns the method, path
// and body of one.
func changes(t *testing.T, url string, tokens []string, request func(path, change string) (string, string, string)) []string {
	t.Helper()
	var out []string
	for _, token := range tokens {
		long := `{"title":"T","content":"` + strings.Repeat("😀", 100_000) + `"}`
		created := send(http.DefaultClient, newRequest(t, "POST", url+"/articles", token, strings.NewReader(long)))
		method, path, body := request(created.header.Get("Location"), `{"title":"New"}`)
		out = append(out, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nIdempotency-Key: k\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", method, path, token, len(body), body))
	}
	return slices.Repeat(out, 64)
}

// resumptions returns requests that resume n streams before 500 changes, each from another network.
func resumptions(t *testing.T, url, token string, n int) (out []string) {
	t.Helper()
	var page struct{ Next string }
	must(t, json.Unmarshal(do(t, newRequest(t, "GET", url+"/articles/changes", "", nil), http.StatusOK), &page))
	article := `{"title":"T","content":"` + strings.Repeat("x", 1200) + `"}`
	for range 500 {
		do(t, newRequest(t, "POST", url+"/articles", token, strings.NewReader(article)), http.StatusCreated)
	}
	for i := range n {
		out = append(out, fmt.Sprintf("GET /articles/changes?limit=100&after=%s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"+
			"X-Forwarded-For: 192.0.%d.%d\r\n\r\n", page.Next, i/250, i%250))
	}
	return out
}

func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n" }

// stall sends requests whose clients read only the first bytes of the response. It returns when each response has begun. end
// closes the connections.
func stall(t *testing.T, address string, requests []string) (end func()) {
	t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10) })
	}}
	var conns []net.Conn
	group, ctx := errgroup.WithContext(t.Context())
	for _, request := range requests {
		conn, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(address, "http://"))
		must(t, err)
		conns = append(conns, conn)
		group.Go(func() error {
			if _, err := io.WriteString(conn, request); err != nil {
				return err
			}
			status := make([]byte, len("HTTP/1.1 200"))
			if _, err := io.ReadFull(conn, status); err != nil || !slices.Contains([]string{"200", "429", "503"}, string(status[9:])) {
				return fmt.Errorf("%.20s: %q, %w", request, status, err)
			}
			return nil
		})
	}
	must(t, group.Wait())
	return func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}
}

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peak returns the largest resident memory of a process in bytes.
func peak(t *testing.T, p *process.Process) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	must(t, err)
	match := highWater.FindSubmatch(status)
	if match == nil {
		t.Skip("SKIPPED: the kernel does not report VmHWM")
	}
	n, err := strconv.ParseInt(string(match[1]), 10, 64)
	must(t, err)
	return n << 10
}

// resetPeak makes peak begin now, and returns the resident memory.
func resetPeak(t *testing.T, p *process.Process) int64 {
	t.Helper()
	must(t, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.Pid()), []byte("5"), 0o600))
	return p.Memory()
}

// other is a client that lists articles all the time.
type other struct {
	mu      sync.Mutex
	took    []float64 // ms, since the last call of percentile
	failed  int
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func startOther(url string) *other {
	o := new(other)
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	o.running.Go(func() {
		for ctx.Err() == nil {
			r, err := http.NewRequest("GET", url+"/articles?limit=1", nil)
			if err != nil {
				panic(err)
			}
			begun := time.Now()
			got := send(http.DefaultClient, r)
			o.mu.Lock()
			o.took = append(o.took, float64(time.Since(begun).Microseconds())/1000)
			if got.status != 200 {
				o.failed++
			}
			o.mu.Unlock()
			time.Sleep(retryDelay)
		}
	})
	return o
}

// await waits for n requests.
func (o *other) await(n int) {
	_ = until(context.Background(), func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return len(o.took) >= n
	})
}

// median returns the median time of the requests since the last call, in ms.
func (o *other) median() float64 { return o.percentile(50) }

// percentile is median, for a percentile.
func (o *other) percentile(n int) float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	took := slices.Sorted(slices.Values(o.took))
	o.took = nil
	return took[len(took)*n/100]
}

// stop ends the client and returns the median.
func (o *other) stop() float64 {
	o.await(1)
	o.cancel()
	o.running.Wait()
	return o.median()
}
