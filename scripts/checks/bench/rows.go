package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"

	"example.com/ginseng/kit/progress"
)

// row is one row of the table.
type row struct {
	name   string
	status int
	ours   func(*service) [][]byte // the requests, sent in turn
	theirs func(*peer) [][]byte    // the same for the peer
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
	{"by cursor, page 10", http.StatusOK, after(10), theirAfter(10)},
	{"by cursor, page 1,000", http.StatusOK, after(1000), theirAfter(1000)},
	{"by cursor, page 30,000", http.StatusOK, after(30_000), theirAfter(30_000)},
	{"q, a rare word", http.StatusOK, list("count=false&q=" + rareWord), theirSearch("99997")},
	{"q, a common word", http.StatusOK, list("count=false&q=" + commonWord), theirSearch("Lorem")},
	{"q, a common word, with count", http.StatusOK, list("q=" + commonWord), theirSearchCount("Lorem")},
	{"q, two words", http.StatusOK, list("count=false&q=" + commonWord + "+" + secondWord), theirSearch("mongo", "Lorem")},
	{"filter and sort", http.StatusOK,
		func(s *service) [][]byte { return list("count=false&sort=createdAt&userId=" + s.data.Author)(s) },
		func(p *peer) [][]byte { return [][]byte{p.list("skipTotal=1&sort=created", `author="`+p.user+`"`)} }},
	{"me", http.StatusOK,
		func(s *service) [][]byte { return [][]byte{request("GET", "/users/me", "Bearer "+s.token, "")} },
		func(p *peer) [][]byte { return [][]byte{p.get("users/records/" + p.user)} }},
	{"create", http.StatusCreated,
		func(s *service) [][]byte {
			return each(s.tokens, func(token string) []byte { // the changes of one user are limited
				return request("POST", "/articles", "Bearer "+token, article(1, s.data.Articles))
			})
		},
		func(p *peer) [][]byte { return [][]byte{p.create()} }},
	{"update", http.StatusOK,
		func(s *service) [][]byte {
			var requests [][]byte
			for i, id := range s.data.IDs {
				requests = append(requests, request("PATCH", "/articles/"+id, "Bearer "+s.tokens[s.data.Authors[i]], `{"title":"A new title"}`))
			}
			return requests
		},
		func(p *peer) [][]byte {
			return each(p.ids, func(id string) []byte {
				return request("PATCH", "/api/collections/articles/records/"+id, p.token, `{"title":"A new title"}`)
			})
		}},
	{"sign-in", http.StatusCreated,
		func(s *service) [][]byte {
			basic := base64.StdEncoding.EncodeToString([]byte("author0@example.com:" + password))
			return [][]byte{request("POST", "/auth", "Basic "+basic, `{"access_token":"`+masterKey+`"}`)}
		},
		func(p *peer) [][]byte {
			return [][]byte{request("POST", "/api/collections/users/auth-with-password", "",
				fmt.Sprintf(`{"identity":%q,"password":%q}`, p.email, p.password))}
		}},
}

func each(ids []string, make func(id string) []byte) (requests [][]byte) {
	for _, id := range ids {
		requests = append(requests, make(id))
	}
	return requests
}

func list(query string) func(*service) [][]byte {
	return func(*service) [][]byte { return [][]byte{request("GET", "/articles?"+query, "", "")} }
}

func after(page int) func(*service) [][]byte {
	return func(s *service) [][]byte { return list("count=false&after=" + s.data.Cursors[page])(s) }
}

func theirList(query string) func(*peer) [][]byte {
	return func(p *peer) [][]byte { return [][]byte{p.list(query+"&sort=-created", "")} }
}

// theirSearch searches title and content.
func theirSearch(texts ...string) func(*peer) [][]byte {
	return func(p *peer) [][]byte { return [][]byte{p.list("skipTotal=1&sort=-created", containing(texts))} }
}

func theirSearchCount(texts ...string) func(*peer) [][]byte {
	return func(p *peer) [][]byte { return [][]byte{p.list("sort=-created", containing(texts))} }
}

func containing(texts []string) (filter string) {
	for i, text := range texts {
		if i > 0 {
			filter += " && "
		}
		filter += fmt.Sprintf("(title ~ %q || content ~ %[1]q)", text)
	}
	return filter
}

func theirAfter(page int) func(*peer) [][]byte {
	return func(p *peer) [][]byte {
		last := p.last[page]
		return [][]byte{p.list("skipTotal=1&sort=-created,-id",
			fmt.Sprintf("created < %q || (created = %[1]q && id < %q)", last.Created, last.ID))}
	}
}

// measureRows measures the rows that o selects and adds them to the report.
func measureRows(ctx context.Context, o options, s servers, report *report, stderr io.Writer) error {
	selected := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !o.rows.MatchString(r.name) })
	bar := progress.Start(stderr, "measuring", "rows", int64(len(selected)))
	defer bar.Stop()
	for _, row := range selected {
		line, err := row.measure(ctx, o, s)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		report.Rows = append(report.Rows, line)
		bar.Add(1)
	}
	return nil
}

// measure sends the row's requests to every server. The bare handler follows the service, so that other work of the machine
// affects both equally.
func (r row) measure(ctx context.Context, o options, s servers) (line line, err error) {
	line.Name = r.name
	ours := func(s *service) (*figures, error) {
		if s == nil {
			return nil, nil
		}
		f, err := load(ctx, s.addr, s.pid(), r.ours(s), r.status, o.seconds)
		return &f, err
	}
	if line.Main, err = ours(s.main); err != nil {
		return line, err
	}
	bare, err := loadBare(ctx, o, s.main, r.ours(s.main), r.status)
	if err != nil {
		return line, err
	}
	line.Bare = &bare
	if line.Small, err = ours(s.small); err != nil || s.peer == nil {
		return line, err
	}
	if line.Equal, err = ours(s.equal); err != nil {
		return line, err
	}
	theirs, err := load(ctx, s.peer.addr, s.peer.pid, r.theirs(s.peer), http.StatusOK, o.seconds)
	line.Peer = &theirs
	return line, err
}
