package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// dataset is a seeded database and what the rows ask of it.
type dataset struct {
	file     string // of the database
	Articles int
	Author   string         // id of the first author
	IDs      []string       // of articles of the first author, all over the list
	Cursors  map[int]string // by the number of the page they lead to; the deepest where there are not so many
}

// authors write the articles in turn.
const authors = 20

// depths are the pages of 30 that are read by a cursor.
var depths = []int{10, 1000, 30_000}

const (
	pageSize   = 30
	walkSize   = 100 // rows read at once on the way to the cursors
	manyIDs    = 1000
	seeders    = 128  // connections that create articles: the more wait, the more share a commit
	rareHits   = 20   // articles that the rare word finds
	vocabulary = 5000 // words that the texts are made of
)

// The words that the searches look for: in every second article, in every third, in rareHits.
const (
	commonWord = "ginseng"
	secondWord = "harvest"
	rareWord   = "quaking"
)

// article makes the i-th of n articles: the same each time, of about 400 bytes, in words of which few are frequent and
// most are rare, as in a language.
func article(i, n int) string {
	random := rand.New(rand.NewPCG(uint64(i), 1))
	zipf := rand.NewZipf(random, 1.1, 10, vocabulary-1)
	var text strings.Builder
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
		text.WriteString(word(int(zipf.Uint64())))
		text.WriteByte(' ')
	}
	content := strings.TrimSpace(text.String())
	return fmt.Sprintf(`{"title":"Article %d about %s","content":"%s"}`, i, word(i%vocabulary), content)
}

// word makes the n-th word of a language that has two to five syllables in each.
func word(n int) string {
	const consonants, vowels = "bdfghklmnprstvz", "aeiou"
	var text strings.Builder
	for n += len(consonants) * len(vowels); n > 0; n /= len(consonants) * len(vowels) {
		text.WriteByte(consonants[n%len(consonants)])
		text.WriteByte(vowels[n/len(consonants)%len(vowels)])
	}
	return text.String()
}

// seed returns a database of n articles, and makes it if it is not there. What an earlier run left half done is gone on
// with.
func seed(ctx context.Context, o options, n int, stderr io.Writer) (*dataset, error) {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return nil, err
	}
	set := &dataset{file: filepath.Join(o.dir, fmt.Sprintf("articles-%d.db", n)), Articles: n}
	if text, err := os.ReadFile(set.places()); err == nil {
		return set, json.Unmarshal(text, set)
	}
	s, err := startService(ctx, o.binary, set.file)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	return set, s.create(ctx, n, stderr)
}

// places is the file that keeps a dataset's ids and cursors, and shows that its database is whole.
func (set *dataset) places() string { return set.file + ".json" }

// prepare finds the articles and cursors that the rows ask for, if they are not known, or no longer good: the service
// may write its cursors in another way than when they were kept.
func (s *service) prepare(ctx context.Context, stderr io.Writer) error {
	if err := s.signIn(); err != nil {
		return err
	}
	good := len(s.data.IDs) > 0
	for _, cursor := range s.data.Cursors {
		if _, _, err := ask(s.addr, request("GET", "/articles?count=false&after="+cursor, "", "")); err != nil {
			good = false
		}
	}
	if good {
		return nil
	}
	if err := s.walk(ctx, stderr); err != nil {
		return err
	}
	text, err := json.Marshal(s.data)
	if err != nil {
		return err
	}
	return os.WriteFile(s.data.places(), text, 0o600)
}

// tokenOf signs an author in, whose account is made if it is missing.
func (s *service) tokenOf(author int) (string, error) {
	email := fmt.Sprintf("author%d@example.com", author)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(email+":"+password))
	var result struct{ Token string }
	signIn := func() error {
		return s.call("POST", "/auth", basic, `{"access_token":"`+masterKey+`"}`, &result)
	}
	if err := signIn(); err == nil {
		return result.Token, nil
	}
	account := fmt.Sprintf(`{"access_token":%q,"email":%q,"password":%q}`, masterKey, email, password)
	err := s.call("POST", "/users", "", account, &struct{}{})
	if err == nil {
		err = signIn()
	}
	return result.Token, err
}

// create creates what is missing of n articles.
func (s *service) create(ctx context.Context, n int, stderr io.Writer) error {
	tokens := make([]string, authors)
	for i := range tokens {
		var err error
		if tokens[i], err = s.tokenOf(i); err != nil {
			return err
		}
	}
	var there struct{ Count int }
	if err := s.call("GET", "/articles?limit=1", "", "", &there); err != nil {
		return err
	}
	var next, made atomic.Int64
	next.Store(int64(there.Count))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, seeders)
	for range seeders {
		go func() {
			err := s.createSome(ctx, tokens, n, &next, &made)
			if err != nil {
				cancel()
			}
			failed <- err
		}()
	}
	show := newProgress(stderr, fmt.Sprintf("seeding %s articles", thousands(n)), n-there.Count)
	var err error
	for range seeders {
		err = errors.Join(err, show.wait(failed, &made))
	}
	return err
}

func (s *service) createSome(ctx context.Context, tokens []string, n int, next, made *atomic.Int64) error {
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		i := int(next.Add(1)) - 1
		if i >= n || ctx.Err() != nil {
			return ctx.Err()
		}
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		if _, err := conn.Write(request("POST", "/articles", "Bearer "+tokens[i%authors], article(i, n))); err != nil {
			return err
		}
		status, err := skipAnswer(in)
		if err != nil {
			return err
		}
		if status != http.StatusCreated {
			return fmt.Errorf("an article was answered with %d", status)
		}
		made.Add(1)
	}
}

// walk reads the list from cursor to cursor and keeps those that the rows need, and ids on the way.
func (s *service) walk(ctx context.Context, stderr io.Writer) error {
	set := s.data
	var user struct{ ID string }
	if err := s.call("GET", "/users/me", "Bearer "+s.token, "", &user); err != nil {
		return err
	}
	set.Author, set.IDs, set.Cursors = user.ID, nil, make(map[int]string)
	var passed atomic.Int64
	show := newProgress(stderr, fmt.Sprintf("walking %s articles", thousands(set.Articles)), set.Articles)
	step := func(limit int, after string) (string, error) {
		var page struct {
			Rows []struct{ ID, UserID string }
			Next string
		}
		path := fmt.Sprintf("/articles?count=false&fields=userId&limit=%d", limit)
		if after != "" {
			path += "&after=" + after
		}
		if err := s.call("GET", path, "", "", &page); err != nil {
			return "", err
		}
		for _, row := range page.Rows {
			if row.UserID == set.Author && passed.Add(1)%int64(max(1, set.Articles/authors/manyIDs)) == 0 {
				set.IDs = append(set.IDs, row.ID)
			}
		}
		return page.Next, ctx.Err()
	}
	done, after := 0, ""
	for _, depth := range depths {
		rows := min((depth-1)*pageSize, set.Articles-2*pageSize)
		for done < rows {
			limit := min(walkSize, rows-done)
			next, err := step(limit, after)
			if err != nil {
				return err
			}
			after = next
			done += limit
			show.print(int64(done))
		}
		set.Cursors[depth] = after
	}
	return nil
}
