package files_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// TestQuota uploads 20 files of one user at the same time, of which 10 fit.
func TestQuota(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, db store.DB) {
		s, user, other := newService(t, db, 1000), store.NewID(), store.NewID()
		var group sync.WaitGroup
		var stored atomic.Int64
		ids := make([]store.ID, 20)
		for i := range ids {
			ids[i] = store.NewID()
			group.Go(func() {
				err := s.set(t.Context(), ids[i], &user, strings.Repeat("x", 100))
				switch {
				case err == nil:
					stored.Add(1)
				case !apperr.Is(err, apperr.QuotaExceeded):
					t.Error(err)
				}
			})
		}
		group.Wait()
		if n := stored.Load(); n != 10 || s.stored() != 10 {
			t.Errorf("%d files were stored, want 10", n)
		}
		s.must(s.set(t.Context(), store.NewID(), &other, strings.Repeat("x", 1000)))
		s.must(s.set(t.Context(), store.NewID(), nil, strings.Repeat("x", 2000)))

		// A replacement needs room for both files.
		var full store.ID
		for _, id := range ids {
			if s.content(id) != "" {
				full = id
			}
		}
		if err := s.set(t.Context(), full, &user, "x"); !apperr.Is(err, apperr.QuotaExceeded) {
			t.Errorf("a replacement without room: %v", err)
		}
		s.must(s.set(t.Context(), full, nil, "")) // frees 100 immediately
		s.must(s.set(t.Context(), full, &user, strings.Repeat("x", 50)))
		s.must(s.set(t.Context(), full, &user, strings.Repeat("y", 50)))
		s.wantRoom(&user, 50)
	})
}

// wantRoom checks how many bytes the uploader can still store.
func (s *service) wantRoom(uploader *store.ID, bytes int64) {
	s.t.Helper()
	if r, err := s.files.Reserve(s.t.Context(), uploader, bytes+1); !apperr.Is(err, apperr.QuotaExceeded) {
		r.Free(s.t.Context())
		s.t.Errorf("Reserve(%d): %v, want %s", bytes+1, err, apperr.QuotaExceeded)
	}
	r, err := s.files.Reserve(s.t.Context(), uploader, bytes)
	if err != nil {
		s.t.Errorf("Reserve(%d): %v", bytes, err)
		return
	}
	r.Free(s.t.Context())
}

