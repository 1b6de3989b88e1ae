package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// peer is a running PocketBase.
type peer struct {
	addr     string
	pid      int
	emails   []string // of the accounts
	password string   // of each account
	users    []string // IDs of the accounts
	tokens   []string // tokens of the accounts
	articles int
	records  []record     // in random order: the IDs are random
	last     peerPosition // last record before page depth
	pictures []string     // names of the pictures of the accounts; none if the accounts have no field avatar
}

// peerPosition identifies a record of PocketBase.
type peerPosition struct{ ID, Created, Author string }

// findPeer returns the PocketBase at POCKETBASE_URL, with at least n articles; nil if the variable is not set.
func findPeer(ctx context.Context, n int, stderr io.Writer) (*peer, error) {
	address, err := url.Parse(os.Getenv("POCKETBASE_URL"))
	if err != nil || address.Host == "" {
		return nil, err
	}
	p := &peer{addr: address.Host, emails: strings.Split(os.Getenv("POCKETBASE_EMAILS"), ","), password: os.Getenv("POCKETBASE_PASSWORD")}
	p.pid, _ = strconv.Atoi(os.Getenv("POCKETBASE_PID")) // 0: memory and CPU time are unknown
	if err := p.signIn(); err != nil {
		return nil, err
	}
	_, existing, err := p.page("perPage=1")
	if err != nil {
		return nil, err
	}
	if existing < n {
		requests := func(i int) []byte { return p.creation(authorOf(i)%len(p.tokens), newFields(i, n)) }
		if err := fill(ctx, p.addr, existing, n, requests, stderr, func(int, string) {}); err != nil {
			return nil, err
		}
	}
	p.articles = max(n, existing)
	return p, cmp.Or(p.readRecords(ctx), p.findLast(), p.storePictures())
}

// signIn gets the tokens and IDs of the accounts.
func (p *peer) signIn() error {
	for i := range p.emails {
		_, body, err := send(p.addr, p.authentication(i))
		if err != nil {
			return err
		}
		var session struct {
			Token  string
			Record struct{ ID string }
		}
		if err := json.Unmarshal(body, &session); err != nil {
			return err
		}
		p.tokens, p.users = append(p.tokens, session.Token), append(p.users, session.Record.ID)
	}
	return nil
}

func (p *peer) authentication(account int) []byte {
	return request("POST", "/api/collections/users/auth-with-password", "",
		fmt.Sprintf(`{"identity":%q,"password":%q}`, p.emails[account], p.password))
}

// page reads a list of articles and, unless the query has skipTotal=1, their number.
func (p *peer) page(query string) (items []peerPosition, total int, err error) {
	var response struct {
		Items      []peerPosition
		TotalItems int
	}
	_, body, err := send(p.addr, p.list(query, ""))
	if err == nil {
		err = json.Unmarshal(body, &response)
	}
	return response.Items, response.TotalItems, err
}

// readRecords reads p.records: up to maxRecords articles of the accounts.
func (p *peer) readRecords(ctx context.Context) error {
	author := make(map[string]int)
	for i, id := range p.users {
		author[id] = i
	}
	const perPage = 1000 // the most that PocketBase allows
	for number := range maxRecords / perPage {
		items, _, err := p.page(fmt.Sprintf("perPage=%d&page=%d&skipTotal=1&sort=id&fields=id,author", perPage, number+1))
		if err != nil {
			return err
		}
		for _, item := range items {
			if i, ok := author[item.Author]; ok {
				p.records = append(p.records, record{item.ID, i})
			}
		}
	}
	if len(p.records) < manyRecords {
		return fmt.Errorf("the accounts of PocketBase have %d articles; they need at least %d", len(p.records), manyRecords)
	}
	return ctx.Err()
}

func (p *peer) findLast() error {
	items, _, err := p.page(fmt.Sprintf("perPage=1&page=%d&skipTotal=1&sort=-created,-id", min((depth-1)*pageSize, p.articles-2*pageSize)))
	if err == nil {
		p.last = items[0]
	}
	return err
}

func (p *peer) server() server {
	return server{
		Name: peerName, Version: version(fmt.Sprintf("/proc/%d/exe", p.pid), "github.com/pocketbase/pocketbase"), Articles: p.articles,
		addr: p.addr, pid: p.pid,
		requests: func(row row) ([][]byte, int) { return row.theirs(p), http.StatusOK }, stop: func() {},
	}
}

// get returns a request of the first account.
func (p *peer) get(path string) []byte {
	return request("GET", "/api/collections/"+path, p.tokens[0], "")
}

// list returns the request for a page of articles. Without perPage in the query, the page has 30 rows.
func (p *peer) list(query, filter string) []byte {
	if !strings.Contains(query, "perPage=") {
		query += "&perPage=" + strconv.Itoa(pageSize)
	}
	if filter != "" {
		query += "&filter=" + url.QueryEscape(filter)
	}
	return p.get("articles/records?" + query)
}

// creation returns the request with which an account creates an article.
func (p *peer) creation(account int, f fields) []byte {
	return request("POST", "/api/collections/articles/records", p.tokens[account], p.article(account, f))
}

// article returns the body of a new article.
func (p *peer) article(account int, f fields) string {
	return fmt.Sprintf(`{"title":%q,"content":%q,"author":%q}`, f.Title, f.Content, p.users[account])
}
