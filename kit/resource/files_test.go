package resource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/migrate"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/clock"
	"example.com/ginseng/testkit/testdb"
)

// album is a record with files, under another.
type album struct {
	store.Meta `bson:",inline"`
	Title      string       `json:"title"`
	In         *store.ID    `json:"in"`
	Cover      *files.File  `json:"cover"`
	Shots      []files.File `json:"shots"`
}

func (a album) view() album { return a }

// library is a service with albums. Its calls of the database and of the storage go through a function.
type library struct {
	*testing.T
	albums  *Collection[album]
	files   *files.Files
	local   *files.Local
	clock   *clock.Clock
	db      store.DB
	through func(do func() error) error // nil: the calls are made
}

// at makes the calls that go through the function.
func (l *library) call(do func() error) error {
	if l.through == nil {
		return do()
	}
	return l.through(do)
}

func newLibrary(t *testing.T, db store.DB) *library {
	t.Helper()
	local, err := files.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &library{T: t, local: local, clock: clock.At(time.Now())}
	l.db = testdb.Intercept(db, func(_ context.Context, _ testdb.Call, do func() error) error { return l.call(do) })
	l.files = files.New(files.Options{DB: l.db, Store: throughStore{local, l}, TempDir: t.TempDir(), Now: l.clock.Now, Log: slog.New(slog.DiscardHandler)})
	l.albums = Open(l.deps(), store.Spec{Name: "albums", Indexes: []store.Index{{Fields: []string{"title"}, Unique: true}, {Fields: []string{"in"}}}}, album.view, Public, Public, ToSelf("in", Cascade))
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *library) deps() kit.Deps {
	return kit.Deps{DB: l.db, Now: l.clock.Now, Resources: &kit.Resources{}, Files: l.files}
}

// throughStore is a files.Store whose changes go through a library.
type throughStore struct {
	files.Store
	l *library
}

func (s throughStore) Put(ctx context.Context, id store.ID, from *os.File, size int64) error {
	return s.l.call(func() error { return s.Store.Put(ctx, id, from, size) })
}

func (s throughStore) Delete(ctx context.Context, id store.ID) error {
	return s.l.call(func() error { return s.Store.Delete(ctx, id) })
}

// upload returns a file that was received with a request.
func (l *library) upload(content string) *files.File {
	l.Helper()
	r, err := l.files.Reserve(l.Context(), nil, int64(len(content)))
	if err == nil {
		l.Cleanup(func() { r.Free(context.Background()) })
		var file *files.File
		if file, err = r.Receive(l.Context(), strings.NewReader(content), files.Field{Name: "cover", MaxBytes: 1000}, "a.txt", ""); err == nil {
			l.Cleanup(file.Discard)
			return file
		}
	}
	l.Fatal(err)
	return nil
}

func (l *library) newAlbum(title string) album {
	return album{Meta: store.NewMeta(store.NewID(), store.At(l.clock.Now())), Title: title}
}

func (l *library) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// create stores an album with files.
func (l *library) create(title string, in *store.ID) (a album, err error) {
	a = l.newAlbum(title)
	a.In, a.Cover, a.Shots = in, l.upload("cover of "+title), []files.File{*l.upload("first of " + title), *l.upload("second of " + title)}
	return a, l.albums.Create(l.Context(), access.Principal{Master: true}, a)
}

func (l *library) update(id store.ID, changes ...store.Change) (album, error) {
	return l.albums.Update(l.Context(), access.Principal{Master: true}, id, nil, changes...)
}

// read returns the bytes of a file.
func (l *library) read(file files.File) string {
	l.Helper()
	from, err := l.files.Open(l.Context(), file)
	l.must(err)
	defer func() { _ = from.Close() }()
	data, err := io.ReadAll(from)
	l.must(err)
	return string(data)
}

// day lets the time pass after which no file is stored that no record refers to.
func (l *library) day() {
	l.Helper()
	for _, d := range []time.Duration{time.Hour, 23 * time.Hour, 2 * time.Hour} {
		l.clock.Advance(d)
		for _, job := range l.files.Jobs() {
			l.must(job.Run(context.Background()))
		}
	}
}

