package resilience_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/mongo/mongotest"
	"example.com/ginseng/testkit/process"
	"example.com/ginseng/testkit/testdb"
)

// TestKillFiles kills the service with SIGKILL several times, while clients create and delete records with files, and replace, add and
// delete their files. Afterwards, each file whose upload had a response can be read, no record refers to a missing file, and after a
// day no other file is stored.
func TestKillFiles(t *testing.T) {
	long(t)
	const each = 40 // successful requests before each kill
	address, storage, spool := database(t), t.TempDir(), t.TempDir()
	run := func() *process.Process {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], serveShelves)
		cmd.Dir, cmd.Env = t.TempDir(), settings(address, "FILES_URL=file:"+storage, "FILES_SHARED=true", "FILES_TMP="+spool)
		return begin(t, cmd)
	}
	photographers := make([]*photographer, 8) // at most 10 transfers of a network are accepted
	for i := range photographers {
		photographers[i] = &photographer{t: t, random: rand.New(rand.NewPCG(uint64(i), rand.Uint64())), stored: map[string]string{}}
	}
	kills, made := testdb.Size(6, 2), int64(0)
	for range kills {
		p := run()
		var done atomic.Int64
		var running sync.WaitGroup
		for _, client := range photographers {
			running.Go(func() { client.run(p.URL, &done) })
		}
		within(t, func(ctx context.Context) error { return until(ctx, func() bool { return done.Load() >= each }) }, "the clients make no progress")
		_ = p.Signal(os.Kill)
		p.Wait()
		running.Wait()
		made += done.Load()
	}
	p, stored, lost := run(), 0, 0
	for _, client := range photographers {
		stored += len(client.stored)
		lost += client.check(p.URL)
	}
	stop(t, p)
	before, after := checkFiles(t, address, storage, spool)
	t.Logf("| %s | kill -9 while files are stored, replaced and deleted, %d times | 2xx ×%d | %d of %d | %d, %d |", engine(), kills, made, lost, stored,
		before.Unreferenced+before.Unknown, after.Unreferenced+after.Unknown)
}

// TestBackupFiles backs up the database and the files twice, while clients change files. The second backup, which continues the first, is
// restored elsewhere: no file is missing.
func TestBackupFiles(t *testing.T) {
	long(t)
	if mongotest.Available() {
		t.Skip("backs up the embedded database")
	}
	dir := t.TempDir()
	run := func(set []string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], append([]string{serveShelves}, args...)...)
		cmd.Dir, cmd.Env = dir, set
		return cmd
	}
	original := settings("sqlite:test.db", "FILES_TMP="+t.TempDir())
	p := begin(t, run(original))
	var done atomic.Int64
	var running sync.WaitGroup
	for i := range 8 {
		client := &photographer{t: t, random: rand.New(rand.NewPCG(uint64(i), rand.Uint64())), stored: map[string]string{}}
		running.Go(func() { client.run(p.URL, &done) })
	}
	for i, file := range []string{"first.db", "second.db"} {
		within(t, func(ctx context.Context) error {
			return until(ctx, func() bool { return done.Load() >= int64(i+1)*200 })
		}, "the clients make no progress")
		before := done.Load()
		output, err := run(original, "backup", file, "--files", "files-backup").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, output)
		}
		t.Logf("%d changes during the backup; %s", done.Load()-before, output)
		if done.Load() == before {
			t.Error("nothing was changed during the backup: the test is void")
		}
	}
	_ = p.Signal(os.Kill)
	p.Wait()
	running.Wait()
	output, err := run(settings("sqlite:second.db", "FILES_URL=file:files-backup"), "files", "check").CombinedOutput()
	if err != nil || !strings.Contains(string(output), " 0 are missing") || strings.Contains(string(output), "\n0 files are stored") {
		t.Errorf("%v: %s", err, output)
	}
}

// photographer is a client with one album, and the files in it by their paths, as SHA-256.
type photographer struct {
	t      *testing.T
	random *rand.Rand
	album  string // path; "": none
	stored map[string]string
}

// run changes the album until the service is gone.
func (p *photographer) run(url string, done *atomic.Int64) {
	for p.t.Context().Err() == nil && p.change(url) {
		done.Add(1)
	}
}

