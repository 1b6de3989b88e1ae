package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/ginseng/kit/progress"
)

// row is one row of the table.
type row struct {
	name   string
	status int
	ours   func(*service) [][]byte // returns the requests to the service, which are sent in turn
	theirs func(*peer) [][]byte    // returns the same requests to the peer; none if the peer has too few accounts
}

// isSearch reports whether the requests of the row search words.
func (r row) isSearch() bool { return strings.HasPrefix(r.name, "q,") }

// manyRecords is the number of records that most rows read and change.
const manyRecords = 500

// rows are all rows of the table: first the rows that read, then the rows that write.
var rows = []row{
	{"one record", http.StatusOK, func(s *service) [][]byte { return reads(s.data.Records[:manyRecords]) },
		func(p *peer) [][]byte { return theirReads(p, p.records[:manyRecords]) }},
	{"one record, cold", http.StatusOK, // the service reads the records from its database
		func(s *service) [][]byte { return reads(s.data.Records) },
		func(p *peer) [][]byte { return theirReads(p, p.records) }},
	{"first page", http.StatusOK, list("count=false"), theirList("skipTotal=1")},
	{"first page, with count", http.StatusOK, list(""), theirList("")},
	{"page=300", http.StatusOK, list("count=false&page=300"), theirList("skipTotal=1&page=300")},
	{"by cursor, page 1,000", http.StatusOK,
		func(s *service) [][]byte { return list("count=false&after=" + s.cursor)(s) },
		func(p *peer) [][]byte {
			return [][]byte{p.list("skipTotal=1&sort=-created,-id",
				fmt.Sprintf("created < %q || (created = %[1]q && id < %q)", p.last.Created, p.last.ID))}
		}},
	{"q, a rare word", http.StatusOK, list("count=false&q=" + rareWord), theirList("skipTotal=1", rareWord)},
	{"q, a common word", http.StatusOK, list("count=false&q=" + commonWord), theirList("skipTotal=1", commonWord)},
	{"q, a common word, with count", http.StatusOK, list("q=" + commonWord), theirList("", commonWord)},
	{"q, two words", http.StatusOK, list("count=false&q=" + commonWord + "+" + secondWord), theirList("skipTotal=1", commonWord, secondWord)},
	{"filter and sort", http.StatusOK,
		func(s *service) [][]byte { return list("count=false&sort=createdAt&userId=" + s.data.Authors[0])(s) },
		func(p *peer) [][]byte { return [][]byte{p.list("skipTotal=1&sort=created", `author="`+p.users[0]+`"`)} }},
	{"me", http.StatusOK,
		func(s *service) [][]byte { return [][]byte{request("GET", "/users/me", "Bearer "+s.tokens[0], "")} },
		func(p *peer) [][]byte { return [][]byte{p.get("users/records/" + p.users[0])} }},
	{"me, key", http.StatusOK,
		func(s *service) [][]byte { return [][]byte{request("GET", "/users/me", "Bearer "+s.key, "")} },
		func(p *peer) [][]byte { return [][]byte{p.get("users/records/" + p.users[0])} }},
	{"file of the admin page", http.StatusOK, (*service).pageFiles, func(*peer) [][]byte { return nil }},
	{"download, 1 MB", http.StatusOK, (*service).downloads, (*peer).downloads}, // before the upload, which renames the peer's pictures
	{"create, one user", http.StatusCreated, func(s *service) [][]byte { return s.creations(1) },
		func(p *peer) [][]byte { return p.creations(1) }},
	{"create, 20 users", http.StatusCreated, func(s *service) [][]byte { return s.creations(authors) },
		func(p *peer) [][]byte { return p.creations(authors) }},
	{"update, one user", http.StatusOK, func(s *service) [][]byte { return s.updates(1, manyRecords) },
		func(p *peer) [][]byte { return p.updates(1, manyRecords) }},
	{"update, 20 users", http.StatusOK, func(s *service) [][]byte { return s.updates(authors, manyRecords) },
		func(p *peer) [][]byte { return p.updates(authors, manyRecords) }},
	{"update, one record", http.StatusOK, func(s *service) [][]byte { return s.updates(1, 1) },
		func(p *peer) [][]byte { return p.updates(1, 1) }},
	{"batch of 100", http.StatusOK,
		func(s *service) [][]byte {
			operations := batch("operations", `{"method":"POST","path":"/articles","body":`, func(i int) string { return body(newArticle(i)) })
			return each(s.tokens, func(token string) []byte { return request("POST", "/batch", "Bearer "+token, operations) })
		},
		func(p *peer) [][]byte {
			operations := batch("requests", `{"method":"POST","url":"/api/collections/articles/records","body":`,
				func(i int) string { return p.article(0, newArticle(i)) })
			return [][]byte{request("POST", "/api/batch", p.tokens[0], operations)}
		}},
	{"upload, 1 MB", http.StatusOK, (*service).uploads, func(p *peer) [][]byte {
		if p.pictures == nil {
			return nil
		}
		return p.uploads()
	}},
	{"sign-in", http.StatusCreated, // last: it ends older sessions of the author
		func(*service) [][]byte { return [][]byte{request("POST", "/auth", basic(0), masterKeyBody)} },
		func(p *peer) [][]byte { return [][]byte{p.authentication(0)} }},
}