// check fails the test unless each album has its files, now and after a day, when no other file may be stored. It returns the number
// of files.
func (l *library) check() (stored int) {
	l.Helper()
	l.checkStored()
	l.day()
	referred := l.checkStored()
	for id, err := range l.local.List(context.Background()) {
		l.must(err)
		if stored++; !referred[id] {
			l.Errorf("the file %s is left", id.Hex())
		}
	}
	rows, err := store.Open[store.Meta](l.db, store.Spec{Name: "files"}).Count(context.Background(), store.Ne("id", nil))
	l.must(err)
	if int(rows) != len(referred) {
		l.Errorf("%d rows of %d files", rows, len(referred))
	}
	return stored
}

// attached returns the number of files to which a record refers, by their rows.
func (l *library) attached() int64 {
	l.Helper()
	type row struct {
		store.Meta `bson:",inline"`
		Since      *store.Time `json:"since"`
	}
	n, err := store.Open[row](l.db, store.Spec{Name: "files"}).Count(l.Context(), store.Eq("since", nil))
	l.must(err)
	return n
}

func (l *library) checkStored() map[store.ID]bool {
	l.Helper()
	albums, err := l.albums.Unrestricted().List(context.Background(), store.Query{})
	l.must(err)
	referred := map[store.ID]bool{}
	for _, a := range albums {
		for _, file := range l.albums.filesOf(a) {
			referred[file.ID] = true
			if got := l.read(*file); len(got) != int(file.Size) {
				l.Errorf("%s: %q", a.Title, got)
			}
		}
	}
	return referred
}

// TestFiles changes the files of a record in each way.
func TestFiles(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, db store.DB) {
		l := newLibrary(t, db)
		a, err := l.create("one", nil)
		l.must(err)
		same, err := l.update(a.ID, store.Set("cover", l.upload("cover of one")), store.Set("title", "two"))
		l.must(err)
		if same.Version != 2 || same.Cover.ID != a.Cover.ID {
			t.Errorf("the same file again: %+v", same)
		}
		changed, err := l.update(a.ID, store.Set("cover", l.upload("new")), store.Set("shots", []files.File{*l.upload("third")}))
		l.must(err)
		if l.read(*changed.Cover) != "new" || len(changed.Shots) != 3 || l.read(changed.Shots[2]) != "third" {
			t.Errorf("%+v", changed)
		}
		if n := l.attached(); n != 4 {
			t.Errorf("%d files are attached", n)
		}
		if _, err := l.create("two", nil); !apperr.Is(err, apperr.Conflict) { // title is unique
			t.Error(err)
		}
		many := make([]files.File, files.MaxItems-2)
		for i := range many {
			many[i] = *l.upload(fmt.Sprint(i))
		}
		if _, err := l.update(a.ID, store.Set("shots", many)); !apperr.Is(err, apperr.Conflict) {
			t.Errorf("too many files: %v", err)
		}
		if n := l.check(); n != 4 {
			t.Errorf("%d files", n)
		}
		cleared, err := l.update(a.ID, store.Set("cover", (*files.File)(nil)), store.Set("shots", []files.File(nil)))
		l.must(err)
		if cleared.Cover != nil || len(cleared.Shots) > 0 || l.attached() != 0 {
			t.Errorf("%+v, %d files are attached", cleared, l.attached())
		}
		if n := l.check(); n != 0 {
			t.Errorf("%d files", n)
		}
	})
}

// TestCheckReadsFilesOnly compares the records with the storage, without those of collections that can have no files.
func TestCheckReadsFilesOnly(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, testdb.Before(testdb.Open(t), "List plain", func() { t.Error("the check reads records without files") }))
	Open(l.deps(), store.Spec{Name: "plain"}, func(m store.Meta) any { return m }, Public, Public)
	l.must(l.db.Prepare(t.Context()))
	if _, err := l.files.Check(t.Context(), time.Time{}, func(files.Finding) error { return nil }); err != nil {
		t.Error(err)
	}
}

