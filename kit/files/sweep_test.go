package files_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/files/filestest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// TestForgotten deletes the files of records that were deleted or changed without rules, and files without a row. It keeps the files of
// collections that are not part of the service.
func TestForgotten(t *testing.T) {
	t.Parallel()
	s := newService(t, testdb.Open(t), 1000)
	user := store.NewID()
	kept, deleted, changed := store.NewID(), store.NewID(), store.NewID()
	for _, id := range []store.ID{kept, deleted, changed} {
		s.must(s.set(t.Context(), id, &user, "12345"))
	}
	_, err := s.pages.Delete(t.Context(), store.Eq("id", deleted))
	s.must(err)
	_, err = s.pages.Update(t.Context(), store.Eq("id", changed), store.Unset("cover"))
	s.must(err)
	r, err := s.files.Reserve(t.Context(), nil, 1)
	s.must(err)
	removed, err := r.Receive(t.Context(), filestest.Spool(t, []byte("x")), cover, "", "")
	s.must(err)
	s.must(s.files.Put(t.Context(), files.Owner{Collection: "removed", Field: "cover", Record: store.NewID()}, removed))
	s.must(s.local.Put(t.Context(), store.NewID(), filestest.Spool(t, []byte("x")), 1)) // no row

	s.sweep(0)
	if n := s.stored(); n != 5 {
		t.Errorf("%d files at once, want all 5", n)
	}
	s.sweep(12*time.Hour, time.Hour, 11*time.Hour) // a day
	if n := s.stored(); n != 2 || s.content(kept) != "12345" {
		t.Errorf("%d files, want those of the page and of the removed module", n)
	}
	if _, err := s.local.Open(t.Context(), removed.ID); err != nil {
		t.Errorf("the file of the removed module: %v", err)
	}
	s.wantRoom(&user, 995)
}

// TestManyForgotten has more rows than the sweep reads at a time, some of which it must keep.
func TestManyForgotten(t *testing.T) {
	t.Parallel()
	testdb.SQLiteOnly(t)
	s := newService(t, testdb.Open(t), 0)
	const n = 1201
	rows := store.Open[fileRow](s.db, store.Spec{Name: "files"})
	var all []store.Document
	since := store.At(s.clock.Now())
	for i := range n {
		collection := "pages"
		if i%2 == 0 {
			collection = "removed"
		}
		all = append(all, fileRow{Meta: store.NewMeta(store.NewID(), since), Collection: collection, RecordID: store.NewID(), Since: &since})
	}
	s.must(rows.Engine().Load(t.Context(), all))
	s.must(s.db.Prepare(t.Context()))
	s.sweep(time.Hour)
	if got := s.count("files"); got != n/2+1 {
		t.Errorf("%d rows, want %d", got, n/2+1)
	}
}

// TestRemove deletes files of a failed change immediately, unless the record may refer to them.
func TestRemove(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx   context.Context
		cause error
		want  int
	}{
		"conflict":           {t.Context(), apperr.New(apperr.Conflict, "conflict"), 0},
		"unknown outcome":    {t.Context(), store.Unavailable(context.DeadlineExceeded), 1},
		"not our error":      {t.Context(), os.ErrDeadlineExceeded, 1},
		"disconnected":       {ended, apperr.New(apperr.Conflict, "conflict"), 1},
		"the record has it":  {t.Context(), apperr.New(apperr.Conflict, "conflict"), 1},
		"no write at all":    {t.Context(), nil, 0},
		"attached meanwhile": {t.Context(), nil, 1},
	} {
		s, id := newService(t, testdb.Open(t), 0), store.NewID()
		r, err := s.files.Reserve(t.Context(), nil, 1)
		s.must(err)
		file, err := r.Receive(t.Context(), filestest.Spool(t, []byte("x")), cover, "", "")
		s.must(err)
		s.must(s.files.Put(t.Context(), files.Owner{Collection: "pages", Field: "cover", Record: id}, file))
		switch name {
		case "the record has it": // a later write of a Together without transactions has failed
			s.must(s.pages.Insert(t.Context(), page{store.NewMeta(id, store.At(s.clock.Now())), file}))
		case "attached meanwhile":
			s.must(s.files.Attach(t.Context(), file))
		}
		s.files.Remove(test.ctx, test.cause, file)
		if n := s.stored(); n != test.want {
			t.Errorf("%s: %d files, want %d", name, n, test.want)
		}
		s.content(id)
	}
}

// TestSweepGoesOn sweeps files of which one cannot be deleted.
func TestSweepGoesOn(t *testing.T) {
	t.Parallel()
	s := newService(t, testdb.Open(t), 0)
	id := store.NewID()
	s.must(s.set(t.Context(), id, nil, "0"))
	p, err := s.pages.Get(t.Context(), id)
	s.must(err)
	stuck := &stuck{s.local, p.Cover.ID}
	s.open(stuck, 0)
	for _, content := range []string{"1", "2", "3"} {
		s.must(s.set(t.Context(), id, nil, content))
	}
	s.clock.Advance(70 * time.Minute)
	if err := s.jobs.RunDue(t.Context()); !errors.Is(err, errStuck) {
		t.Errorf("%v, want %v", err, errStuck)
	}
	if n := s.stored(); n != 2 || s.content(id) != "3" {
		t.Errorf("%d files, want the last one and the one that cannot be deleted", n)
	}
	stuck.id = store.ID{}
	s.sweep(time.Hour)
	if n := s.stored(); n != 1 {
		t.Errorf("%d files, want 1", n)
	}
}

// stuck is a Store with a file that cannot be deleted.
type stuck struct {
	files.Store
	id store.ID
}

var errStuck = errors.New("stuck")

