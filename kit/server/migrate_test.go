package server

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/migrate"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
)

// noted is a module whose documents change: text becomes a number. The file "hold" in the current directory delays it.
type noted struct{ notes *store.Collection[note] }

type note struct {
	store.Meta `bson:",inline"`
	Text       any `json:"text"`
}

const migratesEnv = "GINSENG_TEST_MIGRATES" // the service of the test binary has the module

func newNoted(d kit.Deps, _ testConfig) []kit.Module {
	if os.Getenv(migratesEnv) == "" {
		return nil
	}
	return []kit.Module{noted{store.Open[note](d.DB, store.Spec{Name: "notes"})}}
}

func (noted) Routes(gin.IRouter, kit.Middleware) {}

// Migrations implements migrate.Module.
func (n noted) Migrations() []migrate.Migration {
	wait := migrate.ConvertFunc("text", "itself", func(old any) (any, error) {
		for _, err := os.Stat("hold"); err == nil; _, err = os.Stat("hold") {
			time.Sleep(time.Millisecond)
		}
		return old, nil
	})
	return []migrate.Migration{{Name: "note-1", Collection: n.notes.Engine(), Steps: []migrate.Step{wait, migrate.Convert[int64]("text")}}}
}

// addNote stores a note as an earlier version of the service did.
func addNote(t *testing.T, dir, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Join(dir, "data"), 0o700)
	db, openErr := engines.Open(t.Context(), "sqlite:"+filepath.Join(dir, "data", "ginseng.db"))
	if err := errors.Join(err, openErr); err != nil {
		t.Fatal(err)
	}
	notes := store.Open[note](db, store.Spec{Name: "notes"})
	err = db.Prepare(t.Context())
	if err == nil {
		err = notes.Insert(t.Context(), note{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), Text: text})
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
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

// TestMigrateAtStart checks the responses while a migration runs and after it, kills the service in between, and stops it.
func TestMigrateAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addNote(t, dir, "7")
	hold := filepath.Join(dir, "hold")
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	killed := start(t, dir, migratesEnv+"=1")
	killed.Stop(os.Kill)
	p := start(t, dir, migratesEnv+"=1") // waits for the lease of the killed one
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
	if code := p.Stop(syscall.SIGTERM); code != 0 || !strings.Contains(p.Log(), "migration completed") || !strings.Contains(p.Log(), "changed=1") {
		t.Errorf("exit code %d: %s", code, p.Log())
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
	addNote(t, dir, "seven")
	code, _, stderr := does(t, dir, []string{migratesEnv + "=1"}, "serve")
	if code != exitFailure || !strings.Contains(stderr, "migration note-1: 1 of 1 documents cannot be migrated, so nothing was changed.") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestMigrateCommand lists, runs and repeats a migration.
func TestMigrateCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addNote(t, dir, "7")
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