// TestFilesInAtomic writes records with files in an Atomic, which is rolled back and repeated, as on MongoDB after a conflict.
func TestFilesInAtomic(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, testdb.Open(t))
	if err := l.db.Atomic(t.Context(), func(context.Context) error { return nil }); apperr.Is(err, apperr.NotSupported) {
		t.Skip("SKIPPED: the database has no transactions")
	}
	master := access.Principal{Master: true}
	a, err := l.create("one", nil)
	l.must(err)
	twice := func(write func(ctx context.Context) error) error {
		for _, failure := range []error{errKilled, nil} {
			err := l.db.Atomic(l.Context(), func(ctx context.Context) error { return cmp.Or(write(ctx), failure) })
			if !errors.Is(err, errKilled) {
				return err
			}
		}
		return nil
	}
	changes := []store.Change{store.Set("cover", l.upload("new")), store.Set("shots", []files.File{*l.upload("third")})}
	update := func(ctx context.Context) error {
		_, err := l.albums.Update(ctx, master, a.ID, nil, changes...)
		return err
	}
	b := l.newAlbum("two")
	b.Cover, b.Shots = l.upload("cover"), []files.File{*l.upload("first")}
	create := func(ctx context.Context) error { return l.albums.Create(ctx, master, b) }
	for _, write := range []func(context.Context) error{update, create} {
		if err := twice(write); err == nil || !strings.Contains(err.Error(), "StoreFiles") {
			t.Errorf("without StoreFiles: %v", err)
		}
	}
	l.must(l.albums.StoreFiles(l.Context(), master, a.ID, changes, func() error { return twice(update) }))
	l.must(l.albums.StoreFiles(l.Context(), master, b.ID, []store.Change{store.Set("cover", b.Cover), store.Set("shots", b.Shots)}, func() error { return twice(create) }))
	changes = []store.Change{store.Set("cover", l.upload("new"))} // changes nothing
	l.must(l.albums.StoreFiles(l.Context(), master, a.ID, changes, func() error { return twice(update) }))
	changes = []store.Change{store.Set("cover", l.upload("not stored"))}
	if err := l.albums.StoreFiles(l.Context(), master, a.ID, changes, func() error { return store.ErrStale }); !errors.Is(err, store.ErrStale) {
		t.Error("the error of the function is lost")
	}
	stored := 0
	for range l.local.List(l.Context()) {
		stored++
	}
	if n := l.check(); n != 6 || stored != 7 { // the replaced cover is deleted later
		t.Errorf("%d files, %d before the sweep", n, stored)
	}
}

// TestFailedReplacement replaces files in a change that then fails: the record keeps its files, also without transactions.
func TestFailedReplacement(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, db store.DB) {
		l := newLibrary(t, db)
		_, err := l.create("a", nil)
		l.must(err)
		b, err := l.create("b", nil)
		l.must(err)
		_, err = l.update(b.ID, store.Set("title", "a"), store.Set("cover", l.upload("new")), store.Set("shots", []files.File(nil)))
		if n := l.attached(); !apperr.Is(err, apperr.Conflict) || n != 6 {
			t.Errorf("%v, %d files are attached, want 6", err, n)
		}
		l.check()
	})
}

// TestAddFilesAtOnce adds files to a list concurrently.
func TestAddFilesAtOnce(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, testdb.Open(t))
	a := l.newAlbum("a")
	l.must(l.albums.Create(t.Context(), access.Principal{Master: true}, a))
	errs := make(chan error)
	for i := range files.MaxItems + 5 {
		file := l.upload(fmt.Sprint(i))
		go func() {
			_, err := l.update(a.ID, store.Set("shots", []files.File{*file}))
			errs <- err
		}()
	}
	conflicts := 0
	for range files.MaxItems + 5 {
		if err := <-errs; apperr.Is(err, apperr.Conflict) {
			conflicts++
		} else {
			l.must(err)
		}
	}
	if n := l.check(); n != files.MaxItems || conflicts != 5 {
		t.Errorf("%d files, %d conflicts", n, conflicts)
	}
}

