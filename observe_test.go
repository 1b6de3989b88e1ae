package main

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/ginseng/config"
	"example.com/ginseng/kit/testkit"
)

// TestObserve runs the service with metrics and traces: it says where the metrics are, and sends on SIGTERM what it has seen.
func TestObserve(t *testing.T) {
	t.Parallel()
	receiver := testkit.NewReceiver(t)
	cmd, _ := command(t, t.TempDir(), "METRICS_ADDR=127.0.0.1:0", "OTEL_EXPORTER_OTLP_ENDPOINT="+receiver.URL, "OTEL_BSP_SCHEDULE_DELAY=600000",
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
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
	log := bufio.NewScanner(stderr)
	metrics := ""
	for metrics == "" && log.Scan() {
		metrics = regexp.MustCompile(`http://\S+/metrics`).FindString(log.Text())
	}
	answer, err := http.Get(metrics)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || !strings.Contains(string(page), "service_build_info{") || !strings.Contains(string(page), "http_requests_in_flight 0") {
		t.Errorf("%v: %.300s", err, page)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if answer, err = http.Get(regexp.MustCompile(`http://[^,]+`).FindString(line) + "/livez"); err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, stderr)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	spans, raw := receiver.Spans()
	if len(spans) != 1 || spans[0].Name != "GET /livez" || !strings.Contains(string(raw), "shop") || !strings.Contains(string(raw), "by hand") {
		t.Errorf("spans %v of %q", spans, raw)
	}
}

// TestStopWithoutReceiver stops the service in time while the receiver of its traces hangs.
func TestStopWithoutReceiver(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(release) })
	p := start(t, t.TempDir(), "OTEL_EXPORTER_OTLP_ENDPOINT="+hangs.URL)
	answer, err := http.Get(p.URL + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	begun := time.Now()
	if code := p.Stop(syscall.SIGTERM); code != 0 || time.Since(begun) > 3*flushTime {
		t.Errorf("exit code %d after %v", code, time.Since(begun))
	}
	if !strings.Contains(p.Log(), "traces are lost") {
		t.Errorf("it does not say so:\n%s", p.Log())
	}
}

// TestObserveRefuses names the setting at fault, and the exit code tells a mistake in it from an address in use.
func TestObserveRefuses(t *testing.T) {
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
		{"METRICS_ADDR=" + taken.Addr().String(), "METRICS_ADDR", exitFailed},
		{"METRICS_ADDR=9090", "METRICS_ADDR: ", exitBadConf},
		{"METRICS_ADDR=localhost:http", "METRICS_ADDR: ", exitBadConf},
		{"METRICS_ADDR=localhost:70000", "METRICS_ADDR: ", exitBadConf},
		{"OTEL_EXPORTER_OTLP_PROTOCOL=http/json", "OTEL_EXPORTER_OTLP_PROTOCOL: ", exitBadConf},
		{"OTEL_TRACES_SAMPLER=sometimes", "OTEL_TRACES_SAMPLER: ", exitBadConf},
		{"OTEL_TRACES_EXPORTER=zipkin", "OTEL_TRACES_EXPORTER: ", exitBadConf},
		{"OTEL_BSP_SCHEDULE_DELAY=soon", "OTEL_BSP_SCHEDULE_DELAY: ", exitBadConf},
	} {
		cmd, stderr := command(t, t.TempDir(), test.set)
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != test.code || !strings.Contains(stderr.String(), test.says) {
			t.Errorf("%s: exit code %d: %s", test.set, code, stderr)
		}
	}
}

// TestObserveNothing shows that a service without these settings has neither listener nor Observer.
func TestObserveNothing(t *testing.T) {
	t.Parallel()
	observer, stop, err := observe(t.Context(), config.Settings{}, slog.New(slog.DiscardHandler))
	if observer != nil || err != nil {
		t.Errorf("%v, %v", observer, err)
	}
	stop()
}
