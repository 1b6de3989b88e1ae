package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/mongo/mongotest"
)

// does runs a command in a directory, and returns its exit code and output.
func does(t *testing.T, dir string, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd, errors := newCommand(t, dir, env...)
	cmd.Args = append(cmd.Args, args...)
	var out strings.Builder
	cmd.Stdout = &out
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode(), out.String(), errors.String()
}

// TestCollections compares the collections that the command copy copies with the collections that a service creates.
func TestCollections(t *testing.T) {
	t.Parallel()
	specs, err := newProgram(testService).collections()
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	for _, spec := range specs {
		declared = append(declared, spec.Name)
		if _, err := json.Marshal(spec.NewDocument()); err != nil {
			t.Errorf("%s: %v", spec.Name, err)
		}
	}
	slices.Sort(declared)
	dir := t.TempDir()
	p := start(t, dir)
	if code := p.Stop(syscall.SIGTERM); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	db, err := engines.Open(t.Context(), "sqlite:"+filepath.Join(dir, "data", "ginseng.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if made, err := db.Names(t.Context()); err != nil || !slices.Equal(made, declared) {
		t.Errorf("the service makes %v, %v, and %v are copied", made, err, declared)
	}
}

// TestRoutes prints the routes of a service without settings and a database.
func TestRoutes(t *testing.T) {
	t.Parallel()
	code, out, stderr := does(t, t.TempDir(), nil, "routes")
	var table route.Description
	if err := json.Unmarshal([]byte(out), &table); code != exitOK || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, stderr)
	}
	if !slices.ContainsFunc(table.Routes, func(r *route.Route) bool { return r.Path == "/batch" && r.Kind == route.KindUser && r.Idempotent }) {
		t.Errorf("POST /batch is missing: %s", out)
	}
}