// TestReservation checks that a reservation ends with Free, with a failed upload, and an hour after its process was killed, but not
// while the upload is in progress.
func TestReservation(t *testing.T) {
	t.Parallel()
	s, user := newService(t, testdb.Open(t), 1000), store.NewID()
	long := strings.Repeat("x", int(cover.MaxBytes)+1)
	s.must(s.set(t.Context(), store.NewID(), &user, "five!"))
	if err := s.set(t.Context(), store.NewID(), &user, long); !apperr.Is(err, apperr.QuotaExceeded) {
		t.Errorf("a file beyond the quota: %v", err)
	}
	s.wantRoom(&user, 995)

	killed, err := s.files.Reserve(t.Context(), &user, 900)
	s.must(err)
	s.wantRoom(&user, 95)
	slow := iotest.OneByteReader(strings.NewReader("xx"))
	body := readerFunc(func(p []byte) (int, error) { s.clock.Advance(50 * time.Minute); return slow.Read(p) })
	_, err = killed.Receive(t.Context(), body, cover, "", "")
	s.must(err)
	s.wantRoom(&user, 95) // 100 minutes later
	s.clock.Advance(61 * time.Minute)
	s.wantRoom(&user, 995)
	killed.Free(t.Context()) // has no further effect
	s.wantRoom(&user, 995)
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestRecount corrects the usage of an uploader, whose document is wrong or missing.
func TestRecount(t *testing.T) {
	t.Parallel()
	s, user := newService(t, testdb.Open(t), 1000), store.NewID()
	s.must(s.set(t.Context(), store.NewID(), &user, "12345"))
	usages := store.Open[usage](s.db, store.Spec{Name: "file-usage"})
	_, err := usages.UpdateByID(t.Context(), user, nil, store.Set("stored", int64(700)))
	s.must(err)
	s.wantRoom(&user, 300)
	s.day()
	s.wantRoom(&user, 995)
	_, err = usages.Delete(t.Context(), store.Eq("id", user))
	s.must(err)
	s.wantRoom(&user, 995)
}

// TestRecountBesideUpload corrects the usages between the steps of an upload on a server without transactions.
func TestRecountBesideUpload(t *testing.T) {
	t.Parallel()
	db := testdb.Separate(testdb.Open(t))
	var s *service
	recounted := false
	s, user := newService(t, testdb.Intercept(db, func(_ context.Context, c testdb.Call, do func() error) error {
		err := do()
		if c.Name == "Update files" && s != nil && s.attached() == 1 && !recounted {
			recounted = true
			s.sweep(0)
		}
		return err
	}), 1000), store.NewID()
	s.must(s.set(t.Context(), store.NewID(), &user, "12345"))
	if !recounted {
		t.Error("the usages were not corrected")
	}
	s.wantRoom(&user, 995)
}

// TestRestore restores a file that was released for a write that has failed.
func TestRestore(t *testing.T) {
	t.Parallel()
	failed, unknown := apperr.New(apperr.Conflict, "a"), apperr.New(apperr.Unavailable, "a")
	for name, test := range map[string]struct {
		cause error
		kept  bool // the record refers to the file
		room  int64
	}{
		"nothing was written":    {failed, true, 995},
		"another has written":    {failed, false, 1000},
		"the outcome is unknown": {unknown, true, 1000},
	} {
		s, id, user := newService(t, testdb.Open(t), 1000), store.NewID(), store.NewID()
		s.must(s.set(t.Context(), id, &user, "12345"))
		p, err := s.pages.Get(t.Context(), id)
		s.must(err)
		s.must(s.files.Release(t.Context(), p.Cover.ID))
		if !test.kept {
			s.must(s.pages.DeleteByID(t.Context(), id, nil))
		}
		r, err := s.files.Reserve(t.Context(), &user, 0) // of the request that has failed
		s.must(err)
		s.files.Restore(t.Context(), test.cause, p.Cover.ID)
		r.Free(t.Context())
		s.wantRoom(&user, test.room)
		s.day()
		s.wantRoom(&user, 1000-5*int64(s.stored()))
		if kept := s.stored() == 1; kept != test.kept {
			t.Errorf("%s: the file is stored: %v", name, kept)
		}
	}
}

// TestReleaseMany releases more files than one transaction: the sweep releases the rest.
func TestReleaseMany(t *testing.T) {
	t.Parallel()
	s := newService(t, testdb.Open(t), 0)
	rows := store.Open[fileRow](s.db, store.Spec{Name: "files"})
	ids := make([]store.ID, 510)
	for i := range ids {
		ids[i] = store.NewID()
		s.must(rows.Insert(t.Context(), fileRow{Meta: store.NewMeta(ids[i], store.At(s.clock.Now())), Collection: "pages"}))
	}
	s.must(s.db.Together(t.Context(), func(ctx context.Context) error { return s.files.Release(ctx, ids...) }))
	if n := s.attached(); n != 10 {
		t.Errorf("%d files are not released, want 10", n)
	}
	s.day()
	if n := s.count("files"); n != 0 {
		t.Errorf("%d rows, want none", n)
	}
}

// TestUsageOfNothing deletes the usage of an uploader without files, such as of a deleted user.
func TestUsageOfNothing(t *testing.T) {
	t.Parallel()
	s, user, other, page := newService(t, testdb.Open(t), 1000), store.NewID(), store.NewID(), store.NewID()
	s.must(s.set(t.Context(), page, &user, "12345"))
	s.must(s.set(t.Context(), store.NewID(), &other, "1"))
	s.must(s.delete(t.Context(), page))
	s.day()
	if n := s.count("file-usage"); n != 1 {
		t.Errorf("%d usages, want that of the other user", n)
	}
	s.must(s.set(t.Context(), page, &user, "12345"))
	s.wantRoom(&user, 995)
}

// TestReserveFails returns no Reservation if the database fails, so that Free does not wait for it, too. Without room, the Reservation
// can receive a file that is only compared.
func TestReserveFails(t *testing.T) {
	t.Parallel()
	s, user := newService(t, testdb.Open(t), 10), store.NewID()
	ended, end := context.WithCancel(t.Context())
	end()
	if r, err := s.files.Reserve(ended, &user, 1); r != nil || err == nil {
		t.Errorf("%v, %v; want an error only", r, err)
	}
	r, err := s.files.Reserve(t.Context(), &user, 11)
	if r == nil || !apperr.Is(err, apperr.QuotaExceeded) {
		t.Fatalf("%v, %v; want a Reservation and QuotaExceeded", r, err)
	}
	r.Free(t.Context())
	s.wantRoom(&user, 10)
}

type usage struct {
	store.Meta `bson:",inline"`
	Stored     int64 `json:"stored"`
}