// each returns a request for each of the items.
func each[T any](items []T, make func(T) []byte) (requests [][]byte) {
	for _, item := range items {
		requests = append(requests, make(item))
	}
	return requests
}

func reads(records []record) [][]byte {
	return each(records, func(r record) []byte { return request("GET", "/articles/"+r.ID, "", "") })
}

func theirReads(p *peer, records []record) [][]byte {
	return each(records, func(r record) []byte { return p.get("articles/records/" + r.ID) })
}

// newArticle returns the fields of the i-th new article, without the rare word. i is not 0.
func newArticle(i int) fields { return newFields(i, math.MaxInt) }

// creations is the number of different articles that a row creates.
const creations = 1000

// creations returns requests in which the first users create articles in turn.
func (s *service) creations(users int) (requests [][]byte) {
	for i := range creations {
		requests = append(requests, creation(s.tokens[i%users], newArticle(i+1)))
	}
	return requests
}

// creations returns requests in which the first users create articles in turn; none if there are fewer accounts.
func (p *peer) creations(users int) (requests [][]byte) {
	if users > len(p.tokens) {
		return nil
	}
	for i := range creations {
		requests = append(requests, p.creation(i%users, newArticle(i+1)))
	}
	return requests
}

func creation(token string, f fields) []byte {
	return request("POST", "/articles", "Bearer "+token, body(f))
}

// body returns the body of a request that creates an article.
func body(f fields) string { return fmt.Sprintf(`{"title":%q,"content":%q}`, f.Title, f.Content) }

// batch returns the body of a request with 100 operations. Each operation begins with prefix and ends with a new article.
func batch(name, prefix string, article func(i int) string) string {
	operations := make([]string, 100)
	for i := range operations {
		operations[i] = prefix + article(i+1) + "}"
	}
	return fmt.Sprintf(`{%q:[%s]}`, name, strings.Join(operations, ","))
}

// updates returns requests that update at most n records of the first users.
func (s *service) updates(users, n int) [][]byte {
	return updatesOf(recordsOf(s.data.Records, users), n, func(r record, change string) []byte {
		return request("PATCH", "/articles/"+r.ID, "Bearer "+s.tokens[r.Author], change)
	})
}

// updates returns requests that update at most n records of the first users; none if there are fewer accounts.
func (p *peer) updates(users, n int) [][]byte {
	if users > len(p.tokens) {
		return nil
	}
	return updatesOf(recordsOf(p.records, users), n, func(r record, change string) []byte {
		return request("PATCH", "/api/collections/articles/records/"+r.ID, p.tokens[r.Author], change)
	})
}

// newTitles is the number of titles that updates set, so that nearly every update modifies its record. Ginseng stores nothing
// otherwise.
const newTitles = 64

// updatesOf returns the updates of the first n records with each title.
func updatesOf(records []record, n int, update func(r record, change string) []byte) (requests [][]byte) {
	for title := range newTitles {
		change := fmt.Sprintf(`{"title":"A new title %d"}`, title)
		requests = append(requests, each(records[:min(n, len(records))], func(r record) []byte { return update(r, change) })...)
	}
	return requests
}