// change changes the album. It returns false if there is no response: then it is unknown whether the change was made.
func (p *photographer) change(url string) bool {
	content := make([]byte, 1+p.random.IntN(300_000))
	for i := range content {
		content[i] = byte(p.random.Uint32())
	}
	sum := sha256.Sum256(content)
	path, shots := p.album+"/cover", slices.Collect(maps.Keys(p.stored))
	switch n := p.random.IntN(10); {
	case p.album == "":
		contentType, body := albumForm(p.t, content)
		response, ok := p.send(http.MethodPost, url+"/albums", contentType, body)
		if ok {
			p.album = response.Header.Get("Location")
			p.stored[p.album+"/cover"] = hex.EncodeToString(sum[:])
		}
		return ok
	case n < 4:
		delete(p.stored, path)
		_, ok := p.send(http.MethodPut, url+path, "image/png", content)
		if ok {
			p.stored[path] = hex.EncodeToString(sum[:])
		}
		return ok
	case n < 7 && len(shots) < files.MaxItems:
		response, ok := p.send(http.MethodPost, url+p.album+"/shots", "image/png", content)
		if ok {
			p.stored[response.Header.Get("Location")] = hex.EncodeToString(sum[:])
		}
		return ok
	case n < 9 && len(shots) > 0:
		delete(p.stored, shots[0])
		_, ok := p.send(http.MethodDelete, url+shots[0], "", nil)
		return ok
	}
	album := p.album
	p.album = ""
	clear(p.stored)
	_, ok := p.send(http.MethodDelete, url+album, "", nil)
	return ok
}

// send sends a request. It returns false if there is no response.
func (p *photographer) send(method, url, contentType string, body []byte) (*http.Response, bool) {
	r, err := http.NewRequestWithContext(p.t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		p.t.Error(err)
		return nil, false
	}
	r.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, false
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if response.StatusCode >= 300 {
		p.t.Errorf("%s %s: %d %s", method, url, response.StatusCode, text)
	}
	return response, err == nil
}

// albumForm returns a form with a cover and a shot.
func albumForm(t *testing.T, content []byte) (contentType string, body []byte) {
	var buf bytes.Buffer
	form := multipart.NewWriter(&buf)
	for _, name := range []string{"cover", "shots"} {
		part, err := form.CreateFormFile(name, name)
		if err == nil {
			_, err = part.Write(content)
		}
		if err != nil {
			t.Error(err)
		}
	}
	_ = form.Close() // a bytes.Buffer does not fail
	return form.FormDataContentType(), buf.Bytes()
}

// check reads the files in the album. It returns the number of files that are missing or have other bytes.
func (p *photographer) check(url string) (lost int) {
	for path, want := range p.stored {
		response, err := http.Get(url + path)
		must(p.t, err)
		hash := sha256.New()
		_, err = io.Copy(hash, response.Body)
		_ = response.Body.Close()
		if got := hex.EncodeToString(hash.Sum(nil)); err != nil || got != want {
			lost++
			p.t.Errorf("GET %s: %d, SHA-256 %s, want %s; %v", path, response.StatusCode, got, want, err)
		}
	}
	return lost
}

// checkFiles compares the records with the storage of a service that has ended: now, and when a day has passed.
func checkFiles(t *testing.T, address, storage, spool string) (before, after files.Checked) {
	t.Helper()
	db, err := engines.Open(t.Context(), address)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	local, err := files.NewLocal(storage)
	must(t, err)
	var passed time.Duration
	now := func() time.Time { return time.Now().Add(passed) }
	f := files.New(files.Options{DB: db, Store: local, TempDir: spool, Now: now, Log: slog.New(slog.DiscardHandler)})
	newAlbums(kit.Deps{DB: db, Now: now, Resources: &kit.Resources{}, Files: f})
	must(t, db.Prepare(t.Context()))
	must(t, f.Claim(t.Context(), true))
	check := func() files.Checked {
		t.Helper()
		result, err := f.Check(t.Context(), time.Time{}, func(found files.Finding) error {
			if found.Missing {
				t.Errorf("the file %s of the record %s is missing", found.ID.Hex(), found.Record.Hex())
			}
			return nil
		})
		must(t, err)
		return result
	}
	passed = 2 * time.Minute // so that no file can be of a request in progress
	before = check()
	for _, passed = range []time.Duration{time.Hour + time.Minute, 25 * time.Hour, 27 * time.Hour} {
		for _, job := range f.Jobs() {
			must(t, job.Run(t.Context()))
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	f.Work(ended)
	after = check()
	if uploads, err := os.ReadDir(spool); err != nil || len(uploads) > 0 || after.Unreferenced > 0 || after.Stored == 0 {
		t.Errorf("%+v, %d uploads are left, %v", after, len(uploads), err)
	}
	return before, after
}
