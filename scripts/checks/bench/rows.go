package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	theirs func(*peer) [][]byte    // returns the same requests to the peer
}

// rows are all rows of the table: first those that read, then those that write.
var rows = []row{
	{"one record", http.StatusOK,
		func(s *service) [][]byte {
			return each(s.data.IDs, func(id string) []byte { return request("GET", "/articles/"+id, "", "") })
		},
		func(p *peer) [][]byte {
			return each(p.ids, func(id string) []byte { return p.get("articles/records/" + id) })
		}},
	{"first page", http.StatusOK, list("count=false"), theirList("skipTotal=1")},
	{"first page, with count", http.StatusOK, list(""), theirList("")},
	{"page=300", http.StatusOK, list("count=false&page=300"), theirList("skipTotal=1&page=300")},
	{"by cursor, page 1,000", http.StatusOK,
		func(s *service) [][]byte { return list("count=false&after=" + s.cursor)(s) },
		func(p *peer) [][]byte {
			return [][]byte{p.list("skipTotal=1&sort=-created,-id",
				fmt.Sprintf("created < %q || (created = %[1]q && id < %q)", p.last.Created, p.last.ID))}
		}},
	{"q, a rare word", http.StatusOK, list("count=false&q=" + rareWord), theirList("skipTotal=1", "99997")},
	{"q, a common word", http.StatusOK, list("count=false&q=" + commonWord), theirList("skipTotal=1", "Lorem")},
	{"q, a common word, with count", http.StatusOK, list("q=" + commonWord), theirList("", "Lorem")},
	{"q, two words", http.StatusOK, list("count=false&q=" + commonWord + "+" + secondWord), theirList("skipTotal=1", "mongo", "Lorem")},
	{"filter and sort", http.StatusOK,
		func(s *service) [][]byte { return list("count=false&sort=createdAt&userId=" + s.data.Authors[0])(s) },
		func(p *peer) [][]byte { return [][]byte{p.list("skipTotal=1&sort=created", `author="`+p.user+`"`)} }},
	{"me", http.StatusOK,
		func(s *service) [][]byte { return [][]byte{request("GET", "/users/me", "Bearer "+s.tokens[0], "")} },
		func(p *peer) [][]byte { return [][]byte{p.get("users/records/" + p.user)} }},
	{"me, key", http.StatusOK,
		func(s *service) [][]byte { return [][]byte{request("GET", "/users/me", "Bearer "+s.key, "")} },
		func(p *peer) [][]byte { return [][]byte{p.get("users/records/" + p.user)} }},
	{"create", http.StatusCreated, func(s *service) [][]byte { return creations(s.tokens) },
		func(p *peer) [][]byte { return [][]byte{p.create()} }},
	{"create, one user", http.StatusCreated, func(s *service) [][]byte { return creations(s.tokens[:1]) },
		func(p *peer) [][]byte { return [][]byte{p.create()} }},
	{"update", http.StatusOK, func(s *service) [][]byte { return s.updates(len(s.tokens)) }, theirUpdates},
	{"update, one user", http.StatusOK, func(s *service) [][]byte { return s.updates(1) }, theirUpdates},
	{"update, one record", http.StatusOK, func(s *service) [][]byte { return s.updates(1)[:1] },
		func(p *peer) [][]byte { return theirUpdates(p)[:1] }},
	{"batch of 100", http.StatusOK, // creations
		func(s *service) [][]byte {
			operation := `{"method":"POST","path":"/articles","body":` + newArticle() + `}`
			return each(s.tokens, func(token string) []byte {
				return request("POST", "/batch", "Bearer "+token, `{"operations":[`+repeat(operation, 100)+`]}`)
			})
		},
		func(p *peer) [][]byte {
			operation := `{"method":"POST","url":"/api/collections/articles/records","body":` + p.article() + `}`
			return [][]byte{request("POST", "/api/batch", p.token, `{"requests":[`+repeat(operation, 100)+`]}`)}
		}},
	{"sign-in", http.StatusCreated,
		func(*service) [][]byte { return [][]byte{request("POST", "/auth", basic(0), masterKeyBody)} },
		func(p *peer) [][]byte {
			return [][]byte{request("POST", "/api/collections/users/auth-with-password", "",
				fmt.Sprintf(`{"identity":%q,"password":%q}`, p.email, p.password))}
		}},
}

// repeat returns n items of a JSON list.
func repeat(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }

func each(ids []string, make func(id string) []byte) (requests [][]byte) {
	for _, id := range ids {
		requests = append(requests, make(id))
	}
	return requests
}

// creations returns requests of each of these users in turn.
func creations(tokens []string) [][]byte {
	return each(tokens, func(token string) []byte { return request("POST", "/articles", "Bearer "+token, newArticle()) })
}

// newArticle returns the body of a new article.
func newArticle() string {
	f := newFields(1, vocabulary)
	return fmt.Sprintf(`{"title":%q,"content":%q}`, f.Title, f.Content)
}

const newTitle = `{"title":"A new title"}`

// updates returns the updates of articles of the first users.
func (s *service) updates(users int) (requests [][]byte) {
	for i, id := range s.data.IDs {
		if writer := s.data.Writers[i]; writer < users {
			requests = append(requests, request("PATCH", "/articles/"+id, "Bearer "+s.tokens[writer], newTitle))
		}
	}
	return requests
}

func theirUpdates(p *peer) [][]byte {
	return each(p.ids, func(id string) []byte {
		return request("PATCH", "/api/collections/articles/records/"+id, p.token, newTitle)
	})
}

func list(query string) func(*service) [][]byte {
	return func(*service) [][]byte { return [][]byte{request("GET", "/articles?"+query, "", "")} }
}

// theirList lists the newest articles with all words in title or content.
func theirList(query string, words ...string) func(*peer) [][]byte {
	for i, word := range words {
		words[i] = fmt.Sprintf("(title ~ %q || content ~ %[1]q)", word)
	}
	return func(p *peer) [][]byte { return [][]byte{p.list(query+"&sort=-created", strings.Join(words, " && "))} }
}

// measure measures the rows that o selects.
func (r *report) measure(ctx context.Context, o options, work string, stderr io.Writer) error {
	selected := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !o.rows.MatchString(r.name) })
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

// measure returns the figures of each server, and then those of a bare handler with the responses of the first one.
func (r row) measure(ctx context.Context, o options, work string, servers []server) ([]figures, error) {
	requests, _ := servers[0].requests(r)
	bare, err := startBare(ctx, servers[0], requests[0], work)
	if err != nil {
		return nil, err
	}
	defer bare.stop()
	servers = append(slices.Clone(servers), bare)
	measured := make([][]figures, len(servers))
	for round := range rounds {
		for turn := range servers {
			i := (round + turn) % len(servers) // so that no server always follows the same one
			if round > 0 && measured[i][0].PerSecond == 0 {
				continue // it did not finish the first time
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

// load measures a server in one round. All figures are 0 if a response took longer than responseTimeout.
func (r row) load(ctx context.Context, o options, work string, s server) (f figures, err error) {
	requests, status := s.requests(r)
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

// settle waits until a server is idle, so that requests that were given up do not disturb the next measurement.
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
