package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/ginseng/testkit/process"
)

// serveAsMain makes the test binary run Main, so that tests can start, signal and kill it as a process.
const serveAsMain = "GINSENG_TEST_SERVE"

// testConfig is the Config of a service without modules.
type testConfig struct{ Settings }

var testService = Service[testConfig]{
	Name: "ginseng", Version: "test", OpenAPI: []byte("{}"), Swagger: []byte("{}"),
	Modules: newNoted,
}

func TestMain(m *testing.M) {
	if os.Getenv(serveAsMain) != "" {
		Main(testService)
	}
	os.Exit(m.Run())
}

// newCommand returns a command that runs the service in a directory, with the environment variables in set.
func newCommand(t *testing.T, dir string, set ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Dir = dir
	cmd.Env = append([]string{serveAsMain + "=1", "HOST=127.0.0.1", "PORT=0", "GOCOVERDIR=" + t.TempDir()}, set...)
	stderr := new(bytes.Buffer)
	cmd.Stderr = stderr
	return cmd, stderr
}

// start starts the service and waits until it listens.
func start(t *testing.T, dir string, set ...string) *process.Process {
	t.Helper()
	cmd, _ := newCommand(t, dir, set...)
	cmd.Stderr = nil // process.Start sets Stderr, for p.Log
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Signal(os.Kill) }) // the process has exited, unless the test failed
	return p
}

// TestBadAddress checks that errors of the driver about the URL name DATABASE_URL.
func TestBadAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"mongodb://", "mongodb://localhost:99999999/x", "mongodb://localhost/x?authMechanism=BOGUS"} {
		cmd, stderr := newCommand(t, t.TempDir(), "DATABASE_URL="+address)
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exitSettings || !strings.Contains(stderr.String(), "DATABASE_URL: ") {
			t.Errorf("%s: exit code %d: %s", address, code, stderr)
		}
	}
}

// TestStopWhileWaiting stops a service that waits for its database.
func TestStopWhileWaiting(t *testing.T) {
	t.Parallel()
	cmd, _ := newCommand(t, t.TempDir(), "DATABASE_URL=mongodb://127.0.0.1:1/x?serverSelectionTimeoutMS=50")
	cmd.Stderr = nil
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.Contains(lines.Text(), "the database is unavailable; retrying") {
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, stderr)
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

func TestSecondProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, dir)
	cmd, stderr := newCommand(t, dir)
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitFailure || !strings.Contains(stderr.String(), "ginseng.db") {
		t.Errorf("%v: %s", err, stderr)
	}
	response, err := http.Get(first.URL + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the first process responds %d", response.StatusCode)
	}
	if code := first.Stop(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	check := func() int {
		cmd, _ := newCommand(t, dir)
		cmd.Args = append(cmd.Args, "healthcheck")
		cmd.Env = append(cmd.Env, "PORT="+p.URL[strings.LastIndexByte(p.URL, ':')+1:])
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode()
	}
	if code := check(); code != 0 {
		t.Errorf("healthy: exit code %d", code)
	}
	if code := p.Stop(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if code := check(); code != exitFailure {
		t.Errorf("stopped: exit code %d", code)
	}
	empty := t.TempDir()
	cmd, _ := newCommand(t, empty)
	cmd.Args = append(cmd.Args, "healthcheck")
	_ = cmd.Run()
	if entries, _ := os.ReadDir(empty); len(entries) != 0 || cmd.ProcessState.ExitCode() != exitFailure {
		t.Errorf("a probe did not delete %v, exit code %d", entries, cmd.ProcessState.ExitCode())
	}
}

// TestObserve runs the service with metrics and traces. The service logs the address of the metrics, and exports its spans on
// SIGTERM.
func TestObserve(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var exported []byte // protobuf
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		exported = append(exported, raw...)
	}))
	t.Cleanup(receiver.Close)
	cmd, _ := newCommand(t, t.TempDir(), "METRICS_ADDR=127.0.0.1:0", "OTEL_EXPORTER_OTLP_ENDPOINT="+receiver.URL, "OTEL_BSP_SCHEDULE_DELAY=600000",
		"OTEL_SERVICE_NAME=shop", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=by%20hand")
	cmd.Stderr = nil
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // the process has exited, unless the test failed
	log := bufio.NewScanner(stderr)
	metrics := ""
	for metrics == "" && log.Scan() {
		metrics = regexp.MustCompile(`http://\S+/metrics`).FindString(log.Text())
	}
	response, err := http.Get(metrics)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || !strings.Contains(string(page), "service_build_info{") || !strings.Contains(string(page), "http_requests_in_flight 0") {
		t.Errorf("%v: %.300s", err, page)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if response, err = http.Get(regexp.MustCompile(`http://[^,]+`).FindString(line) + "/livez"); err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, stderr)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"GET /livez", "shop", "by hand"} {
		if !bytes.Contains(exported, []byte(want)) {
			t.Errorf("no %s in %q", want, exported)
		}
	}
}

// TestStopWithoutReceiver checks that the service stops within the timeout while the receiver of its traces hangs.
func TestStopWithoutReceiver(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(release) })
	p := start(t, t.TempDir(), "OTEL_EXPORTER_OTLP_ENDPOINT="+hangs.URL)
	response, err := http.Get(p.URL + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	begun := time.Now()
	if code := p.Stop(syscall.SIGTERM); code != 0 || time.Since(begun) > 3*flushTimeout {
		t.Errorf("exit code %d after %v", code, time.Since(begun))
	}
	if !strings.Contains(p.Log(), "traces are lost") {
		t.Errorf("no log line about it:\n%s", p.Log())
	}
}

// TestObserveErrors checks that errors name the setting, and that the exit code differs for an address in use.
func TestObserveErrors(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for _, test := range []struct {
		set, says string
		code      int
	}{
		{"METRICS_ADDR=" + taken.Addr().String(), "METRICS_ADDR", exitFailure},
		{"METRICS_ADDR=9090", "METRICS_ADDR: ", exitSettings},
		{"METRICS_ADDR=localhost:http", "METRICS_ADDR: ", exitSettings},
		{"METRICS_ADDR=localhost:70000", "METRICS_ADDR: ", exitSettings},
		{"OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_PROTOCOL: must be http/protobuf; ", exitSettings},
		{"OTEL_TRACES_SAMPLER=sometimes", "OTEL_TRACES_SAMPLER: ", exitSettings},
		{"OTEL_TRACES_EXPORTER=zipkin", "OTEL_TRACES_EXPORTER: ", exitSettings},
		{"OTEL_BSP_SCHEDULE_DELAY=soon", "OTEL_BSP_SCHEDULE_DELAY: ", exitSettings},
	} {
		cmd, stderr := newCommand(t, t.TempDir(), test.set)
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != test.code || !strings.Contains(stderr.String(), test.says) {
			t.Errorf("%s: exit code %d: %s", test.set, code, stderr)
		}
	}
}

// TestObserveNothing checks that a service without these settings has neither a listener nor an Observer.
func TestObserveNothing(t *testing.T) {
	t.Parallel()
	observer, stop, err := program{}.observe(t.Context(), Settings{}, slog.New(slog.DiscardHandler))
	if observer != nil || err != nil {
		t.Errorf("%v, %v", observer, err)
	}
	stop()
}
