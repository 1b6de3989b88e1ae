package resilience_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
)

// client is one client of a Load.
type client struct {
	load            *Load
	name, id, email string
	token           string
	random          *rand.Rand
	serial          int
	created         int
	articles        map[string]*article // own articles, by title
	unconfirmed     map[string]bool     // titles of creations with an unknown outcome
	titles          []string            // of articles
	pending         *creation           // with an Idempotency-Key, to be repeated
}

// article is what a client knows of one of its articles.
type article struct {
	id, title, content string
	maybe              []string // contents of updates with an unknown outcome
	maybeDeleted       bool     // a deletion has an unknown outcome
}

func (a *article) mayHave(content string) bool {
	return content == a.content || slices.Contains(a.maybe, content)
}

// creation is an article and the request that creates it.
type creation struct {
	article *article
	request request
}

// operations returns 100 operations, in the frequency of their use.
func operations() []func(*client) {
	var all []func(*client)
	for _, o := range []struct {
		percent int
		do      func(*client)
	}{
		{18, (*client).create}, {12, (*client).createWithKey}, {22, (*client).read}, {12, (*client).list}, {10, (*client).search},
		{15, (*client).update}, {10, (*client).delete}, {1, (*client).renew},
	} {
		all = append(all, slices.Repeat([]func(*client){o.do}, o.percent)...)
	}
	return all
}

func (c *client) run() {
	all := operations()
	for c.load.ctx.Err() == nil {
		if len(c.titles) > maxArticles {
			c.delete()
		}
		all[c.random.IntN(len(all))](c)
	}
}

func (c *client) signUp(ctx context.Context) error {
	c.email = fmt.Sprintf("%s-%x@example.com", c.name, rand.Uint64())
	c.token = c.load.masterKey
	got := c.call(request{op: "sign up", method: "POST", path: "/users", form: map[string]string{"email": c.email, "password": password}})
	var user struct{ ID string }
	if err := json.Unmarshal(got.body, &user); got.status != http.StatusCreated || err != nil {
		return fmt.Errorf("sign-up: %d %s", got.status, got.body)
	}
	c.id = user.ID
	if !c.signIn() {
		return errors.New("sign-in fails")
	}
	return ctx.Err()
}

func (c *client) signIn() bool {
	r := request{op: "sign in", method: "POST", path: "/auth", basic: true, form: map[string]string{"access_token": c.load.masterKey}}
	var session struct{ Token string }
	if !c.decode(r, c.call(r), http.StatusCreated, &session) {
		return false
	}
	c.token = session.Token
	return true
}

// renew signs in again and ends the previous session.
func (c *client) renew() {
	old := c.token
	if !c.signIn() {
		return
	}
	current := c.token
	c.token = old
	r := request{op: "sign out", method: "DELETE", path: "/auth"}
	got := c.call(r)
	c.token = current
	c.expect(r, got, http.StatusNoContent)
}

func (c *client) newContent() string {
	c.serial++
	return fmt.Sprintf("%s%d %s", c.name, c.serial, strings.TrimSpace(strings.Repeat("a root worth waiting for ", 4+c.random.IntN(20))))
}

func (c *client) newArticle() (*article, request) {
	c.serial++
	a := &article{title: fmt.Sprintf("%sx%d", c.name, c.serial), content: c.newContent()}
	return a, request{op: "create", method: "POST", path: "/articles", form: map[string]string{"title": a.title, "content": a.content}}
}

func (c *client) create() {
	a, r := c.newArticle()
	c.recordCreation(a, r, c.call(r))
}

// createWithKey sends a request with an Idempotency-Key. It repeats the pending one, if any, until its outcome is known.
func (c *client) createWithKey() {
	if c.pending == nil {
		a, r := c.newArticle()
		r.op, r.header = "create with a key", map[string]string{"Idempotency-Key": a.title}
		c.pending = &creation{a, r}
		c.unconfirmed[a.title] = true
	}
	a, r := c.pending.article, c.pending.request
	c.pending.request.repeated = true
	got := c.call(r)
	if got.failed() {
		return
	}
	c.pending = nil
	if got.status != http.StatusConflict { // 409: the first request was cut off, and its outcome stays unknown
		c.recordCreation(a, r, got)
	}
}