// recordsOf returns the records by the first users among the first manyRecords records.
func recordsOf(records []record, users int) (written []record) {
	for _, r := range records[:manyRecords] {
		if r.Author < users {
			written = append(written, r)
		}
	}
	return written
}

func list(query string) func(*service) [][]byte {
	return func(*service) [][]byte { return [][]byte{request("GET", "/articles?"+query, "", "")} }
}

// theirList returns the request to the peer for the newest articles with all words in title or content.
func theirList(query string, words ...string) func(*peer) [][]byte {
	for i, word := range words {
		words[i] = fmt.Sprintf("(title ~ %q || content ~ %[1]q)", word)
	}
	return func(p *peer) [][]byte { return [][]byte{p.list(query+"&sort=-created", strings.Join(words, " && "))} }
}

// measure measures the rows that o selects.
func (r *report) measure(ctx context.Context, o options, work string, stderr io.Writer) error {
	selected := slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		return !o.rows.MatchString(r.name) || o.mongo != "" && !slices.Contains(mongoRows, r.name) || o.wrk && r.isTransfer()
	})
	bar := progress.Start(stderr, "measuring", "rows", int64(len(selected)))
	defer bar.Stop()
	for _, row := range selected {
		figures, err := row.measure(ctx, o, work, r.Servers)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		r.Rows = append(r.Rows, line{row.name, figures})
		bar.Add(1)
	}
	return nil
}

// rounds is the number of times that each server is measured in each row. The servers take turns, so that other work of the
// machine affects all equally.
const rounds = 5

// measure returns the figures of each server, and then those of a bare handler with the response of the first server. If the first
// server does not support the row, it measures nothing.
func (r row) measure(ctx context.Context, o options, work string, servers []server) ([]figures, error) {
	requests, _ := servers[0].requests(r)
	if len(requests) == 0 {
		return slices.Repeat([]figures{{Absent: true}}, len(servers)+1), nil
	}
	bare, err := startBare(ctx, servers[0], requests[0], work)
	if err != nil {
		return nil, err
	}
	defer bare.stop()
	servers = append(slices.Clone(servers), bare)
	measured := make([][]figures, len(servers))
	for round := range rounds {
		for turn := range servers {
			i := (round + turn) % len(servers) // so that no server always follows the same server
			if round > 0 && measured[i][0].PerSecond == 0 {
				continue // the server did not finish the first time, or does not support the row
			}
			f, err := r.load(ctx, o, work, servers[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", servers[i].Name, err)
			}
			measured[i] = append(measured[i], f)
		}
	}
	result := make([]figures, len(servers))
	for i := range measured {
		result[i] = medians(measured[i])
	}
	return result, nil
}

// load measures a server in one round. All figures are 0 if a response took longer than responseTimeout, or if the server does
// not support the row. In the second case, Absent is true.
func (r row) load(ctx context.Context, o options, work string, s server) (f figures, err error) {
	requests, status := s.requests(r)
	if len(requests) == 0 {
		return figures{Absent: true}, nil
	}
	if o.wrk {
		f, err = loadWrk(ctx, work, s.addr, s.pid, requests, o.seconds/rounds)
	} else {
		f, err = load(ctx, s.addr, s.pid, requests, status, o.seconds/rounds)
	}
	failure, ok := errors.AsType[timeout](err)
	unfinished := ok && failure.Timeout()
	if unfinished {
		f, err = figures{}, nil
	}
	if unfinished || o.wrk { // wrk does not wait for the last responses
		settle(ctx, s.pid)
	}
	return f, err
}

// timeout is implemented by the errors of net and fasthttp.
type timeout interface {
	error
	Timeout() bool
}

// settle waits until a server is idle, so that aborted requests do not affect the next measurement.
func settle(ctx context.Context, pid int) {
	const interval = 500 * time.Millisecond
	for end := time.Now().Add(responseTimeout); time.Now().Before(end) && ctx.Err() == nil; {
		used := cpuTime(pid)
		time.Sleep(interval)
		if cpuTime(pid)-used < interval/50 {
			return
		}
	}
}
