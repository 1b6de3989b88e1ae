package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/ginseng/config"
	"example.com/ginseng/kit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/testkit/process"
)

// serveAsMain makes this test binary the service: tests start it as a process of its own, to signal and to kill.
const serveAsMain = "GINSENG_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveAsMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// service is one that runs for a test.
type service struct {
	*process.Process
	t *testing.T
}

// command is the service in a folder, with nothing in its environment but what is set.
func command(t *testing.T, dir string, set ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Dir = dir
	cmd.Env = append([]string{serveAsMain + "=1", "HOST=127.0.0.1", "PORT=0", "GOCOVERDIR=" + t.TempDir()}, set...)
	stderr := new(bytes.Buffer)
	cmd.Stderr = stderr
	return cmd, stderr
}

func start(t *testing.T, dir string, set ...string) *service {
	t.Helper()
	cmd, _ := command(t, dir, set...)
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Signal(os.Kill) }) // it has ended, unless the test failed
	return &service{p, t}
}

// call posts or gets and returns the status and the body's fields.
func (p *service) call(method, path, token string, form url.Values) (int, map[string]any) {
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Error(err)
		return 0, nil
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if user, password, ok := strings.Cut(token, ":"); ok {
		request.SetBasicAuth(user, password)
	} else if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil // killed meanwhile
	}
	defer func() { _ = answer.Body.Close() }()
	var body map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		return 0, nil
	}
	return answer.StatusCode, body
}

// credential is what articles are created with: the token of a user.
func (p *service) credential(dir string) string {
	p.t.Helper()
	credential := p.masterKey(dir)
	credential = p.signUp(credential)
	return credential
}

// masterKey is that of the folder's .env.
func (p *service) masterKey(dir string) string {
	p.t.Helper()
	env, err := os.ReadFile(filepath.Join(dir, ".env"))
	if err != nil {
		p.t.Fatal(err)
	}
	key := regexp.MustCompile(`(?m)^MASTER_KEY=(.+)$`).FindStringSubmatch(string(env))
	if key == nil {
		p.t.Fatalf("no MASTER_KEY in .env:\n%s", env)
	}
	return key[1]
}

// signUp makes a user with the master key and returns her token.
func (p *service) signUp(key string) string {
	p.t.Helper()
	form := url.Values{"email": {store.NewID().Hex() + "@example.com"}, "password": {"correct horse battery"}, "access_token": {key}}
	if status, body := p.call("POST", "/users", "", form); status != 201 {
		p.t.Fatalf("sign-up: %d %v", status, body)
	}
	status, body := p.call("POST", "/auth", form.Get("email")+":"+form.Get("password"), url.Values{"access_token": {key}})
	token, _ := body["token"].(string)
	if status != 201 || token == "" {
		p.t.Fatalf("sign-in: %d %v", status, body)
	}
	return token
}

func TestFirstStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	if !regexp.MustCompile(`^Server listening on http://127\.0\.0\.1:\d+, in development mode$`).MatchString(p.Line) {
		t.Errorf("line %q", p.Line)
	}
	token := p.credential(dir)
	status, article := p.call("POST", "/articles", "", url.Values{"title": {"T"}, "content": {"C"}, "access_token": {token}})
	if status != 201 {
		t.Fatalf("create: %d %v", status, article)
	}
	if code := p.Stop(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
	if !strings.Contains(p.Log(), "wrote a file with fresh secrets") {
		t.Errorf("it does not say that it wrote .env:\n%s", p.Log())
	}
	again := start(t, dir)
	if status, body := again.call("GET", fmt.Sprint("/articles/", article["id"]), token, nil); status != 200 || body["title"] != "T" {
		t.Errorf("after a restart: %d %v", status, body)
	}
	if code := again.Stop(os.Interrupt); code != 0 {
		t.Errorf("exit code %d\n%s", code, again.Log())
	}
}

func TestBadSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("APP_ENV=production\nMASTER_KEY=short\nDRAIN_DELAY=soon\nLOG_LEVEL=loud\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, stderr := command(t, dir)
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitBadConf {
		t.Fatalf("%v, want exit code %d", err, exitBadConf)
	}
	var named []string
	for line := range strings.Lines(stderr.String()) {
		name, _, _ := strings.Cut(line, ":")
		named = append(named, name)
	}
	slices.Sort(named)
	if want := []string{"DATABASE_URL", "DRAIN_DELAY", "JWT_SECRET", "LOG_LEVEL", "MASTER_KEY"}; !slices.Equal(named, want) {
		t.Errorf("it names %v, and %v are wrong:\n%s", named, want, stderr)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("it left something behind: %v", entries)
	}
}

// TestBadAddress names DATABASE_URL for addresses that only the driver finds wrong.
func TestBadAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"mongodb://", "mongodb://localhost:99999999/x", "mongodb://localhost/x?authMechanism=BOGUS"} {
		cmd, stderr := command(t, t.TempDir(), "DATABASE_URL="+address)
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exitBadConf || !strings.Contains(stderr.String(), "DATABASE_URL: ") {
			t.Errorf("%s: exit code %d: %s", address, code, stderr)
		}
	}
}

