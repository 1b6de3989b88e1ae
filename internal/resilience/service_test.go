package resilience_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/mongo/mongotest"
	"example.com/ginseng/testkit/process"
	"example.com/ginseng/testkit/proxy"
)

// timeout bounds each wait of a test, also on a busy machine.
const timeout = 3 * time.Minute

// maxRecovery is the time after the end of a failure in which requests may still fail.
const maxRecovery = 5 * time.Second

var binaryFile = flag.String("binary", "", "test this built `file` of the service (default: build one)")

// binary builds the service once, unless there is a -binary.
var binary = sync.OnceValues(func() (string, error) {
	if *binaryFile != "" {
		return *binaryFile, nil
	}
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return "", err
	}
	built = dir
	return process.Build(context.Background(), dir)
})

// built is the directory of the binary.
var built string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == holdSmallDisk {
		os.Exit(runSmallDisk(os.Args[2]))
	}
	if len(os.Args) > 1 && os.Args[1] == serveShelves {
		runShelves()
	}
	code := m.Run()
	_ = os.RemoveAll(built)
	os.Exit(code)
}

// long skips a test in short mode. One test of each kind of fault is not skipped.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("keeps processes busy for seconds; make test-all runs it")
	}
	t.Parallel()
}

// database returns the address of a new database, on the server of TEST_MONGODB_URI or of the embedded engine.
func database(t *testing.T) string {
	t.Helper()
	if mongotest.Available() {
		return mongoDB(t).String()
	}
	return "sqlite:" + filepath.Join(t.TempDir(), "test.db")
}

// mongoDB returns the address of a new database with a direct connection, which a proxy can interrupt. It skips the test if
// there is no MongoDB-compatible server.
func mongoDB(t *testing.T) *url.URL {
	t.Helper()
	return mongotest.New(t, "directConnection=true")
}

func engine() string {
	if mongotest.Available() {
		return "MongoDB"
	}
	return "embedded"
}

// masterKey is new for each run.
var masterKey = strings.Repeat(store.NewID().Hex(), 2)

// settings returns the environment of a service.
func settings(database string, more ...string) []string {
	return append([]string{
		"APP_ENV=production", "HOST=127.0.0.1", "PORT=0", "LOG_LEVEL=warn", "MAIL_URL=log:",
		"MASTER_KEY=" + masterKey, "JWT_SECRET=x" + masterKey, "DATABASE_URL=" + database,
	}, more...)
}

// command returns the command of a service.
func command(t *testing.T, env []string) *exec.Cmd {
	t.Helper()
	path, err := binary()
	must(t, err)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), path)
	cmd.Dir, cmd.Env = t.TempDir(), env
	return cmd
}

// start starts the service and kills it when the test ends.
func start(t *testing.T, env []string) *process.Process {
	t.Helper()
	return begin(t, command(t, env))
}

func begin(t *testing.T, cmd *exec.Cmd) *process.Process {
	t.Helper()
	p, err := process.Start(cmd)
	must(t, err)
	t.Cleanup(func() {
		p.Stop(os.Kill) // no effect if it has ended
		if t.Failed() {
			t.Logf("the log of the service:\n%.4000s", p.Log())
		}
	})
	return p
}

// clients starts clients of a service.
func clients(t *testing.T, url string, n int) *Load {
	t.Helper()
	load, err := NewLoad(t.Context(), url, masterKey, n)
	must(t, err)
	load.Start()
	t.Cleanup(load.Stop)
	return load
}

// within fails if wait does not end before the timeout.
func within(t *testing.T, wait func(context.Context) error, what string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if err := wait(ctx); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func await(t *testing.T, load *Load, more int64) {
	t.Helper()
	within(t, func(ctx context.Context) error { return load.Await(ctx, more) }, "the clients make no progress")
}

// verify stops the clients and checks the stored records and the time of recovery.
func verify(t *testing.T, load *Load) Verdict {
	t.Helper()
	load.Stop()
	v, err := load.Check(t.Context())
	must(t, err)
	if v.Recovery > maxRecovery {
		t.Errorf("a request failed %v after the end of the fault", v.Recovery)
	}
	for _, wrong := range v.Wrong {
		t.Error(wrong)
	}
	if v.Created == 0 {
		t.Error("nothing was created: the test is void")
	}
	return v
}

// report prints a row for docs/reliability.md: go test ./internal/resilience -v | grep -o '| .* |'
func report(t *testing.T, fault string, samples []Sample, v Verdict) {
	t.Helper()
	lost := "nothing"
	if len(v.Wrong) > 0 {
		lost = "SOMETHING"
	}
	t.Logf("| %s | %s | %s | %s of %d with a 201 | %d, %d | %.1f s |",
		engine(), fault, summarize(samples), lost, v.Created, v.Unknown, v.Applied, v.Recovery.Seconds())
}

// summarize returns the number of requests by status.
func summarize(samples []Sample) string {
	counts := make(map[string]int)
	for _, s := range samples {
		name := fmt.Sprint(s.Status)
		switch {
		case s.Status == 0:
			name = "cut off"
		case s.Status < 300:
			name = "2xx"
		}
		counts[name]++
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s ×%d", name, counts[name]))
	}
	return fmt.Sprintf("%s; slowest %.1f s", strings.Join(parts, ", "), slowest(samples).Seconds())
}

func slowest(samples []Sample) (took time.Duration) {
	for _, s := range samples {
		took = max(took, s.Took)
	}
	return took
}

// failures returns the number of failed requests.
func failures(samples []Sample) (n int) {
	for _, s := range samples {
		if s.Failed() {
			n++
		}
	}
	return n
}

// through returns a proxy for a server.
func through(t *testing.T, address string) *proxy.Proxy {
	t.Helper()
	p, err := proxy.New(address, nil)
	must(t, err)
	t.Cleanup(p.Close)
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// stop stops a service and checks its exit code.
func stop(t *testing.T, p *process.Process) {
	t.Helper()
	if code := p.Stop(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// idle is the memory and the number of open files of a service without requests.
type idle struct {
	memory int64
	files  int
}

// measureIdle stops the clients and measures the service.
func measureIdle(load *Load, p *process.Process) idle {
	load.Stop()
	return idle{p.Memory(), p.Files()}
}

// checkIdle checks that an idle service uses no more memory and files after faults than before, and few goroutines. It
// stops the service.
func checkIdle(t *testing.T, load *Load, p *process.Process, before idle) {
	t.Helper()
	const (
		moreFiles  = 4  // connections to the database
		moreMemory = 48 // MiB: two password hashes since the last garbage collection
	)
	within(t, func(ctx context.Context) error {
		return until(ctx, func() bool { return p.Files() <= before.files+moreFiles })
	}, "files stay open")
	after := measureIdle(load, p)
	if after.memory > before.memory+moreMemory<<20 {
		t.Errorf("the idle service uses %d MiB, and used %d MiB before", after.memory>>20, before.memory>>20)
	}
	running := checkGoroutines(t, p)
	t.Logf("| %s | idle, before and after all faults | | | %d and %d MiB, %d and %d open files, %d goroutines |",
		engine(), before.memory>>20, after.memory>>20, before.files, after.files, running)
}

// checkGoroutines checks the number of goroutines of an idle service and returns it. It ends the service.
func checkGoroutines(t *testing.T, p *process.Process) (running int) {
	t.Helper()
	const most = 40 // with the database driver
	left := p.Goroutines()
	for _, n := range left {
		running += n
	}
	if running == 0 || running > most {
		t.Errorf("%d goroutines run in the idle service: %v", running, left)
	}
	return running
}
