package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/migrate"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
)

// noted is a module with a migration that converts text to a number. If the file "hold" exists in the current directory, the
// migration pauses after the number of conversions in the file, until the file is removed. Meanwhile, the file "held" exists.
type noted struct {
	notes *store.Collection[note]
	log   *slog.Logger
}

type note struct {
	store.Meta `bson:",inline"`
	Text       any `json:"text"`
}

const migratesEnv = "GINSENG_TEST_MIGRATES" // the service of the test binary has the module

func newNoted(d kit.Deps, _ testConfig) []kit.Module {
	if os.Getenv(migratesEnv) == "" {
		return nil
	}
	return []kit.Module{noted{store.Open[note](d.DB, store.Spec{Name: "notes"}), d.Log}}
}

func (noted) Routes(*route.Router) {}

// Parts implements kit.Module. The job logs how many notes are not migrated.
func (n noted) Parts() kit.Parts {
	count := job.Job{Name: "notes", Interval: time.Hour, Run: func(ctx context.Context) error {
		old, err := n.notes.Count(ctx, store.Ne("text", 7))
		n.log.Info("counted", "old", old)
		return err
	}}
	return kit.Parts{Migrations: n.migrations(), Jobs: []job.Job{count}}
}

func (n noted) migrations() []migrate.Migration {
	var conversions atomic.Int64
	wait := migrate.ConvertFunc("text", "itself", func(old any) (any, error) {
		done := conversions.Add(1)
		for {
			text, err := os.ReadFile("hold")
			if limit, _ := strconv.ParseInt(string(text), 10, 64); err != nil || done <= limit {
				return old, nil
			}
			_ = os.WriteFile("held", nil, 0o600)
			time.Sleep(time.Millisecond)
		}
	})
	return []migrate.Migration{{Name: "note-1", Collection: n.notes.Engine(), Steps: []migrate.Step{wait, migrate.Convert[int64]("text")}}}
}

// useNotes opens the notes of a service that is not running.
func useNotes(t *testing.T, dir string, use func(*store.Collection[note]) error) {
	t.Helper()
	err := os.MkdirAll(filepath.Join(dir, "data"), 0o700)
	db, openErr := engines.Open(t.Context(), "sqlite:"+filepath.Join(dir, "data", "ginseng.db"))
	if err := errors.Join(err, openErr); err != nil {
		t.Fatal(err)
	}
	notes := store.Open[note](db, store.Spec{Name: "notes"})
	if err = db.Prepare(t.Context()); err == nil {
		err = use(notes)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// addNotes stores notes as an earlier version of the service did.
func addNotes(t *testing.T, dir, text string, n int) {
	t.Helper()
	useNotes(t, dir, func(notes *store.Collection[note]) error {
		docs := make([]store.Document, n)
		for i := range docs {
			docs[i] = note{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), Text: text}
		}
		return notes.Engine().Load(t.Context(), docs)
	})
}

func get(t *testing.T, url string) (status int, header http.Header, body string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(raw)
}

// TestMigrateAtStart kills the service in the middle of a migration, and checks the responses while the next start completes
// the migration, and after the migration.
func TestMigrateAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const all, first = 2000, 1200
	addNotes(t, dir, "7", all)
	migrated := func() (n int64) {
		useNotes(t, dir, func(notes *store.Collection[note]) (err error) {
			n, err = notes.Count(t.Context(), store.And(store.Eq("text", 7), store.Eq("version", 2)))
			return err
		})
		return n
	}
	hold := filepath.Join(dir, "hold")
	if err := os.WriteFile(hold, fmt.Append(nil, all+first), 0o600); err != nil { // the check converts all notes first
		t.Fatal(err)
	}
	killed := start(t, dir, migratesEnv+"=1")
	for _, err := os.Stat(filepath.Join(dir, "held")); err != nil; _, err = os.Stat(filepath.Join(dir, "held")) {
		time.Sleep(time.Millisecond)
	}
	killed.Stop(os.Kill)
	if n := migrated(); n < first-500 || n > first {
		t.Errorf("%d of %d notes are migrated when the service is killed, want about %d", n, all, first)
	}
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, dir, migratesEnv+"=1") // waits for the lease of the killed instance
	if status, _, _ := get(t, p.URL+"/livez"); status != 200 {
		t.Errorf("/livez: %d", status)
	}
	for _, path := range []string{"/readyz", "/docs/", "/unknown"} {
		status, header, body := get(t, p.URL+path)
		var problem struct{ Code string }
		if err := json.Unmarshal([]byte(body), &problem); err != nil || status != 503 || problem.Code != "unavailable" || header.Get("Retry-After") != "10" {
			t.Errorf("%s: %d %v %s", path, status, header, body)
		}
	}
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	for {
		if status, _, _ := get(t, p.URL+"/readyz"); status == 200 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for !strings.Contains(p.Log(), "msg=counted old=0") { // the job runs after the migration
		time.Sleep(10 * time.Millisecond)
	}
	if code := p.Stop(syscall.SIGTERM); code != 0 || !strings.Contains(p.Log(), "migration completed") || !strings.Contains(p.Log(), "changed=") {
		t.Errorf("exit code %d: %s", code, p.Log())
	}
	if n := migrated(); n != all {
		t.Errorf("%d of %d notes are migrated once", n, all)
	}
	again := start(t, dir, migratesEnv+"=1")
	if code := again.Stop(syscall.SIGTERM); code != 0 || strings.Contains(again.Log(), "migration") {
		t.Errorf("exit code %d: %s", code, again.Log())
	}
}