func (s *stuck) Delete(ctx context.Context, id store.ID) error {
	if id == s.id {
		return errStuck
	}
	return s.Store.Delete(ctx, id)
}

// TestRemoveNothing reads no rows if the request has stored no files, such as in a transaction that was aborted.
func TestRemoveNothing(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	s := newService(t, testdb.Before(testdb.Open(t), "List files", func() { calls.Add(1) }), 0)
	s.files.Remove(t.Context(), nil, nil, &files.File{ID: store.NewID()})
	if n := calls.Load(); n != 0 {
		t.Errorf("%d queries, want none", n)
	}
}

// TestClose removes the temporary files of uploads that the end of the process interrupts.
func TestClose(t *testing.T) {
	t.Parallel()
	s := newService(t, testdb.Open(t), 0)
	r, err := s.files.Reserve(t.Context(), nil, 2)
	s.must(err)
	received, err := r.Receive(t.Context(), strings.NewReader("x"), cover, "", "")
	s.must(err)
	body := readerFunc(func([]byte) (int, error) { s.files.Close(t.Context()); return 0, io.EOF })
	_, err = r.Receive(t.Context(), body, cover, "", "") // in progress
	if err == nil {
		t.Error("an empty file is no error")
	}
	s.wantEmptyTemp()
	if _, err := r.Receive(t.Context(), strings.NewReader("x"), cover, "", ""); !apperr.Is(err, apperr.Unavailable) || strings.Contains(err.Error(), "FILES_TMP") {
		t.Errorf("an upload after Close: %v", err)
	}
	s.wantEmptyTemp()
	s.must(s.files.Put(t.Context(), files.Owner{Collection: "pages", Field: "cover", Record: store.NewID()}, received)) // still works
	received.Discard()
}

// TestSpool removes temporary files that are older than a day, and no files of other programs.
func TestSpool(t *testing.T) {
	t.Parallel()
	s := newService(t, testdb.Open(t), 0)
	r, err := s.files.Reserve(t.Context(), nil, 1)
	s.must(err)
	_, err = r.Receive(t.Context(), filestest.Spool(t, []byte("x")), cover, "", "")
	s.must(err)
	other := filepath.Join(s.temp, "other")
	s.must(os.WriteFile(other, nil, 0o600))
	work := func() {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.files.Work(ctx) // once
	}
	for _, want := range []int{2, 1} {
		work()
		entries, err := os.ReadDir(s.temp)
		s.must(err)
		if len(entries) != want {
			t.Errorf("%d files, want %d", len(entries), want)
		}
		s.clock.Advance(25 * time.Hour)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

// TestClaim connects directories with databases.
func TestClaim(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	claim := func(db store.DB, dir string, shared bool) (*files.Local, error) {
		local, err := files.NewLocal(dir)
		if err != nil {
			t.Fatal(err)
		}
		f := files.New(files.Options{DB: db, Store: local, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		if err := db.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		return local, f.Claim(t.Context(), shared)
	}
	a, b := testdb.Open(t), testdb.Open(t)
	id := store.NewID()
	local, err := claim(a, dir, true)
	if err == nil {
		err = local.Put(t.Context(), id, filestest.Spool(t, []byte("x")), 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	again, err := claim(a, dir, true)
	if err == nil {
		_, err = again.Open(t.Context(), id)
	}
	if err != nil {
		t.Errorf("another instance: %v", err)
	}
	if other, err := claim(b, dir, true); err != nil {
		t.Errorf("another database: %v", err)
	} else {
		for id := range other.List(t.Context()) {
			t.Errorf("another database has the file %s", id.Hex())
		}
	}
	if _, err := claim(a, t.TempDir(), true); err == nil {
		t.Error("a directory that is not mounted is no error")
	}
	if _, err := claim(a, t.TempDir(), false); err != nil {
		t.Errorf("a restored database without its files: %v", err)
	}
}

// TestInterrupted has the rows that changes leave on servers without transactions: a file that was released twice, one to which a record
// refers although it was released, and one that the sweep has begun to delete.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	s, id, user := newService(t, testdb.Open(t), 1000), store.NewID(), store.NewID()
	s.must(s.set(t.Context(), id, &user, "12345"))
	p, err := s.pages.Get(t.Context(), id)
	s.must(err)
	s.sweep(0) // the daily jobs, too
	s.must(s.files.Release(t.Context(), p.Cover.ID))
	s.wantRoom(&user, 1000)
	s.sweep(70 * time.Minute)
	if s.content(id) != "12345" {
		t.Error("the file of a change that was interrupted is deleted")
	}
	s.wantRoom(&user, 995)

	s.must(s.files.Release(t.Context(), p.Cover.ID))
	s.clock.Advance(50 * time.Minute)
	s.must(s.delete(t.Context(), id)) // releases it again
	s.sweep(20 * time.Minute)
	if n := s.stored(); n != 1 {
		t.Error("the hour does not begin with the last change")
	}
	s.sweep(50 * time.Minute)
	if n := s.stored(); n != 0 {
		t.Errorf("%d files, want none", n)
	}

	r, err := s.files.Reserve(t.Context(), &user, 1)
	s.must(err)
	file, err := r.Receive(t.Context(), filestest.Spool(t, []byte("x")), cover, "", "")
	s.must(err)
	s.must(s.files.Put(t.Context(), files.Owner{Collection: "pages", Field: "cover", Record: store.NewID(), Uploader: &user}, file))
	_, err = store.Open[fileRow](s.db, store.Spec{Name: "files"}).UpdateByID(t.Context(), file.ID, nil, store.Set("deleting", true))
	s.must(err)
	if err := s.files.Attach(t.Context(), file); !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("Attach of a file that is being deleted: %v", err)
	}
}
