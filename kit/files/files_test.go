package files_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/clock"
	"example.com/ginseng/testkit/testdb"
)

// page is a record with a file.
type page struct {
	store.Meta `bson:",inline"`
	Cover      *files.File `json:"cover"`
}

// service is what the tests need of a service whose records have a file.
type service struct {
	t     testing.TB
	db    store.DB
	clock *clock.Clock
	local *files.Local
	files *files.Files
	pages *store.Collection[page]
	jobs  *job.Runner
	temp  string
}

var cover = files.Field{Name: "cover", MaxBytes: 1_000_000}

func newService(t testing.TB, db store.DB, quota int64) *service {
	t.Helper()
	local, _ := newLocal(t)
	s := &service{t: t, db: db, clock: clock.At(time.Now()), local: local, temp: t.TempDir()}
	s.open(local, quota)
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// open starts an instance.
func (s *service) open(bytes files.Store, quota int64) {
	s.files = files.New(files.Options{DB: s.db, Store: bytes, TempDir: s.temp, Quota: quota, Now: s.clock.Now, Log: slog.New(slog.DiscardHandler)})
	s.pages = store.Open[page](s.db, store.Spec{Name: "pages"})
	s.files.Register("pages", func(ctx context.Context, q store.Query) ([]files.Record, error) {
		pages, err := s.pages.List(ctx, q)
		var records []files.Record
		for _, p := range pages {
			record := files.Record{ID: p.ID}
			if p.Cover != nil {
				record.Files = []files.File{*p.Cover}
			}
			records = append(records, record)
		}
		return records, err
	})
	s.jobs = job.New(s.db, s.clock.Now, slog.New(slog.DiscardHandler), s.files.Jobs()...)
}

func (s *service) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// set stores a file in a page, which is created if it does not exist; content "" removes the file. It is what package resource does.
func (s *service) set(ctx context.Context, id store.ID, uploader *store.ID, content string) error {
	var file *files.File
	if content != "" {
		r, err := s.files.Reserve(ctx, uploader, int64(len(content)))
		if err != nil {
			return err
		}
		defer r.Free(ctx)
		if file, err = r.Receive(ctx, strings.NewReader(content), cover, "a.txt", ""); err != nil {
			return err
		}
		defer file.Discard()
		if err := s.files.Put(ctx, files.Owner{Collection: "pages", Field: "cover", Record: id, Uploader: uploader}, file); err != nil {
			return err
		}
	}
	old, err := s.pages.Get(ctx, id)
	if err != nil && !apperr.Is(err, apperr.NotFound) {
		return err
	}
	create := err != nil
	err = s.db.Together(ctx, func(ctx context.Context) error {
		if old.Cover != nil {
			if err := s.files.Release(ctx, old.Cover.ID); err != nil {
				return err
			}
		}
		if create {
			err = s.pages.Insert(ctx, page{store.NewMeta(id, store.At(s.clock.Now())), file})
		} else {
			_, err = s.pages.UpdateByID(ctx, id, nil, store.Set("cover", file))
		}
		if err != nil {
			return err
		}
		return s.files.Attach(ctx, file)
	})
	if err != nil {
		s.files.Remove(ctx, err, file)
	}
	return err
}

// delete deletes a page.
func (s *service) delete(ctx context.Context, id store.ID) error {
	old, err := s.pages.Get(ctx, id)
	if err != nil {
		return err
	}
	return s.db.Together(ctx, func(ctx context.Context) error {
		if old.Cover != nil {
			if err := s.files.Release(ctx, old.Cover.ID); err != nil {
				return err
			}
		}
		return s.pages.DeleteByID(ctx, id, nil)
	})
}

// stored returns the number of files in the Store.
func (s *service) stored() (n int) {
	s.t.Helper()
	for _, err := range s.local.List(context.Background()) {
		s.must(err)
		n++
	}
	return n
}

// content returns the file of a page; "" without a file.
func (s *service) content(id store.ID) string {
	s.t.Helper()
	p, err := s.pages.Get(context.Background(), id)
	if err == nil && p.Cover == nil || apperr.Is(err, apperr.NotFound) {
		return ""
	}
	s.must(err)
	file, err := s.files.Open(context.Background(), *p.Cover)
	s.must(err)
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(file)
	s.must(err)
	return string(data)
}

// sweep lets the time pass, and runs the jobs.
func (s *service) sweep(after ...time.Duration) {
	s.t.Helper()
	for _, d := range after {
		s.clock.Advance(d)
		s.must(s.jobs.RunDue(context.Background()))
	}
}

// day lets the day pass after which nothing that is not in use is left.
func (s *service) day() { s.sweep(time.Hour, 11*time.Hour, time.Hour, 11*time.Hour) }

// attached returns the number of files to which a record refers, by their rows.
func (s *service) attached() int64 {
	s.t.Helper()
	n, err := store.Open[fileRow](s.db, store.Spec{Name: "files"}).Count(context.Background(), store.Eq("since", nil))
	s.must(err)
	return n
}

func (s *service) count(collection string) int64 {
	s.t.Helper()
	n, err := store.Open[store.Meta](s.db, store.Spec{Name: collection}).Count(context.Background(), store.Ne("id", nil))
	s.must(err)
	return n
}

// TestReplaceAndDelete keeps a replaced or deleted file for an hour.
func TestReplaceAndDelete(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, db store.DB) {
		s, id := newService(t, db, 0), store.NewID()
		s.must(s.set(t.Context(), id, nil, "one"))
		s.must(s.set(t.Context(), id, nil, "two"))
		s.sweep(59 * time.Minute)
		if n := s.stored(); n != 2 {
			t.Errorf("%d files within the hour, want 2", n)
		}
		s.sweep(10 * time.Minute)
		if n := s.stored(); n != 1 || s.content(id) != "two" {
			t.Errorf("%d files, %q; want 1, two", n, s.content(id))
		}
		s.must(s.delete(t.Context(), id))
		s.sweep(70 * time.Minute)
		if n, rows := s.stored(), s.count("files"); n != 0 || rows != 0 {
			t.Errorf("%d files, %d rows, want none", n, rows)
		}
	})
}