// TestMigrationFails ends the service with an error.
func TestMigrationFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addNotes(t, dir, "seven", 1)
	code, _, stderr := does(t, dir, []string{migratesEnv + "=1"}, "serve")
	if code != exitFailure || !strings.Contains(stderr, "migration note-1: 1 of 1 documents cannot be migrated, so nothing was changed.") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestOldVersion starts a version without the migration on a migrated database: it changes nothing and names the migration.
func TestOldVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addNotes(t, dir, "7", 1)
	for _, test := range []struct {
		version string
		args    []string
		code    int
		says    string
	}{
		{"1", []string{"migrate"}, exitOK, "1 migrations completed\n"},
		{"", []string{"serve"}, exitFailure, "this version lacks: note-1. Start the version that has them"},
		{"", []string{"migrate"}, exitFailure, "note-1"},
		{"", []string{"migrate", "--dry-run"}, exitFailure, "note-1"},
		{"1", []string{"migrate", "--forget", "note-1"}, exitFailure, "is in the code"},
		{"", []string{"migrate", "--forget", "note-2"}, exitFailure, `the database has no migration "note-2"`},
		{"", []string{"migrate", "--forget", "note-1"}, exitOK, ""},
		{"", []string{"migrate"}, exitOK, "0 migrations completed\n"},
	} {
		code, stdout, stderr := does(t, dir, []string{migratesEnv + "=" + test.version}, test.args...)
		if code != test.code || !strings.Contains(stdout+stderr, test.says) {
			t.Errorf("version %s: %v: exit code %d: %s%s", test.version, test.args, code, stdout, stderr)
		}
	}
}

// TestDryRunFails checks that the dry run lists the documents that make a migration fail.
func TestDryRunFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addNotes(t, dir, "seven", 1)
	code, stdout, stderr := does(t, dir, []string{migratesEnv + "=1"}, "migrate", "--dry-run")
	if code != exitFailure || !strings.Contains(stdout, "text cannot be converted to int64") || !strings.Contains(stderr, "1 of 1 migrations would fail") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

// TestMigrateCommand lists, runs and repeats a migration.
func TestMigrateCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addNotes(t, dir, "7", 1)
	for _, args := range [][]string{{"export", "notes"}, {"import", "notes", os.DevNull, "--format", "csv"}, {"admin", "ada@example.com"}} {
		code, _, stderr := does(t, dir, []string{migratesEnv + "=1"}, args...)
		if code != exitFailure || !strings.Contains(stderr, "the migration note-1 is pending; run ginseng migrate first") {
			t.Errorf("%v: exit code %d: %s", args, code, stderr)
		}
	}
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--help"}, exitOK, "Usage: ginseng migrate"},
		{[]string{"--dry-run"}, exitOK, "note-1 (1 documents): convert text to itself; convert text to int64\n1 migrations are pending\n"},
		{[]string{"--dry-run"}, exitOK, "1 migrations are pending\n"},
		{nil, exitOK, "1 migrations completed\n"},
		{nil, exitOK, "0 migrations completed\n"},
		{[]string{"--dry-run"}, exitOK, "0 migrations are pending\n"},
		{[]string{"--again", "note-1"}, exitOK, "1 migrations completed\n"},
		{[]string{"--again", "note-2"}, exitFailure, `there is no migration "note-2"; the migrations are: note-1`},
		{[]string{"now"}, exitUsage, `unexpected argument "now"`},
	} {
		code, stdout, stderr := does(t, dir, []string{migratesEnv + "=1"}, append([]string{"migrate"}, test.args...)...)
		if code != test.code || !strings.Contains(stdout+stderr, test.says) {
			t.Errorf("%v: exit code %d: %s%s", test.args, code, stdout, stderr)
		}
	}
}
