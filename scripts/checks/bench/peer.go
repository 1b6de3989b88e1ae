package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// peer is a running PocketBase.
type peer struct {
	addr            string
	pid             int
	token, user     string
	email, password string
	articles        int
	ids             []string
	last            position // last record of the page before the one at depth
}

// position is a record after which a page starts.
type position struct{ ID, Created string }

// findPeer returns the PocketBase that the environment names; nil if it names none.
func findPeer(ctx context.Context) (*peer, error) {
	address, err := url.Parse(os.Getenv("POCKETBASE_URL"))
	if err != nil || address.Host == "" {
		return nil, err
	}
	p := &peer{
		addr: address.Host, token: os.Getenv("POCKETBASE_TOKEN"), user: os.Getenv("POCKETBASE_USER"),
		email: os.Getenv("POCKETBASE_EMAIL"), password: os.Getenv("POCKETBASE_PASSWORD"),
	}
	p.pid, _ = strconv.Atoi(os.Getenv("POCKETBASE_PID")) // 0: memory and CPU time are unknown
	page := func(query string) (items []position, total int, err error) {
		var response struct {
			Items      []position
			TotalItems int
		}
		_, body, err := send(p.addr, p.list(query, ""))
		if err == nil {
			err = json.Unmarshal(body, &response)
		}
		return response.Items, response.TotalItems, err
	}
	items, total, err := page(fmt.Sprintf("perPage=%d&sort=id", manyIDs)) // spread over the list: the ids are random
	if err != nil {
		return nil, err
	}
	if total < 2*manyIDs {
		return nil, fmt.Errorf("the peer has %d articles; it needs at least %d", total, 2*manyIDs)
	}
	p.articles = total
	for _, item := range items {
		p.ids = append(p.ids, item.ID)
	}
	items, _, err = page(fmt.Sprintf("perPage=1&page=%d&skipTotal=1&sort=-created,-id", min((depth-1)*pageSize, total-2*pageSize)))
	if err != nil {
		return nil, err
	}
	p.last = items[0]
	return p, ctx.Err()
}

func (p *peer) server() server {
	return server{
		Name: "PocketBase", Version: version(fmt.Sprintf("/proc/%d/exe", p.pid), "github.com/pocketbase/pocketbase"), Articles: p.articles,
		addr: p.addr, pid: p.pid,
		requests: func(row row) ([][]byte, int) { return row.theirs(p), http.StatusOK }, stop: func() {},
	}
}

func (p *peer) get(path string) []byte { return request("GET", "/api/collections/"+path, p.token, "") }

// list returns the request for a page of articles. Without perPage in the query, it has 30 rows.
func (p *peer) list(query, filter string) []byte {
	if !strings.Contains(query, "perPage=") {
		query += "&perPage=" + strconv.Itoa(pageSize)
	}
	if filter != "" {
		query += "&filter=" + url.QueryEscape(filter)
	}
	return p.get("articles/records?" + query)
}

func (p *peer) create() []byte {
	return request("POST", "/api/collections/articles/records", p.token, p.article())
}

// article returns the body of a new article.
func (p *peer) article() string {
	content := strings.Repeat("Lorem ipsum dolor sit amet. ", 14)
	return fmt.Sprintf(`{"title":"Article of %s","content":%q,"author":%q}`, time.Now().Format(time.DateOnly), content, p.user)
}
