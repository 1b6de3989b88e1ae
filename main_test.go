package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"example.com/ginseng/config"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/process"
)

// serveAsMain makes the test binary run main, so that tests can start and stop the service as a process.
const serveAsMain = "GINSENG_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveAsMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// service is a running service.
type service struct {
	*process.Process
	t *testing.T
}

// command returns the service in a directory, with only these variables in its environment.
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
	cmd.Stderr = nil // p.Log has it
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Signal(os.Kill) }) // it has ended, unless the test failed
	return &service{p, t}
}

// call sends a request and returns the status and the fields of the response.
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
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil // killed meanwhile
	}
	defer func() { _ = response.Body.Close() }()
	var body map[string]any
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		return 0, nil
	}
	return response.StatusCode, body
}

// credential returns a token that can create articles.
func (p *service) credential(dir string) string {
	p.t.Helper()
	credential := p.masterKey(dir)
	credential = p.signUp(credential)
	return credential
}

// masterKey returns MASTER_KEY of .env in the directory.
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

// signUp creates a user with the master key and returns a user token.
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

// does runs a command in a directory and returns its exit code and output.
func does(t *testing.T, dir string, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd, errors := command(t, dir, env...)
	cmd.Args = append(cmd.Args, args...)
	var out strings.Builder
	cmd.Stdout = &out
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode(), out.String(), errors.String()
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
	if !strings.Contains(p.Log(), "wrote a file with new secrets") {
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
	if !errors.As(err, &exit) || exit.ExitCode() != 78 {
		t.Fatalf("%v, want exit code %d", err, 78)
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

// TestEqualSecrets starts with one secret for two settings, and with another mistake, so that the program ends in any case.
func TestEqualSecrets(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("0123456789", 4)
	cmd, stderr := command(t, t.TempDir(), "APP_ENV=production", "DATABASE_URL=sqlite:x.db", "MASTER_KEY=another "+secret+","+secret, "JWT_SECRET="+secret, "LOG_LEVEL=loud")
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 78 || !strings.Contains(stderr.String(), "JWT_SECRET: is also a value of MASTER_KEY") ||
		strings.Contains(stderr.String(), secret) {
		t.Errorf("%v: %s", err, stderr)
	}
}

// TestBackup writes a backup while clients write. It contains all records that were created before.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "DATABASE_URL=sqlite:data/ginseng.db")
	token := p.credential(dir)
	var mu sync.Mutex
	created := make(map[string]bool)
	several := make(chan struct{})
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				status, body := p.call("POST", "/articles", token, url.Values{"title": {"T"}, "content": {strings.Repeat("x", 3000)}})
				if status != 201 {
					t.Errorf("while the backup is made: %d %v", status, body)
					return
				}
				mu.Lock()
				created[body["id"].(string)] = true
				if len(created) == 500 {
					close(several)
				}
				mu.Unlock()
			}
		})
	}
	<-several
	mu.Lock()
	before := maps.Clone(created)
	mu.Unlock()
	code, stdout, stderr := does(t, dir, []string{"DATABASE_URL=sqlite:data/ginseng.db"}, "backup", "backup.db")
	close(stop)
	group.Wait()
	if code != 0 || stdout != "backup.db\n" {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	if len(created) == len(before) {
		t.Error("nothing was written while the backup was made")
	}
	file := filepath.Join(dir, "backup.db")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if code, _, stderr := does(t, dir, nil, "backup", "backup.db"); code != 1 || !strings.Contains(stderr, "already exists") {
		t.Errorf("over a file: exit code %d: %s", code, stderr)
	}
	code, stdout, stderr = does(t, dir, []string{"DATABASE_URL=sqlite:data/ginseng.db"}, "backup", "-")
	if code != 0 {
		t.Errorf("to the standard output: exit code %d: %s", code, stderr)
	}
	if err := os.WriteFile(filepath.Join(dir, "streamed.db"), []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := filepath.Glob(filepath.Join(dir, "data", ".backup*")); err != nil || len(found) > 0 {
		t.Errorf("it left %v, %v", found, err)
	}
	if found, err := filepath.Glob(filepath.Join(dir, ".backup*")); err != nil || len(found) > 0 {
		t.Errorf("it left %v, %v", found, err)
	}
	if code := p.Stop(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}

	for _, file := range []string{"backup.db", "streamed.db"} {
		restored := start(t, dir, "DATABASE_URL=sqlite:"+file)
		for id := range before {
			if status, body := restored.call("GET", "/articles/"+id, "", nil); status != 200 || body["title"] != "T" {
				t.Fatalf("%s: an article that was created before: %d %v", file, status, body)
			}
		}
		if status, body := restored.call("POST", "/articles", token, url.Values{"title": {"after"}}); status != 201 {
			t.Errorf("%s: the restored service: %d %v", file, status, body)
		}
		if code := restored.Stop(syscall.SIGTERM); code != 0 {
			t.Errorf("%s: exit code %d\n%s", file, code, restored.Log())
		}
	}
}

// TestAdmin makes an admin of a new user, who sets a password with the link and signs in.
func TestAdmin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	page := "RESET_LINK_ORIGINS=https://app.example.com/reset"
	if _, stdout, _ := does(t, dir, nil, "help"); !strings.Contains(stdout, "admin ") {
		t.Errorf("help does not name the command: %s", stdout)
	}
	code, stdout, stderr := does(t, dir, nil, "admin", "ada@example.com")
	if code != 1 || stdout != "" || !strings.Contains(stderr, "needs a password: run the command at a terminal, or set RESET_LINK_ORIGINS") {
		t.Errorf("without a page and a terminal: exit code %d: %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = does(t, dir, []string{page}, "admin", "ada@example.com")
	message, link, _ := strings.Cut(stdout, "\n")
	token, found := strings.CutPrefix(strings.TrimSpace(link), "https://app.example.com/reset/")
	if code != 0 || !found || !strings.HasPrefix(message, "created the user ada@example.com, who is an admin") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	p := start(t, dir, page)
	if code, _, stderr := does(t, dir, []string{page}, "admin", "ada@example.com"); code != 1 || !strings.Contains(stderr, "open in another process; stop that process") {
		t.Errorf("while the service runs: exit code %d: %s", code, stderr)
	}
	key := p.masterKey(dir)
	if status, body := p.call("PUT", "/password-resets/"+token, "", url.Values{"password": {"analytical engine"}, "access_token": {key}}); status != 200 {
		t.Fatalf("the link: %d %v", status, body)
	}
	status, body := p.call("POST", "/auth", "ada@example.com:analytical engine", url.Values{"access_token": {key}})
	if user, _ := body["user"].(map[string]any); status != 201 || user["role"] != "admin" || user["emailVerified"] != true {
		t.Errorf("%d %v", status, body)
	}
	if code := p.Stop(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}

// TestExampleNamesEverySetting compares .env.example with the declared settings. Its secrets must be those that production
// rejects.
func TestExampleNamesEverySetting(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(".env.example")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile(`(?m)^#?([A-Z][A-Z0-9_]+)=(.*)$`).FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, m[1])
	}
	var declared []string
	var visit func(reflect.Type)
	entry := "" // of a map, whose example has it
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
			declared = append(declared, strings.ReplaceAll(name, "%s", entry))
			if f.Type.Kind() == reflect.Map {
				first, _, _ := strings.Cut(f.Tag.Get("example"), ",")
				entry = strings.ToUpper(first)
				visit(f.Type.Elem())
			}
			if f.Tag.Get("validate") == "secret" && !strings.Contains(string(text), "\n"+name+"="+f.Tag.Get("example")+"\n") {
				t.Errorf("the value of %s in .env.example is not the one that production rejects", name)
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
