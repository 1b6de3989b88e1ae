package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/ginseng/kit/progress"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/sqlite"
)

// dataset is a database with articles, and the data that the rows need.
type dataset struct {
	file    string   // path of the database
	Authors []string // IDs of the authors
	Records []record // articles in random order, spread over the list
}

// record is an article of a dataset, or of the peer.
type record struct {
	ID     string
	Author int // index of the author
}

// position identifies the record of a list after which a page starts.
type position struct{ ID, CreatedAt string }

// authors is the number of accounts that write the articles.
const authors = 20

// depth is the number of the page that is read by cursor. If there are fewer pages, the last page is read.
const depth = 1000

const (
	pageSize   = 30
	maxRecords = 20_000  // approximate length of dataset.Records; four times as many as the service keeps in memory
	maxPosted  = 200_000 // largest number of articles that are created one by one
	loadSize   = 1000    // articles per transaction of Load
)

// isRecord reports whether the i-th of n articles is one of dataset.Records.
func isRecord(i, n int) bool { return i%max(1, n/maxRecords) == 0 }

// authorOf returns the author of the i-th article.
func authorOf(i int) int { return rand.New(rand.NewPCG(uint64(i), 2)).IntN(authors) }

// article is a stored article.
type article struct {
	store.Meta
	fields
	UserID store.ID `json:"userId"`
}

// seed returns a database of n articles. If the database is missing or incomplete, seed creates it. The service creates the
// authors and, by POST /articles, the articles. If bulk is true, or n exceeds maxPosted, store.Engine.Load stores the articles,
// and the service creates the indexes and the search words when it starts.
func seed(ctx context.Context, o options, n int, bulk bool, stderr io.Writer) (*dataset, error) {
	name := fmt.Sprintf("articles-%d", n)
	if bulk {
		name += "-bulk"
	}
	set := &dataset{file: filepath.Join(o.dir, name+".db")}
	index := set.file + ".json" // exists if the database is complete
	if text, err := os.ReadFile(index); err == nil {
		return set, json.Unmarshal(text, set)
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return nil, err
	}
	for _, incomplete := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(set.file + incomplete); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	begun := time.Now()
	create := set.post
	if bulk || n > maxPosted {
		create = set.load
	}
	if err := create(ctx, o.binary, n, stderr); err != nil {
		return nil, err
	}
	rand.Shuffle(len(set.Records), func(i, j int) { set.Records[i], set.Records[j] = set.Records[j], set.Records[i] })
	took := time.Since(begun)
	fmt.Fprintf(stderr, "created %s articles in %s, %s per second\n", thousands(n), took.Round(time.Second), thousands(int(float64(n)/took.Seconds())))
	text, err := json.Marshal(set)
	if err != nil {
		return nil, err
	}
	return set, os.WriteFile(index, text, 0o600)
}

// post creates the authors and n articles by requests to the service.
func (set *dataset) post(ctx context.Context, binary string, n int, stderr io.Writer) error {
	s, err := startService(ctx, binary, set.file)
	if err != nil {
		return err
	}
	defer s.stop()
	return set.fill(ctx, s, n, stderr)
}

// fill creates the authors and n articles by requests to the running service, and signs the authors in.
func (set *dataset) fill(ctx context.Context, s *service, n int, stderr io.Writer) (err error) {
	if set.Authors, err = s.createAuthors(); err != nil {
		return err
	}
	if err := s.signIn(); err != nil {
		return err
	}
	requests := func(i int) []byte { return creation(s.tokens[authorOf(i)], newFields(i, n)) }
	return fill(ctx, s.addr, 0, n, requests, stderr, func(i int, id string) {
		if isRecord(i, n) {
			set.Records = append(set.Records, record{id, authorOf(i)})
		}
	})
}

// load creates the authors by requests to the service, and stores n articles, whose creation times are a millisecond apart. It
// then starts the service, which creates the indexes.
func (set *dataset) load(ctx context.Context, binary string, n int, stderr io.Writer) error {
	s, err := startService(ctx, binary, set.file)
	if err != nil {
		return err
	}
	set.Authors, err = s.createAuthors()
	s.stop()
	if err != nil {
		return err
	}
	if err := set.store(ctx, n, stderr); err != nil {
		return err
	}
	bar := progress.Start(stderr, "creating indexes", "", -1)
	defer bar.Stop()
	if s, err = startService(ctx, binary, set.file); err != nil {
		return err
	}
	s.stop()
	return nil
}

// store stores n articles with store.Engine.Load.
func (set *dataset) store(ctx context.Context, n int, stderr io.Writer) (err error) {
	db, err := sqlite.Open(ctx, set.file, sqlite.Options{Existing: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	engine := db.Open(store.Spec{Name: "articles"})
	bar := progress.Start(stderr, "creating articles", "articles", int64(n))
	defer bar.Stop()
	loaded := make(chan error, 1)
	loaded <- nil
	first := time.Now().Add(-time.Duration(n) * time.Millisecond)
	for from := 0; from < n; from += loadSize {
		docs := set.newArticles(first, from, min(from+loadSize, n), n)
		if err := <-loaded; err != nil {
			return err
		}
		go func() { // while the next articles are created
			err := engine.Load(ctx, docs)
			bar.Add(int64(len(docs)))
			loaded <- err
		}()
	}
	return <-loaded
}

// newArticles returns those of n articles whose number is at least from and less than to. It adds some of the articles to
// set.Records.
func (set *dataset) newArticles(first time.Time, from, to, n int) (docs []store.Document) {
	for i := from; i < to; i++ {
		a := article{Meta: store.NewMeta(store.NewID(), store.At(first.Add(time.Duration(i)*time.Millisecond))), fields: newFields(i, n)}
		a.UserID, _ = store.ParseID(set.Authors[authorOf(i)])
		if isRecord(i, n) {
			set.Records = append(set.Records, record{a.ID.Hex(), authorOf(i)})
		}
		docs = append(docs, a)
	}
	return docs
}

// prepare signs the authors in, creates an API key, stores pictures, and finds the admin page, the cursor of page depth and the
// position of the cursor.
func (s *service) prepare(ctx context.Context) error {
	if err := errors.Join(s.signIn(), s.createKey(), s.storePictures(), s.findPage()); err != nil {
		return err
	}
	const limit = 100
	var existing struct{ Count int }
	if err := s.call("GET", "/articles?limit=1", "", "", &existing); err != nil {
		return err
	}
	for rows := min((depth-1)*pageSize, existing.Count-2*pageSize); rows > 0; rows -= limit {
		var page struct {
			Rows []position
			Next string
		}
		path := fmt.Sprintf("/articles?count=false&fields=id,createdAt&limit=%d&after=%s", min(limit, rows), s.cursor)
		if err := s.call("GET", strings.TrimSuffix(path, "&after="), "", "", &page); err != nil {
			return err
		}
		s.cursor, s.last = page.Next, page.Rows[len(page.Rows)-1]
	}
	return ctx.Err()
}
