package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/mongo/mongotest"
)

// paper is a document with fields that a copy could change by mistake.
type paper struct {
	store.Meta `bson:",inline"`
	Title      string                 `json:"title"`
	Size       int64                  `json:"size"`
	Score      float64                `json:"score"`
	Ratio      *float64               `json:"ratio"`
	Due        *store.Time            `json:"due"`
	Owner      store.ID               `json:"owner"`
	Tags       []string               `json:"tags"`
	Labels     map[string]string      `json:"labels"`
	Deep       map[string]*inner      `json:"deep"`
	Parts      []inner                `json:"parts"`
	Short      string                 `json:"short,omitempty"`
	Kinds      map[string]map[int]any `json:"-"`
}

type inner struct {
	Note *string    `json:"note"`
	At   store.Time `json:"at"`
}

type plain struct {
	store.Meta `bson:",inline"`
	Name       string `json:"name"`
}

var noon = store.At(time.Date(2024, time.May, 17, 12, 0, 0, 123e6, time.UTC))

// specs are the collections of the tests. The collection nothing has no documents.
func specs() []store.Spec {
	var r Recorder
	store.Open[paper](&r, store.Spec{
		Name: "papers", Search: []string{"title"}, Indexes: []store.Index{{Fields: []string{"title"}, Unique: true}, {Fields: []string{"createdAt"}}},
	})
	for range 2 { // as two modules that share a collection
		store.Open[plain](&r, store.Spec{Name: "plain"})
	}
	store.Open[plain](&r, store.Spec{Name: "nothing", Indexes: []store.Index{{Fields: []string{"name"}}}})
	return r.Specs
}

// kinds returns, for each engine by name, a function that returns the address of a new, empty database.
func kinds(t *testing.T) map[string]func(t *testing.T) string {
	t.Helper()
	all := map[string]func(t *testing.T) string{
		"sqlite": func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "test.db") },
	}
	if !mongotest.Available() {
		t.Log("NOT TESTED against MongoDB: set TEST_MONGODB_URI, or run the tests with scripts/mongod")
		return all
	}
	all["mongodb"] = func(t *testing.T) string { return mongotest.New(t).String() }
	return all
}

