package article

import (
	"reflect"
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/testkit/testdb"
)

// newService opens the service on a database of its own.
func newService(t *testing.T) *Service {
	t.Helper()
	db := testdb.Open(t)
	s := &Service{
		articles: store.Open[Article](db, storeSpec()),
		now:      time.Now,
	}
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// user is a caller who is no admin.
func user() access.Principal {
	return access.Principal{UserID: store.NewID(), Role: access.RoleUser}
}

// add stores an article of the author's.
func add(t *testing.T, s *Service, author access.Principal) Article {
	t.Helper()
	record := Article{
		Meta:    store.NewMeta(store.NewID(), store.At(time.Now())),
		Title:   "amber",
		Content: "daisy",
		UserID:  author.UserID,
	}
	if err := s.articles.Insert(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	return record
}

// expect fails unless the record is stored as it is wanted.
func expect(t *testing.T, s *Service, want Article) {
	t.Helper()
	if got, err := s.articles.Get(t.Context(), want.ID); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v is stored, %v; want %+v", got, err, want)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	s := newService(t)
	now := time.Now()
	s.now = func() time.Time { return now }
	in := CreateInput{
		Title:   "amber",
		Content: "daisy",
	}
	author := user()
	got, err := s.Create(t.Context(), author, in)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, s, in.document(store.NewMeta(got.ID, store.At(now)), author.UserID))
	expect(t, s, got)
}

func TestGet(t *testing.T) {
	t.Parallel()
	s := newService(t)
	record := add(t, s, user())
	if got, err := s.Get(t.Context(), record.ID); err != nil || !reflect.DeepEqual(got, record) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.Get(t.Context(), store.NewID()); !apperr.Is(err, apperr.NotFound) {
		t.Errorf("an unknown one: %v", err)
	}
}

func TestListOfOne(t *testing.T) {
	t.Parallel()
	s := newService(t)
	record := add(t, s, user())
	q, err := listing.NewLister(spec(), listing.NewCursors("secret")).Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.List(t.Context(), q)
	if err != nil || *page.Count != 1 || !reflect.DeepEqual(page.Rows, []View{record.View()}) || page.Next != "" {
		t.Errorf("%+v, %v", page, err)
	}
}

// TestUpdate changes each field alone: nothing else changes but the version and updatedAt.
func TestUpdate(t *testing.T) {
	t.Parallel()
	s := newService(t)
	author := user()
	want := add(t, s, author)
	for _, test := range []struct {
		name string
		in   UpdateInput
		set  func(*Article)
	}{
		{"title", UpdateInput{Title: new("birch")}, func(record *Article) { record.Title = "birch" }},
		{"content", UpdateInput{Content: new("elder")}, func(record *Article) { record.Content = "elder" }},
		{"no content", UpdateInput{Content: new("")}, func(record *Article) { record.Content = "" }},
	} {
		now := want.UpdatedAt.Add(time.Second)
		s.now = func() time.Time { return now }
		want.Version++
		want.UpdatedAt = store.At(now)
		test.set(&want)
		got, err := s.Update(t.Context(), author, want.ID, nil, test.in)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", test.name, got, err, want)
		}
		expect(t, s, want)
	}
	if got, err := s.Update(t.Context(), author, want.ID, nil, UpdateInput{}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("nothing: %+v, %v", got, err)
	}
	expect(t, s, want)
}

// TestOwner has others than the author ask for a change.
func TestOwner(t *testing.T) {
	t.Parallel()
	s := newService(t)
	author := user()
	record := add(t, s, author)
	admin := access.Principal{UserID: store.NewID(), Role: access.RoleAdmin}
	for _, other := range []access.Principal{user(), {}, {Master: true}} {
		if _, err := s.Update(t.Context(), other, record.ID, nil, UpdateInput{}); !apperr.Is(err, apperr.Forbidden) {
			t.Errorf("%+v changes it: %v", other, err)
		}
		if err := s.Delete(t.Context(), other, record.ID, nil); !apperr.Is(err, apperr.Forbidden) {
			t.Errorf("%+v deletes it: %v", other, err)
		}
	}
	expect(t, s, record)
	for _, caller := range []access.Principal{author, admin} {
		if got, err := s.Update(t.Context(), caller, record.ID, nil, UpdateInput{Title: new("birch")}); err != nil || got.UserID != author.UserID {
			t.Errorf("%+v does not change it: %+v, %v", caller, got, err)
		}
	}
	if err := s.Delete(t.Context(), admin, record.ID, nil); err != nil {
		t.Errorf("an admin does not delete it: %v", err)
	}
}

// TestExpected asks for changes of a version that the record has, and of one that it has not.
func TestExpected(t *testing.T) {
	t.Parallel()
	s := newService(t)
	author := user()
	record := add(t, s, author)
	stale := store.Versions{record.Version + 1}
	in := UpdateInput{Title: new("birch")}
	if _, err := s.Update(t.Context(), author, record.ID, stale, in); !apperr.Is(err, apperr.PreconditionFailed) {
		t.Errorf("a change of another version: %v", err)
	}
	if _, err := s.Update(t.Context(), author, record.ID, stale, UpdateInput{}); !apperr.Is(err, apperr.PreconditionFailed) {
		t.Errorf("no change of another version: %v", err)
	}
	if _, err := s.Update(t.Context(), author, store.NewID(), nil, in); !apperr.Is(err, apperr.NotFound) {
		t.Errorf("a change of an unknown one: %v", err)
	}
	if err := s.Delete(t.Context(), author, record.ID, stale); !apperr.Is(err, apperr.PreconditionFailed) {
		t.Errorf("a deletion of another version: %v", err)
	}
	expect(t, s, record)
	if got, err := s.Update(t.Context(), author, record.ID, store.Versions{record.Version}, in); err != nil || got.Version != record.Version+1 {
		t.Errorf("a change of this version: %+v, %v", got, err)
	}
	if err := s.Delete(t.Context(), author, record.ID, nil); err != nil {
		t.Errorf("a deletion: %v", err)
	}
	if err := s.Delete(t.Context(), author, record.ID, nil); !apperr.Is(err, apperr.NotFound) {
		t.Errorf("a second deletion: %v", err)
	}
}

// TestWriters has many change and delete one version of an article at once: one wins.
func TestWriters(t *testing.T) {
	t.Parallel()
	s := newService(t)
	author := user()
	record := add(t, s, author)
	const writers = 20
	expected := store.Versions{record.Version}
	errs := make(chan error, writers)
	for range writers / 2 {
		go func() {
			errs <- s.Delete(t.Context(), author, record.ID, expected)
		}()
	}
	for range writers / 2 {
		go func() {
			in := UpdateInput{Title: new("birch")}
			_, err := s.Update(t.Context(), author, record.ID, expected, in)
			errs <- err
		}()
	}
	won := 0
	for range writers {
		switch err := <-errs; {
		case err == nil:
			won++
		case !apperr.Is(err, apperr.PreconditionFailed) && !apperr.Is(err, apperr.NotFound):
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d of %d won", won, writers)
	}
}