// errKilled is the error of all operations after the process was killed.
var errKilled = errors.New("killed")

// TestKilled kills the process at each operation of the database and of the storage, in a create, a replacement, a removal and a
// delete: no record refers to a missing file, and a day later no file is left that no record refers to.
func TestKilled(t *testing.T) {
	t.Parallel()
	changes := map[string]func(s *service, ctx context.Context, id store.ID, user *store.ID) error{
		"create": func(s *service, ctx context.Context, _ store.ID, user *store.ID) error {
			return s.set(ctx, store.NewID(), user, "new")
		},
		"replace": func(s *service, ctx context.Context, id store.ID, user *store.ID) error {
			return s.set(ctx, id, user, "new")
		},
		"remove": func(s *service, ctx context.Context, id store.ID, user *store.ID) error {
			return s.set(ctx, id, user, "")
		},
		"delete": func(s *service, ctx context.Context, id store.ID, _ *store.ID) error { return s.delete(ctx, id) },
		"sweep": func(s *service, ctx context.Context, id store.ID, user *store.ID) error {
			if err := s.set(ctx, id, user, "new"); err != nil {
				return err
			}
			s.clock.Advance(26 * time.Hour)
			return s.jobs.RunDue(ctx)
		},
	}
	testdb.Each(t, func(t *testing.T, db store.DB) {
		for name, change := range changes {
			t.Run(name, func(t *testing.T) {
				steps := 0
				for killedBefore(t, db, change, steps+1) {
					steps++
				}
				if steps < 2 {
					t.Errorf("only %d steps", steps)
				}
			})
		}
	})
}