// pairs runs a test for each pair of engines.
func pairs(t *testing.T, test func(t *testing.T, from, to string)) {
	for fromName, from := range kinds(t) {
		for toName, to := range kinds(t) {
			t.Run(fromName+" to "+toName, func(t *testing.T) {
				t.Parallel()
				test(t, from(t), to(t))
			})
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// with opens a database and calls use with it.
func with(t *testing.T, address string, use func(db store.DB)) {
	t.Helper()
	db, err := engines.Open(t.Context(), address)
	must(t, err)
	use(db)
	must(t, db.Close())
}

// papers opens and prepares the collections.
func papers(t *testing.T, db store.DB) (*store.Collection[paper], *store.Collection[plain]) {
	t.Helper()
	all, some := store.Open[paper](db, specs()[0]), store.Open[plain](db, specs()[1])
	db.Open(specs()[2])
	must(t, db.Prepare(t.Context()))
	return all, some
}

func newPaper(title string) paper {
	return paper{Meta: store.NewMeta(store.NewID(), noon), Title: title, Owner: store.NewID()}
}

// hard are papers whose values an engine could lose.
func hard() []paper {
	docs := []paper{newPaper("bare"), newPaper("empty"), newPaper("full"), newPaper("limits")}
	docs[1].Ratio, docs[1].Due = new(0.0), new(store.Time{})
	docs[1].Tags, docs[1].Labels, docs[1].Parts = []string{}, map[string]string{}, []inner{}
	docs[1].Deep = map[string]*inner{"": {}}
	docs[2].Size, docs[2].Score, docs[2].Ratio, docs[2].Due = 1<<53+1, 0.1+0.2, new(2.0), &noon
	docs[2].Tags, docs[2].Short = []string{"", "null", "日本語", "e\u0301", "a\x00b", "<&>\u2028"}, "s"
	docs[2].Labels = map[string]string{"app.kubernetes.io/name": "x", "$where": "$gt", "a%2Eb": "%", "ключ": "👩‍💻"}
	docs[2].Deep = map[string]*inner{"$a.b": {Note: new("n"), At: noon}, "c": {At: noon}}
	docs[2].Parts = []inner{{Note: new("")}, {At: noon}}
	docs[3].Size, docs[3].Score, docs[3].Ratio = math.MinInt64, math.MaxFloat64, new(5e-324)
	docs[3].Due = new(store.At(time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)))
	return docs
}

// fill creates a source with the documents of hard, a changed document, and many plain documents.
func fill(t *testing.T, address string, many int) {
	t.Helper()
	with(t, address, func(db store.DB) {
		all, some := papers(t, db)
		for _, d := range hard() {
			must(t, all.Insert(t.Context(), d))
		}
		changed := newPaper("to be changed")
		changed.Labels = map[string]string{"b": "", "a": "x"}
		must(t, all.Insert(t.Context(), changed))
		_, err := all.UpdateByID(t.Context(), changed.ID, nil, store.Set("title", "changed"), store.Set("ratio", 1), store.Unset("labels"), store.Set("due", noon))
		must(t, err)
		var docs []store.Document
		for i := range many {
			d := plain{store.NewMeta(store.NewID(), noon), fmt.Sprint("name ", i)}
			docs = append(docs, &d)
		}
		must(t, db.Open(specs()[1]).Load(t.Context(), docs))
		must(t, db.Prepare(t.Context()))
		n, err := some.Count(t.Context(), nil)
		must(t, err)
		if n != int64(many) {
			t.Fatalf("%d documents in the source", n)
		}
	})
}

// contents returns all documents of the declared collections.
func contents(t *testing.T, address string) (all []paper, some []plain) {
	t.Helper()
	with(t, address, func(db store.DB) {
		p, q := papers(t, db)
		var err error
		all, err = p.List(t.Context(), store.Query{})
		must(t, err)
		some, err = q.List(t.Context(), store.Query{})
		must(t, err)
	})
	return all, some
}

func wantSame(t *testing.T, from, to string) {
	t.Helper()
	papers, plains := contents(t, from)
	gotPapers, gotPlains := contents(t, to)
	if !reflect.DeepEqual(gotPapers, papers) {
		t.Errorf("the papers are\n%+v, want\n%+v", gotPapers, papers)
	}
	if !reflect.DeepEqual(gotPlains, plains) {
		t.Errorf("%d plain documents, want %d", len(gotPlains), len(plains))
	}
}

// run copies and returns the report.
func run(t *testing.T, o Options) (string, error) {
	t.Helper()
	var report bytes.Buffer
	o.Progress, o.Report = new(bytes.Buffer), &report
	if o.Specs == nil {
		o.Specs = specs()
	}
	err := Copy(t.Context(), o)
	return report.String(), err
}

func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Error("there is no error")
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error %q does not say %q", err, word)
		}
	}
}

func TestCopy(t *testing.T) {
	t.Parallel()
	pairs(t, func(t *testing.T, from, to string) {
		fill(t, from, 2*pageSize+pageSize/2)
		report, err := run(t, Options{From: from, To: to})
		must(t, err)
		for _, line := range []string{"papers ", " 5 ", "plain ", " 1,250 ", "nothing "} {
			if !strings.Contains(report, line) {
				t.Errorf("the report has no %q:\n%s", line, report)
			}
		}
		with(t, to, func(db store.DB) { // the state after the copy, before Prepare
			must(t, CheckFinished(t.Context(), db))
			names, err := db.Names(t.Context())
			must(t, err)
			if got := strings.Join(names, " "); got != "nothing papers plain" {
				t.Errorf("the target has %s", got)
			}
			all := store.Open[paper](db, specs()[0])
			if found, err := all.List(t.Context(), store.Query{Filter: store.Search("chang")}); err != nil || len(found) != 1 {
				t.Errorf("a search finds %v, %v", found, err)
			}
			if err := all.Insert(t.Context(), newPaper("bare")); !apperr.Is(err, apperr.Conflict) {
				t.Errorf("a title twice: %v", err)
			}
		})
		wantSame(t, from, to)
		back, err := run(t, Options{From: to, To: from, Replace: true})
		must(t, err)
		if back != report {
			t.Errorf("the way back reports\n%s, and the way there\n%s", back, report)
		}
	})
}

