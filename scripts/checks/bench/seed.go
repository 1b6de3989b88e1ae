package main

import (
	"context"
	"encoding/base64"
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

// dataset is a database with articles, and the IDs in it that the rows need.
type dataset struct {
	file    string   // path of the database
	Authors []string // IDs of the authors
	IDs     []string // IDs of articles that are spread over the list
	Writers []int    // the author of each of these articles, as an index of Authors
}

// authors write the articles in turn.
const authors = 20

// depth is the page that is read by cursor; the last page if there are fewer.
const depth = 1000

const (
	pageSize   = 30
	manyIDs    = 500
	loadSize   = 1000 // articles per transaction
	rareHits   = 20   // articles with the rare word
	vocabulary = 5000 // number of different words
)

// The words of the searches: in every second article, in every third, in rareHits articles.
const (
	commonWord = "ginseng"
	secondWord = "harvest"
	rareWord   = "quaking"
)

// article is a stored article.
type article struct {
	store.Meta
	fields
	UserID store.ID `json:"userId"`
}

// fields are the fields that clients set.
type fields struct {
	Title   string `json:"title"`
	Content string `json:"content"`
}

// newFields returns the fields of the i-th of n articles: always the same for i, about 400 bytes, with few frequent and many
// rare words, as in a language.
func newFields(i, n int) fields {
	random := rand.New(rand.NewPCG(uint64(i), 1))
	var text strings.Builder
	text.Grow(400)
	if i%2 == 0 {
		text.WriteString(commonWord + " ")
	}
	if i%3 == 0 {
		text.WriteString(secondWord + " ")
	}
	if i%max(1, n/rareHits) == 0 {
		text.WriteString(rareWord + " ")
	}
	for text.Len() < 360 {
		text.WriteString(words[random.IntN(len(words))])
		text.WriteByte(' ')
	}
	return fields{fmt.Sprintf("Article %d about %s", i, word(i%vocabulary)), strings.TrimSpace(text.String())}
}

// words has each word in proportion to its frequency in texts. A random element of it is much faster to get than a random
// number with that distribution.
var words = func() []string {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 1)), 1.1, 10, vocabulary-1)
	drawn := make([]string, 1<<16)
	for i := range drawn {
		drawn[i] = word(int(zipf.Uint64()))
	}
	return drawn
}()

// word returns the n-th word, of two to five syllables.
func word(n int) string {
	const consonants, vowels = "bdfghklmnprstvz", "aeiou"
	var text strings.Builder
	for n += len(consonants) * len(vowels); n > 0; n /= len(consonants) * len(vowels) {
		text.WriteByte(consonants[n%len(consonants)])
		text.WriteByte(vowels[n/len(consonants)%len(vowels)])
	}
	return text.String()
}

// seed returns a database of n articles and creates it if it is missing or incomplete: the service creates the authors,
// store.Engine.Load stores the articles, and the service creates the indexes and the search words when it starts.
func seed(ctx context.Context, o options, n int, stderr io.Writer) (*dataset, error) {
	set := &dataset{file: filepath.Join(o.dir, fmt.Sprintf("articles-%d.db", n))}
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
	s, err := startService(ctx, o.binary, set.file)
	if err != nil {
		return nil, err
	}
	set.Authors, err = s.createAuthors()
	s.stop()
	if err != nil {
		return nil, err
	}
	if err := set.load(ctx, n, stderr); err != nil {
		return nil, err
	}
	bar := progress.Start(stderr, "creating indexes", "", -1)
	_, err = startUp(ctx, o.binary, set.file)
	bar.Stop()
	if err != nil {
		return nil, err
	}
	took := time.Since(begun)
	fmt.Fprintf(stderr, "created %s articles in %s, %s per second\n", thousands(n), took.Round(time.Second), thousands(int(float64(n)/took.Seconds())))
	text, err := json.Marshal(set)
	if err != nil {
		return nil, err
	}
	return set, os.WriteFile(index, text, 0o600)
}

// createAuthors creates the accounts of the authors and returns their ids.
func (s *service) createAuthors() ([]string, error) {
	ids := make([]string, authors)
	for i := range ids {
		var user struct{ ID string }
		account := fmt.Sprintf(`{"access_token":%q,"email":%q,"password":%q}`, masterKey, email(i), password)
		if err := s.call("POST", "/users", "", account, &user); err != nil {
			return nil, err
		}
		ids[i] = user.ID
	}
	return ids, nil
}

// email returns the email address of an author.
func email(author int) string { return fmt.Sprintf("author%d@example.com", author) }

// basic returns the credentials of an author.
func basic(author int) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(email(author)+":"+password))
}

// masterKeyBody is the body of a sign-in.
const masterKeyBody = `{"access_token":"` + masterKey + `"}`

// signIn gets new tokens for the authors, and a key for the first.
func (s *service) signIn() error {
	s.tokens = make([]string, authors)
	for i := range s.tokens {
		var session struct{ Token string }
		if err := s.call("POST", "/auth", basic(i), masterKeyBody, &session); err != nil {
			return err
		}
		s.tokens[i] = session.Token
	}
	return s.createKey()
}

// createKey creates an API key that expires soon: the database is used again, and an author can have 50 keys.
func (s *service) createKey() error {
	soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	var created struct{ Key string }
	err := s.call("POST", "/users/me/api-keys", basic(0), `{"name":"bench","scopes":["*:read"],"expiresAt":"`+soon+`"}`, &created)
	s.key = created.Key
	return err
}

// load stores n articles, created a millisecond apart until now.
func (set *dataset) load(ctx context.Context, n int, stderr io.Writer) (err error) {
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
		go func() { // beside the creation of the next articles
			err := engine.Load(ctx, docs)
			bar.Add(int64(len(docs)))
			loaded <- err
		}()
	}
	return <-loaded
}

// newArticles returns the articles from one to another of n, and adds some of them to the dataset.
func (set *dataset) newArticles(first time.Time, from, to, n int) (docs []store.Document) {
	for i := from; i < to; i++ {
		writer := rand.IntN(authors)
		a := article{Meta: store.NewMeta(store.NewID(), store.At(first.Add(time.Duration(i)*time.Millisecond))), fields: newFields(i, n)}
		a.UserID, _ = store.ParseID(set.Authors[writer])
		if i%(n/manyIDs) == 0 {
			set.IDs, set.Writers = append(set.IDs, a.ID.Hex()), append(set.Writers, writer)
		}
		docs = append(docs, a)
	}
	return docs
}

// prepare signs the authors in and finds the cursor of the page at depth.
func (s *service) prepare(ctx context.Context) error {
	if err := s.signIn(); err != nil {
		return err
	}
	const limit = 100
	var existing struct{ Count int }
	if err := s.call("GET", "/articles?limit=1", "", "", &existing); err != nil {
		return err
	}
	for rows := min((depth-1)*pageSize, existing.Count-2*pageSize); rows > 0; rows -= limit {
		var page struct{ Next string }
		path := fmt.Sprintf("/articles?count=false&fields=id&limit=%d&after=%s", min(limit, rows), s.cursor)
		if err := s.call("GET", strings.TrimSuffix(path, "&after="), "", "", &page); err != nil {
			return err
		}
		s.cursor = page.Next
	}
	return ctx.Err()
}
