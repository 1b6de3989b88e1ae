package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
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
	last            map[int]position // last record of the page before, by page
}

// position is a record after which a page starts.
type position struct{ ID, Created string }

// findPeer returns nil if the environment has no peer.
func findPeer(ctx context.Context) (*peer, error) {
	address, err := url.Parse(os.Getenv("POCKETBASE_URL"))
	if err != nil || address.Host == "" {
		return nil, err
	}
	p := &peer{
		addr: address.Host, token: os.Getenv("POCKETBASE_TOKEN"), user: os.Getenv("POCKETBASE_USER"),
		email: os.Getenv("POCKETBASE_EMAIL"), password: os.Getenv("POCKETBASE_PASSWORD"), last: make(map[int]position),
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
	items, total, err := page(fmt.Sprintf("perPage=%d&sort=-created,-id", manyIDs))
	if err != nil {
		return nil, err
	}
	if total < manyIDs {
		return nil, fmt.Errorf("the peer has %d articles; it needs at least %d", total, manyIDs)
	}
	// Rounded to one digit: records that earlier runs created do not require another database.
	digit := int(math.Pow10(len(strconv.Itoa(total)) - 1))
	p.articles = (total + digit/2) / digit * digit
	for _, item := range items {
		p.ids = append(p.ids, item.ID)
	}
	for _, depth := range depths {
		row := min((depth-1)*pageSize, total-2*pageSize)
		items, _, err := page(fmt.Sprintf("perPage=1&page=%d&skipTotal=1&sort=-created,-id", row))
		if err != nil {
			return nil, err
		}
		p.last[depth] = items[0]
	}
	return p, ctx.Err()
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
	content := strings.Repeat("Lorem ipsum dolor sit amet. ", 14)
	return request("POST", "/api/collections/articles/records", p.token,
		fmt.Sprintf(`{"title":"Article of %s","content":%q,"author":%q}`, time.Now().Format(time.DateOnly), content, p.user))
}