// TestNotEmpty checks that documents of the target are kept without --replace, and deleted with --replace.
func TestNotEmpty(t *testing.T) {
	t.Parallel()
	pairs(t, func(t *testing.T, from, to string) {
		fill(t, from, 3)
		var old plain
		with(t, to, func(db store.DB) {
			_, some := papers(t, db)
			old = plain{store.NewMeta(store.NewID(), noon), "old"}
			must(t, some.Insert(t.Context(), old))
		})
		_, err := run(t, Options{From: from, To: to})
		wantError(t, err, "is not empty", "plain", "--replace")
		if _, some := contents(t, to); len(some) != 1 || some[0] != old {
			t.Errorf("a rejected copy left %v", some)
		}
		_, err = run(t, Options{From: from, To: to, Replace: true})
		must(t, err)
		wantSame(t, from, to)
	})
}

// stops is the maximum number of interruptions in TestResume.
const stops = 12

// TestResume interrupts a copy at many points and starts it again.
func TestResume(t *testing.T) {
	t.Parallel()
	pairs(t, func(t *testing.T, from, to string) {
		fill(t, from, 3*pageSize+1)
		stopped := 0
		for i := range stops {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*i)*time.Millisecond)
			err := Copy(ctx, Options{From: from, To: to, Specs: specs(), Progress: new(bytes.Buffer), Report: new(bytes.Buffer)})
			cancel()
			if err == nil {
				break
			}
			if stopped++; ctx.Err() == nil {
				t.Fatal(err)
			}
			with(t, to, func(db store.DB) {
				if err := CheckFinished(t.Context(), db); err != nil {
					wantError(t, err, "unfinished copy of", "run the same copy command again")
				} else if names, err := db.Names(t.Context()); err != nil || len(names) > 0 {
					t.Errorf("no marker, and %v, %v", names, err)
				}
			})
		}
		if stopped == 0 {
			t.Error("no copy was stopped")
		}
		if _, err := run(t, Options{From: from, To: to}); err != nil && !strings.Contains(err.Error(), "is not empty") {
			t.Error(err)
		}
		wantSame(t, from, to)
	})
}