func (c *client) recordCreation(a *article, r request, got response) {
	if got.failed() {
		c.unconfirmed[a.title] = true
		return
	}
	var view struct{ ID, Title, Content string }
	if !c.decode(r, got, http.StatusCreated, &view) {
		return
	}
	if view.Title != a.title || view.Content != a.content || view.ID == "" {
		c.load.violation("%s: the response has another record: %s", r.op, got.body)
	}
	a.id = view.ID
	delete(c.unconfirmed, a.title)
	c.articles[a.title] = a
	c.titles = append(c.titles, a.title)
	c.created++
}

// randomArticle returns one of the client's articles; nil if it has none.
func (c *client) randomArticle() *article {
	if len(c.titles) == 0 {
		return nil
	}
	return c.articles[c.titles[c.random.IntN(len(c.titles))]]
}

// wasDeleted reports whether a 404 means that an earlier deletion with an unknown outcome took effect.
func (c *client) wasDeleted(a *article, got response) bool {
	if got.status != http.StatusNotFound || !a.maybeDeleted {
		return false
	}
	c.forget(a)
	return true
}

func (c *client) forget(a *article) {
	delete(c.articles, a.title)
	c.titles = slices.DeleteFunc(c.titles, func(title string) bool { return title == a.title })
}

func (c *client) read() {
	a := c.randomArticle()
	if a == nil {
		return
	}
	r := request{op: "read", method: "GET", path: "/articles/" + a.id}
	got := c.call(r)
	if c.wasDeleted(a, got) {
		return
	}
	var view struct{ Content string }
	if c.decode(r, got, http.StatusOK, &view) && !a.mayHave(view.Content) {
		c.load.violation("read: the content of %s is not the last one written: %q", a.title, view.Content)
	}
}

func (c *client) list() {
	r := request{op: "list", method: "GET", path: "/articles?limit=20&fields=title&userId=" + c.id}
	var page struct{ Count int }
	if c.decode(r, c.call(r), http.StatusOK, &page) && page.Count > len(c.articles)+len(c.unconfirmed) {
		c.load.violation("list: %d records, and the client created at most %d", page.Count, len(c.articles)+len(c.unconfirmed))
	}
}

func (c *client) search() {
	a := c.randomArticle()
	if a == nil {
		return
	}
	r := request{op: "search", method: "GET", path: "/articles?count=false&fields=title&userId=" + c.id + "&q=" + a.title}
	var page struct{ Rows []struct{ ID string } }
	if !c.decode(r, c.call(r), http.StatusOK, &page) || a.maybeDeleted {
		return
	}
	if !slices.ContainsFunc(page.Rows, func(row struct{ ID string }) bool { return row.ID == a.id }) {
		c.load.violation("search: %s is not found by its title", a.title)
	}
}

func (c *client) update() {
	a := c.randomArticle()
	if a == nil {
		return
	}
	content := c.newContent()
	r := request{op: "update", method: "PATCH", path: "/articles/" + a.id, form: map[string]string{"content": content}}
	got := c.call(r)
	switch {
	case c.wasDeleted(a, got):
	case c.expect(r, got, http.StatusOK):
		a.content = content
	case got.failed():
		a.maybe = append(a.maybe, content) // it may take effect after later updates
	}
}

func (c *client) delete() {
	a := c.randomArticle()
	if a == nil {
		return
	}
	r := request{op: "delete", method: "DELETE", path: "/articles/" + a.id}
	got := c.call(r)
	switch {
	case c.wasDeleted(a, got):
	case c.expect(r, got, http.StatusNoContent):
		c.forget(a)
	case got.failed():
		a.maybeDeleted = true
	}
}
