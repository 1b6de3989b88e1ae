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
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"example.com/ginseng/kit/progress"
)

// dataset is a database with articles, and what the rows need to know of it.
type dataset struct {
	file     string // of the database
	Articles int
	Author   string         // id of the first author
	IDs      []string       // of articles that are spread over the list
	Authors  []int          // of these articles
	Cursors  map[int]string // by page; the last page if there are fewer
}

// authors write the articles in turn.
const authors = 20

// depths are the pages that are read by cursor.
var depths = []int{10, 1000, 30_000}

const (
	pageSize   = 30
	walkSize   = 100 // rows per request on the way to the cursors
	manyIDs    = 1000
	seeders    = 128  // connections that create articles: many share a commit
	rareHits   = 20   // articles with the rare word
	vocabulary = 5000 // number of different words
)

// The words of the searches: in every second article, in every third, in rareHits articles.
const (
	commonWord = "ginseng"
	secondWord = "harvest"
	rareWord   = "quaking"
)

// article returns the i-th of n articles: always the same, about 400 bytes, with few frequent and many rare words, as in a
// language.
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

// seed returns a database of n articles. It creates what is missing, also after an interrupted run.
func seed(ctx context.Context, o options, n int, stderr io.Writer) (*dataset, error) {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return nil, err
	}
	set := &dataset{file: filepath.Join(o.dir, fmt.Sprintf("articles-%d.db", n)), Articles: n}
	if text, err := os.ReadFile(set.index()); err == nil {
		return set, json.Unmarshal(text, set)
	}
	s, err := startService(ctx, o.binary, set.file)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	return set, s.create(ctx, n, stderr)
}

// index is the file with the IDs and cursors of a dataset; it exists if the database is complete.
func (set *dataset) index() string { return set.file + ".json" }

// prepare finds the IDs and cursors that the rows need, unless they are known and still valid: the format of cursors may
// have changed.
func (s *service) prepare(ctx context.Context, stderr io.Writer) error {
	if err := s.signIn(); err != nil {
		return err
	}
	valid := len(s.data.Authors) > 0
	for _, cursor := range s.data.Cursors {
		if _, _, err := send(s.addr, request("GET", "/articles?count=false&after="+cursor, "", "")); err != nil {
			valid = false
		}
	}
	if valid {
		return nil
	}
	if err := s.walk(ctx, stderr); err != nil {
		return err
	}
	text, err := json.Marshal(s.data)
	if err != nil {
		return err
	}
	return os.WriteFile(s.data.index(), text, 0o600)
}

// tokenOf signs in an author and creates the account if it is missing.
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

// create creates the articles that are missing.
func (s *service) create(ctx context.Context, n int, stderr io.Writer) error {
	if err := s.signIn(); err != nil {
		return err
	}
	var existing struct{ Count int }
	if err := s.call("GET", "/articles?limit=1", "", "", &existing); err != nil {
		return err
	}
	var next atomic.Int64
	next.Store(int64(existing.Count))
	bar := progress.Start(stderr, "creating articles", "articles", int64(n-existing.Count))
	defer bar.Stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, seeders)
	for range seeders {
		go func() {
			err := s.createSome(ctx, n, &next, bar)
			if err != nil {
				cancel()
			}
			failed <- err
		}()
	}
	var err error
	for range seeders {
		err = errors.Join(err, <-failed)
	}
	return err
}

func (s *service) createSome(ctx context.Context, n int, next *atomic.Int64, bar *progress.Bar) error {
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
		if err := conn.SetDeadline(time.Now().Add(responseTimeout)); err != nil {
			return err
		}
		if _, err := conn.Write(request("POST", "/articles", "Bearer "+s.tokens[i%authors], article(i, n))); err != nil {
			return err
		}
		status, err := skipResponse(in)
		if err != nil {
			return err
		}
		if status != http.StatusCreated {
			return fmt.Errorf("creating an article: status %d", status)
		}
		bar.Add(1)
	}
}

// walk pages through the list and keeps the cursors and IDs that the rows need.
func (s *service) walk(ctx context.Context, stderr io.Writer) error {
	set := s.data
	users := make(map[string]int)
	for i, token := range slices.Backward(s.tokens) { // the first author is the last
		var user struct{ ID string }
		if err := s.call("GET", "/users/me", "Bearer "+token, "", &user); err != nil {
			return err
		}
		users[user.ID], set.Author = i, user.ID
	}
	set.IDs, set.Authors, set.Cursors = nil, nil, make(map[int]string)
	passed := 0
	bar := progress.Start(stderr, "reading the list", "articles", int64(set.Articles))
	defer bar.Stop()
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
			if passed++; passed%max(1, set.Articles/manyIDs) == 0 {
				set.IDs, set.Authors = append(set.IDs, row.ID), append(set.Authors, users[row.UserID])
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
			bar.Add(int64(limit))
		}
		set.Cursors[depth] = after
	}
	return nil
}