// TestStale changes the source between two runs of a copy. The second run fails, and the third run starts from the beginning.
func TestStale(t *testing.T) {
	t.Parallel()
	pairs(t, func(t *testing.T, from, to string) {
		fill(t, from, 10)
		with(t, to, func(db store.DB) {
			m, err := createMarker(t.Context(), db, engines.Redact(from))
			must(t, err)
			must(t, updateMarker(t.Context(), db, store.Set("emptied", true)))
			d := plain{store.NewMeta(m.ID, noon), "not in the source"}
			must(t, db.Open(specs()[1]).Load(t.Context(), []store.Document{&d}))
			wantError(t, CheckFinished(t.Context(), db), "unfinished")
		})
		_, err := run(t, Options{From: from, To: to})
		wantError(t, err, "differs", "plain", "(10 documents in the source", "same command again")
		with(t, to, func(db store.DB) { wantError(t, CheckFinished(t.Context(), db), "unfinished") })
		_, err = run(t, Options{From: from, To: to})
		must(t, err)
		wantSame(t, from, to)
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, fresh := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := fresh(t), fresh(t)
			_, err := run(t, Options{From: fresh(t), To: to})
			wantError(t, err, "the source")
			fill(t, from, 2)
			_, err = run(t, Options{From: from, To: from})
			wantError(t, err, "one database")
			_, err = run(t, Options{From: from, To: to, Specs: specs()[1:]})
			wantError(t, err, "papers", "--skip papers")
			_, err = run(t, Options{From: from, To: to, Skip: []string{"paper"}})
			wantError(t, err, `"paper"`)
			_, err = run(t, Options{From: from, To: "postgres://ada:secret@host/x"})
			if wantError(t, err, "postgres"); !errors.Is(err, engines.ErrAddress) || strings.Contains(err.Error(), "secret") {
				t.Error(err)
			}
			_, err = run(t, Options{From: from, To: "mongodb://ada:secret@127.0.0.1:1/x?serverSelectionTimeoutMS=50"})
			if wantError(t, err, "the target", "mongodb://127.0.0.1:1/x"); strings.Contains(err.Error(), "secret") {
				t.Error(err)
			}
			with(t, to, func(db store.DB) {
				if names, err := db.Names(t.Context()); err != nil || len(names) > 0 {
					t.Errorf("rejected copies left %v, %v", names, err)
				}
			})
			_, err = run(t, Options{From: from, To: to, Specs: specs()[1:], Skip: []string{"papers"}})
			must(t, err)
			all, some := contents(t, to)
			if len(all) != 0 || len(some) != 2 {
				t.Errorf("%d papers and %d others", len(all), len(some))
			}

			type less struct {
				store.Meta `bson:",inline"`
			}
			var r Recorder
			store.Open[less](&r, store.Spec{Name: "plain"})
			_, err = run(t, Options{From: from, To: fresh(t), Specs: r.Specs, Skip: []string{"papers", "nothing"}})
			wantError(t, err, "plain", some[1].ID.Hex(), `"name"`)

			half := fresh(t)
			with(t, half, func(db store.DB) {
				_, err := createMarker(t.Context(), db, "sqlite:elsewhere.db")
				must(t, err)
			})
			_, err = run(t, Options{From: from, To: half})
			wantError(t, err, "unfinished copy of sqlite:elsewhere.db", "--replace")
			_, err = run(t, Options{From: half, To: fresh(t)})
			wantError(t, err, "the source", "unfinished")
			_, err = run(t, Options{From: from, To: half, Replace: true})
			must(t, err)
			wantSame(t, from, half)
		})
	}
}

// TestOpenSource checks that a database that another process has open is not copied.
func TestOpenSource(t *testing.T) {
	t.Parallel()
	from := "sqlite:" + filepath.Join(t.TempDir(), "from.db")
	fill(t, from, 1)
	with(t, from, func(store.DB) {
		_, err := run(t, Options{From: from, To: "sqlite:" + filepath.Join(t.TempDir(), "to.db")})
		wantError(t, err, "the source", engines.Path(from), "open in another process")
	})
	missing := filepath.Join(t.TempDir(), "missing", "from.db")
	_, err := run(t, Options{From: "sqlite:" + missing, To: from})
	wantError(t, err, missing, "no such file")
	if _, err := os.Stat(filepath.Dir(missing)); err == nil {
		t.Error("it created the directory of the source")
	}
	// A symbolic link to the source is the same file.
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(engines.Path(from), link))
	_, err = run(t, Options{From: from, To: "sqlite:" + link, Replace: true})
	wantError(t, err, "one database")
}

// TestAlias checks that nothing is deleted if two addresses of a server name one database.
func TestAlias(t *testing.T) {
	t.Parallel()
	fresh := kinds(t)["mongodb"]
	if fresh == nil {
		t.Skip("needs a MongoDB")
	}
	from := fresh(t)
	fill(t, from, 2)
	u, err := url.Parse(from)
	must(t, err)
	u.Host = "localhost:" + u.Port()
	_, err = run(t, Options{From: from, To: u.String(), Replace: true})
	wantError(t, err, "one database")
	if all, some := contents(t, from); len(all) != 5 || len(some) != 2 {
		t.Errorf("%d papers and %d others are left", len(all), len(some))
	}
	with(t, from, func(db store.DB) { must(t, CheckFinished(t.Context(), db)) })
}