var errKilled = errors.New("killed")

// TestFilesAfterKill stops each change of files after every call of the database and of the storage, with and without the call. Later,
// each record has its files, and no other file is stored.
func TestFilesAfterKill(t *testing.T) {
	t.Parallel()
	testdb.SQLiteOnly(t)
	changes := map[string]func(l *library, a album) error{
		"create": func(l *library, a album) error { _, err := l.create("new of "+a.Title, nil); return err },
		"replace": func(l *library, a album) error {
			_, err := l.update(a.ID, store.Set("cover", l.upload("new")))
			return err
		},
		"add": func(l *library, a album) error {
			_, err := l.update(a.ID, store.Set("shots", []files.File{*l.upload("new")}))
			return err
		},
		"clear": func(l *library, a album) error {
			_, err := l.update(a.ID, store.Set("shots", []files.File(nil)))
			return err
		},
		"delete": func(l *library, a album) error {
			return l.albums.Delete(l.Context(), access.Principal{Master: true}, a.ID, nil)
		},
		"cascade": func(l *library, a album) error {
			return l.albums.Delete(l.Context(), access.Principal{Master: true}, *a.In, nil)
		},
	}
	for name, change := range changes {
		for _, made := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, the last call is made: %v", name, made), func(t *testing.T) {
				t.Parallel()
				testdb.Each(t, func(t *testing.T, db store.DB) {
					l := newLibrary(t, db)
					steps := 0
					for killed := true; killed; steps++ {
						killed = l.kill(steps, made, change)
					}
					if steps < 5 {
						t.Errorf("only %d steps", steps)
					}
					l.check()
				})
			})
		}
	}
}

// kill stops a change of an album with files in its call n. It returns false if the change has ended before.
func (l *library) kill(n int, made bool, change func(*library, album) error) (killed bool) {
	l.Helper()
	parent := l.newAlbum(fmt.Sprint("parent ", n))
	l.must(l.albums.Create(l.Context(), access.Principal{Master: true}, parent))
	a, err := l.create(fmt.Sprint("child ", n), &parent.ID)
	l.must(err)
	calls := 0
	l.through = func(do func() error) error {
		calls++
		switch {
		case killed, calls > n && !made:
			killed = true
			return errKilled
		case calls > n && made:
			err := do()
			killed = true
			return cmp.Or(err, errKilled)
		}
		return do()
	}
	err = change(l, a)
	l.through = nil
	if (err != nil) != killed {
		l.Errorf("step %d: killed %v, %v", n, killed, err)
	}
	return killed
}

// TestMigratedFiles renames and drops fields with files, as the generator does. A dropped field loses its files.
func TestMigratedFiles(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, testdb.Open(t))
	var kept []store.ID
	_, err := l.create("a", nil)
	l.must(err)
	type book struct {
		store.Meta `bson:",inline"`
		Photo      *files.File `json:"photo"`
	}
	books := Open(l.deps(), store.Spec{Name: "albums"}, func(b book) book { return b }, Public, Public)
	runner := migrate.New(l.db, l.clock.Now, migrate.Migration{Name: "albums-1", Collection: books.Engine(), Steps: []migrate.Step{
		migrate.Rename("cover", "photo"), migrate.Drop("shots"),
	}})
	l.must(l.db.Prepare(t.Context()))
	pending, err := runner.Pending(t.Context())
	l.must(err)
	l.must(runner.Run(t.Context(), pending))
	l.day()
	for id, err := range l.local.List(t.Context()) {
		l.must(err)
		kept = append(kept, id)
	}
	all, err := books.Unrestricted().List(t.Context(), store.Query{})
	l.must(err)
	if got := l.read(*all[0].Photo); got != "cover of a" || !slices.Equal(kept, []store.ID{all[0].Photo.ID}) {
		t.Errorf("the photo is %q, and the files are %v", got, kept)
	}
}
