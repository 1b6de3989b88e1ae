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
	"example.com/ginseng/kit/files/s3"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/mongo/mongotest"
	"example.com/ginseng/testkit/process"
	"example.com/ginseng/testkit/testdb"
)

// TestKillFiles kills instances of the service with SIGKILL several times, while clients create and delete records with files, and
// replace, add and delete their files. Afterwards, each file whose upload had a response can be read, no record refers to a missing file,
// and after a day no other file is stored. On MongoDB there are two instances. The files are in a directory that the instances share, or
// in the bucket of TEST_S3_URL, which scripts/checks/s3.sh sets.
func TestKillFiles(t *testing.T) {
	long(t)
	const each = 40 // successful requests before each kill
	address, spool, instances := database(t), t.TempDir(), make([]instance, 1)
	set := settings(address, "FILES_TMP="+spool, "FILES_SHARED=true", "FILES_URL=file:"+t.TempDir())
	if bucket := os.Getenv("TEST_S3_URL"); bucket != "" {
		set = append(set, "FILES_URL="+bucket, "S3_ACCESS_KEY_ID="+os.Getenv("S3_ACCESS_KEY_ID"), "S3_SECRET_ACCESS_KEY="+os.Getenv("S3_SECRET_ACCESS_KEY"))
	}
	if mongotest.Available() {
		instances = make([]instance, 2)
	}
	for i := range instances {
		instances[i].start(t, set)
	}
	photographers := make([]*photographer, 8) // at most 10 transfers of a network are accepted
	var done atomic.Int64
	var running sync.WaitGroup
	ended, end := context.WithCancel(t.Context())
	for i := range photographers {
		client := &photographer{t: t, random: rand.New(rand.NewPCG(uint64(i), rand.Uint64())), stored: map[string]string{}}
		photographers[i] = client
		running.Go(func() {
			for ended.Err() == nil {
				if client.change(instances[client.random.IntN(len(instances))].address()) {
					done.Add(1)
				}
			}
		})
	}
	progress := func() {
		t.Helper()
		more := done.Load() + each
		within(t, func(ctx context.Context) error { return until(ctx, func() bool { return done.Load() >= more }) }, "the clients make no progress")
	}
	kills := testdb.Size(6, 3)
	for n := range kills {
		progress()
		instances[n%len(instances)].restart(t, set)
	}
	progress()
	end()
	running.Wait()
	stored, lost := 0, 0
	for _, client := range photographers {
		stored += len(client.stored)
		lost += client.check(instances[0].address())
	}
	for i := range instances {
		stop(t, instances[i].process)
	}
	before, after := checkFiles(t, address, set, spool)
	t.Logf("| %s | kill -9 of %d instances while files are stored, replaced and deleted, %d times | 2xx ×%d | %d of %d | %d, %d |", engine(), len(instances),
		kills, done.Load(), lost, stored, before.Unreferenced+before.Unknown, after.Unreferenced+after.Unknown)
}

// instance is an instance of the service.
type instance struct {
	restarting sync.RWMutex
	process    *process.Process
}

// start starts the instance.
func (i *instance) start(t *testing.T, set []string) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], serveShelves)
	cmd.Dir, cmd.Env = t.TempDir(), set
	i.process = begin(t, cmd)
}

// restart kills the instance, whose requests are in progress, and starts it again.
func (i *instance) restart(t *testing.T, set []string) {
	t.Helper()
	_ = i.process.Signal(os.Kill)
	i.process.Wait()
	i.restarting.Lock()
	defer i.restarting.Unlock()
	i.start(t, set)
}

// address returns the URL of the instance. It waits until the instance is started.
func (i *instance) address() string {
	i.restarting.RLock()
	defer i.restarting.RUnlock()
	return i.process.URL
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
func checkFiles(t *testing.T, address string, set []string, spool string) (before, after files.Checked) {
	t.Helper()
	db, err := engines.Open(t.Context(), address)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	storage := openStorage(t, set)
	var passed time.Duration
	now := func() time.Time { return time.Now().Add(passed) }
	f := files.New(files.Options{DB: db, Store: storage, TempDir: spool, Now: now, Log: slog.New(slog.DiscardHandler)})
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

// openStorage opens the storage of FILES_URL, the last one in the settings.
func openStorage(t *testing.T, set []string) files.Store {
	t.Helper()
	value := map[string]string{}
	for _, setting := range set {
		name, v, _ := strings.Cut(setting, "=")
		value[name] = v
	}
	dir, ok := strings.CutPrefix(value["FILES_URL"], "file:")
	if !ok {
		config, err := s3.Parse(value["FILES_URL"])
		must(t, err)
		return s3.New(config, s3.Keys{ID: value["S3_ACCESS_KEY_ID"], Secret: value["S3_SECRET_ACCESS_KEY"]})
	}
	local, err := files.NewLocal(dir)
	must(t, err)
	return local
}