// TestStopWhileWaiting ends a service that waits for its database.
func TestStopWhileWaiting(t *testing.T) {
	t.Parallel()
	cmd, _ := command(t, t.TempDir(), "DATABASE_URL=mongodb://127.0.0.1:1/x?serverSelectionTimeoutMS=50")
	cmd.Stderr = nil
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.Contains(lines.Text(), "the database does not answer; trying again") {
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, stderr)
	if err := cmd.Wait(); err != nil {
		t.Errorf("told to stop: %v", err)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"serve"}, {"healthcheck", "now"}, {"--verbose"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != exitUsage || !strings.HasPrefix(stderr.String(), "Usage:") {
			t.Errorf("%v: %d %s", args, code, &stderr)
		}
	}
}

func TestSecondProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, dir)
	cmd, stderr := command(t, dir)
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitFailed || !strings.Contains(stderr.String(), "ginseng.db") {
		t.Errorf("%v: %s", err, stderr)
	}
	if status, _ := first.call("GET", "/articles", "", nil); status != 200 {
		t.Errorf("the first one answers %d", status)
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
		cmd, _ := command(t, dir)
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
	if code := check(); code != exitFailed {
		t.Errorf("stopped: exit code %d", code)
	}
	empty := t.TempDir()
	cmd, _ := command(t, empty)
	cmd.Args = append(cmd.Args, "healthcheck")
	_ = cmd.Run()
	if entries, _ := os.ReadDir(empty); len(entries) != 0 || cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("a probe left %v behind, exit code %d", entries, cmd.ProcessState.ExitCode())
	}
}

// TestServerLimits holds headers to their size and their time, while others are served.
func TestServerLimits(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := newServer(handler, slog.New(slog.DiscardHandler))
	if server.ReadHeaderTimeout != headerTime || server.WriteTimeout == 0 || server.IdleTimeout == 0 {
		t.Errorf("timeouts: %v %v %v", server.ReadHeaderTimeout, server.WriteTimeout, server.IdleTimeout)
	}
	server.ReadHeaderTimeout = 100 * time.Millisecond
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	address := listener.Addr().String()
	// A header that never ends: the connection is closed.
	slow, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Close() }()
	if _, err := io.WriteString(slow, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "); err != nil {
		t.Fatal(err)
	}
	get := func(header string) int {
		request, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+address, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Large", header)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	if status := get("small"); status != http.StatusNoContent {
		t.Errorf("another client: %d", status)
	}
	if status := get(strings.Repeat("x", 2*maxHeaderBytes)); status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a huge header: %d", status)
	}
	if _, err := io.ReadAll(slow); err != nil {
		t.Errorf("the slow client: %v", err)
	}
}

// sweeperFunc is a kit.Sweeper.
type sweeperFunc func(context.Context) error

func (f sweeperFunc) Sweep(ctx context.Context) error { return f(ctx) }

// TestSweep sweeps again and again, also after a failure, until it is told to stop.
func TestSweep(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log bytes.Buffer
	rounds := 0
	failing := sweeperFunc(func(context.Context) error { return errors.New("away") })
	last := sweeperFunc(func(context.Context) error {
		if rounds++; rounds == 3 {
			cancel()
		}
		return nil
	})
	sweep(ctx, time.Millisecond, []kit.Sweeper{failing, last}, slog.New(slog.NewTextHandler(&log, nil)))
	if n := strings.Count(log.String(), "could not delete"); rounds != 3 || n != 3 {
		t.Errorf("%d rounds, %d failures:\n%s", rounds, n, &log)
	}
}

// away is a database that answers after some tries.
type away struct {
	store.DB
	tries int
}

func (a *away) Names(context.Context) ([]string, error) {
	if a.tries--; a.tries >= 0 {
		return nil, store.Unavailable(errors.New("connection refused"))
	}
	return nil, nil
}

func (a *away) Prepare(context.Context) error { return nil }

func TestDatabaseAwayAtStart(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	if err := prepare(t.Context(), &away{tries: 2}, log, time.Minute, time.Millisecond); err != nil {
		t.Errorf("it came back: %v", err)
	}
	if n := strings.Count(text.String(), "the database does not answer"); n != 2 {
		t.Errorf("%d lines:\n%s", n, &text)
	}
	err := prepare(t.Context(), &away{tries: 1 << 30}, log, time.Millisecond, time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "DATABASE_URL") {
		t.Errorf("it stays away: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := prepare(ctx, &away{tries: 1 << 30}, log, time.Minute, time.Minute); err == nil {
		t.Error("it goes on after the context's end")
	}
}

// TestExampleNamesEverySetting holds .env.example to the settings of the code, name by name, and its secrets to those
// that production refuses.
func TestExampleNamesEverySetting(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(".env.example")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile(`(?m)^#?([A-Z][A-Z_]+)=(.*)$`).FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, m[1])
	}
	var declared []string
	var visit func(reflect.Type)
	visit = func(section reflect.Type) {
		for i := range section.NumField() {
			f := section.Field(i)
			name := f.Tag.Get("mapstructure")
			if name == "" && f.Type.Kind() == reflect.Struct {
				visit(f.Type)
			}
			if name == "" {
				continue
			}
			declared = append(declared, name)
			if f.Tag.Get("validate") == "secret" && !strings.Contains(string(text), "\n"+name+"="+f.Tag.Get("example")+"\n") {
				t.Errorf("the value of %s in .env.example is not the one that production refuses", name)
			}
		}
	}
	visit(reflect.TypeFor[config.Settings]())
	slices.Sort(documented)
	slices.Sort(declared)
	if !slices.Equal(documented, declared) {
		t.Errorf(".env.example has %v\nthe code has      %v", documented, declared)
	}
}