// killedBefore makes a change, and kills the process before the operation with the number. It reports whether the change has so many
// operations.
func killedBefore(t *testing.T, db store.DB, change func(*service, context.Context, store.ID, *store.ID) error, number int) bool {
	t.Helper()
	var mu sync.Mutex
	n, armed := 0, false
	step := func(do func() error) error {
		mu.Lock()
		if armed {
			n++
		}
		at := n
		mu.Unlock()
		if at < number {
			return do()
		}
		return errKilled
	}
	intercepted := testdb.Intercept(db, func(_ context.Context, c testdb.Call, do func() error) error {
		if c.Name == "Atomic" || c.Name == "Together" {
			return do()
		}
		return step(do)
	})
	s := newService(t, intercepted, 100)
	s.open(&killable{s.local, step}, 100)
	id, user := store.NewID(), store.NewID()
	s.must(s.set(t.Context(), id, &user, "old"))
	before := s.content(id)
	armed = true
	err := change(s, t.Context(), id, &user)
	armed, killed := false, n >= number
	if !killed && err != nil {
		t.Fatalf("step %d: %v", number, err)
	}
	n = 0

	// The next process has the same database and directory.
	next := &service{t: t, db: db, clock: s.clock, local: s.local, temp: s.temp}
	next.open(s.local, 100)
	check := func() {
		t.Helper()
		if got := next.content(id); got != "" && got != before && got != "new" {
			t.Errorf("step %d: the page has %q", number, got)
		}
		pages, err := next.pages.List(t.Context(), store.Query{})
		next.must(err)
		for _, p := range pages {
			next.content(p.ID) // fails if the file is missing
		}
	}
	check()
	next.day()
	check()
	pages, err := next.pages.List(t.Context(), store.Query{Filter: store.Ne("cover", nil)})
	next.must(err)
	want := len(pages)
	rows, err := store.Open[fileRow](db, store.Spec{Name: "files"}).List(t.Context(), store.Query{})
	next.must(err)
	var used int64
	for _, r := range rows {
		used += r.Size
		if r.Since != nil || r.Deleting {
			t.Errorf("step %d: the row %+v is not healed", number, r)
		}
	}
	if n := next.stored(); n != want || len(rows) != want {
		t.Errorf("step %d: %d files, %d rows, want %d", number, n, len(rows), want)
	}
	// The quota has exactly the rest.
	for size, want := range map[int64]bool{100 - used: true, 101 - used: false} {
		r, err := next.files.Reserve(t.Context(), &user, size)
		if (err == nil) != want {
			t.Errorf("step %d: %d bytes in use, Reserve(%d): %v", number, used, size, err)
		}
		if err == nil {
			r.Free(t.Context())
		}
	}
	for _, p := range pages {
		next.must(next.delete(t.Context(), p.ID))
	}
	next.day()
	if n := next.stored(); n != 0 {
		t.Errorf("step %d: %d files after the deletion of all", number, n)
	}
	for _, name := range []string{"files", "file-usage", "pages", "job-states", "file-storage"} {
		next.must(db.Drop(t.Context(), name))
	}
	return killed
}

// fileRow is the stored row of a file.
type fileRow struct {
	store.Meta `bson:",inline"`
	Collection string      `json:"collection"`
	RecordID   store.ID    `json:"recordId"`
	Size       int64       `json:"size"`
	Since      *store.Time `json:"since"`
	Deleting   bool        `json:"deleting"`
}

// killable is a Store whose process can be killed.
type killable struct {
	files.Store
	step func(do func() error) error
}

func (k *killable) Put(ctx context.Context, id store.ID, from *os.File, size int64) error {
	return k.step(func() error { return k.Store.Put(ctx, id, from, size) })
}

func (k *killable) Delete(ctx context.Context, id store.ID) error {
	return k.step(func() error { return k.Store.Delete(ctx, id) })
}