// TestCopyKilled kills a copy at several points and runs it again. The result is the same as after one run.
func TestCopyKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source, once := "sqlite:"+filepath.Join(dir, "source.db"), "sqlite:"+filepath.Join(dir, "once.db")
	target, n := "sqlite:"+filepath.Join(dir, "target.db"), 10_000
	rounds := 8
	if testing.Short() {
		n, rounds = 5_000, 2
	}
	if mongotest.Available() {
		target, n = mongotest.New(t).String(), 5_000
	}
	seed(t, source, n)
	env := []string{"DATABASE_URL=" + source, "TARGET=" + target}
	begun := time.Now()
	code, want, stderr := does(t, dir, env, "copy", "--to", once)
	if code != exitOK || !strings.Contains(want, "limits") {
		t.Fatalf("exit code %d: %s%s", code, want, stderr)
	}
	took := time.Since(begun)
	for round := range rounds {
		cmd, stderr := newCommand(t, dir, env...)
		cmd.Args = append(cmd.Args, "copy", "--to", "env:TARGET")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(took*time.Duration(round+1)/time.Duration(rounds), func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		if kill.Stop() {
			// The copy fails if the previous run had completed the copy when it was killed.
			if code := cmd.ProcessState.ExitCode(); code != exitOK && !strings.Contains(stderr.String(), "not empty") {
				t.Fatalf("round %d: exit code %d: %s", round, code, stderr)
			}
			break
		}
		wantUnfinished(t, dir, target)
	}
	code, got, stderr := does(t, dir, env, "copy", "--to", "env:TARGET")
	if code == exitFailure && strings.Contains(stderr, "not empty") { // the last run had completed
		code, got, stderr = does(t, dir, env, "copy", "--from", "env:TARGET", "--to", "sqlite:again.db")
	}
	if code != exitOK || got != want {
		t.Errorf("exit code %d: %s\nin the end:\n%s\nafter one run:\n%s", code, stderr, got, want)
	}
	p := start(t, dir, "DATABASE_URL="+target)
	if code := p.Stop(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}

// wantUnfinished checks that the service does not start on an incomplete copy.
func wantUnfinished(t *testing.T, dir, address string) {
	t.Helper()
	db, err := engines.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	names, err := db.Names(t.Context())
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil || !slices.Contains(names, "unfinished-copy") {
		return // the copy was killed before it started or after it completed
	}
	code, stdout, stderr := does(t, dir, []string{"DATABASE_URL=" + address})
	if code != exitFailure || stdout != "" || !strings.Contains(stderr, "is an unfinished copy of sqlite:") {
		t.Errorf("a service on an unfinished copy: exit code %d: %s%s", code, stdout, stderr)
	}
}

// seed creates a database with documents in a collection that every service has.
func seed(t *testing.T, address string, n int) {
	t.Helper()
	specs, err := newProgram(testService).collections()
	if err != nil {
		t.Fatal(err)
	}
	limits := specs[slices.IndexFunc(specs, func(s store.Spec) bool { return s.Name == "limits" })]
	db, err := engines.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	engine := db.Open(limits)
	for range n / 1000 {
		var docs []store.Document
		for i := range 1000 {
			doc := limits.NewDocument()
			if err := json.Unmarshal(fmt.Appendf(nil, `{"id":%q,"count":%d,"expiresAt":"2099-01-01T00:00:00.000Z"}`, store.NewID().Hex(), i), doc); err != nil {
				t.Fatal(err)
			}
			docs = append(docs, doc)
		}
		if err := engine.Load(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCopyStopped stops a copy with Ctrl-C.
func TestCopyStopped(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("copies many documents")
	}
	dir := t.TempDir()
	seed(t, "sqlite:"+filepath.Join(dir, "source.db"), 20_000)
	cmd, stderr := newCommand(t, dir)
	cmd.Args = append(cmd.Args, "copy", "--from", "sqlite:source.db", "--to", "sqlite:target.db")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for { // until the copy has written something
		if _, err := os.Stat(filepath.Join(dir, "target.db-wal")); err == nil {
			break
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailure || !strings.Contains(stderr.String(), "the same command continues") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, _, stderr := does(t, dir, nil, "copy", "--from", "sqlite:source.db", "--to", "sqlite:target.db"); code != exitOK {
		t.Errorf("run again: exit code %d: %s", code, stderr)
	}
}

func TestCommandLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args string
		code int
		says string
	}{
		{"copy", exitUsage, "--to"},
		{"copy --to", exitUsage, "--to"},
		{"copy --form sqlite:a.db", exitUsage, `did you mean "--from"?`},
		{"copy -to sqlite:a.db", exitUsage, "unknown shorthand flag"},
		{"migrate --dryrun", exitUsage, `did you mean "--dry-run"?`},
		{"copy sqlite:a.db sqlite:b.db", exitUsage, "sqlite:a.db"},
		{"copy --from sqlite:a.db --to env:NOTHING", exitUsage, "NOTHING"},
		{"copy --from sqlite:a.db --to sqlite:b.db", exitFailure, "a.db"},
		{"copy --from ftp://a:secret@b --to sqlite:b.db", exitUsage, "ftp"},
		{"copy --help", exitOK, "--replace "},
		{"backup", exitUsage, "FILE"},
		{"backup a b", exitUsage, "FILE"},
		{"backup --help", exitOK, "backup FILE"},
		{"backup x.db", exitFailure, "does not exist"},
	} {
		dir := t.TempDir()
		code, stdout, stderr := does(t, dir, nil, strings.Fields(test.args)...)
		if code != test.code || !strings.Contains(stdout+stderr, test.says) || strings.Contains(stdout+stderr, "secret") {
			t.Errorf("%s: exit code %d: %s%s", test.args, code, stdout, stderr)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s left %v behind", test.args, left)
		}
	}
	code, _, stderr := does(t, t.TempDir(), []string{"DATABASE_URL=mongodb://ada:secret@localhost/shop"}, "backup", "x.db")
	if code != exitFailure || !strings.Contains(stderr, "mongodb://localhost/shop: use mongodump") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestCommandsAddNoSecrets runs the commands without the secrets of the service, as in a shell without its environment.
func TestCommandsAddNoSecrets(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"migrate", "import --format ndjson articles -", "export articles", "admin ada@example.com"} {
		dir := t.TempDir()
		env := filepath.Join(dir, ".env")
		if err := os.WriteFile(env, []byte("DATABASE_URL=sqlite:a.db\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := does(t, dir, nil, strings.Fields(args)...)
		if code != exitSettings || !strings.Contains(stderr, "MASTER_KEY: is missing; set it and APP_ENV as the service has them") {
			t.Errorf("%s: exit code %d: %s", args, code, stderr)
		}
		if after, err := os.ReadFile(env); err != nil || string(after) != "DATABASE_URL=sqlite:a.db\n" {
			t.Errorf("%s: %v, .env is now\n%s", args, err, after)
		}
	}
}

// TestHelp checks that help lists the commands and shows their usage, and that an invalid command line exits with 2 and a hint.
func TestHelp(t *testing.T) {
	t.Parallel()
	shop := testService
	shop.Name = "shop"
	var usage strings.Builder
	for _, name := range []string{"copy", "backup", "migrate"} {
		if newProgram(shop).run(t.Context(), []string{name, "--help"}, &usage, &usage) != exitOK || !strings.Contains(usage.String(), "Usage: shop "+name) {
			t.Errorf("%s: %s", name, &usage)
		}
	}
	if strings.Contains(strings.ReplaceAll(usage.String(), "data/ginseng.db", ""), "ginseng") {
		t.Errorf("the usage of another program: %s", &usage)
	}
	var help strings.Builder
	if newProgram(testService).run(t.Context(), []string{"help"}, &help, &help); strings.Contains(help.String(), "admin") {
		t.Errorf("a service without users offers the command admin: %s", &help)
	}
	for _, test := range []struct {
		args string
		code int
		says string
	}{
		{"help", exitOK, "backup"}, {"-h", exitOK, "healthcheck"}, {"--help", exitOK, "Usage: ginseng"},
		{"help serve", exitOK, "APP_ENV=production ginseng serve"}, {"serve -h", exitOK, "Usage: ginseng serve"},
		{"healthcheck -h", exitOK, "Example"}, {"help copy", exitOK, "-replace"}, {"help backup", exitOK, "backup FILE"},
		{"version", exitOK, "ginseng test"}, {"version --help", exitOK, "Usage: ginseng version"},
		{"serv", exitUsage, `did you mean "serve"?`}, {"bakcup", exitUsage, `did you mean "backup"?`},
		{"restore", exitUsage, `unknown command "restore"; see --help`}, {"--verbose", exitUsage, "unknown command"},
		{"healthcheck now", exitUsage, `unexpected argument "now"`}, {"serve now", exitUsage, `unexpected argument "now"`},
		{"help restore", exitUsage, "unknown command"},
		{"help help", exitOK, "The commands are"}, {"-h -h", exitOK, "The commands are"},
		{"help serve now", exitUsage, `unexpected argument "now"`},
	} {
		var stdout, stderr bytes.Buffer
		code := newProgram(testService).run(t.Context(), strings.Fields(test.args), &stdout, &stderr)
		out := stdout.String()
		if code != exitOK {
			out = stderr.String()
		}
		if code != test.code || !strings.Contains(out, test.says) {
			t.Errorf("%s: exit code %d: %s%s", test.args, code, &stdout, &stderr)
		}
	}
}
