// Package resilience breaks what the service stands on while clients use it (its process, its disk, its database's network,
// its clock, its mail server, its providers), and holds it to what docs/reliability.md promises. The tests do the
// breaking; Load is the clients, who remember what they were told, for the tests and for scripts/checks/bench.
package resilience

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Load is a number of clients who use the service as fast as it answers. Each is a user of her own, so that what she is
// shown must be what she did.
type Load struct {
	url     atomic.Pointer[string]
	key     string
	http    *http.Client
	clients []*client
	running sync.WaitGroup
	ctx     context.Context // ends with Stop
	cancel  context.CancelFunc
	good    atomic.Int64

	mu      sync.Mutex
	mark    time.Time
	samples []Sample
	wrong   []string
}

// Sample is one request and what became of it.
type Sample struct {
	Op     string
	Begun  time.Time
	Took   time.Duration
	Status int // 0: the connection ended without an answer
}

// Failed reports whether the service did not do what it was asked.
func (s Sample) Failed() bool { return s.Status == 0 || s.Status >= http.StatusInternalServerError }

// The bounds of a Load.
const (
	patience  = 45 * time.Second      // for an answer: a request may take 30 s in all
	breath    = 20 * time.Millisecond // after a failure
	owned     = 40                    // articles of a client, above which she deletes more than she creates
	maxWrong  = 20                    // that are told
	pageLimit = 100
)

// password is every client's.
const password = "patience is a root"

// NewLoad makes clients who reach the service at a URL, and signs them up with the master key.
func NewLoad(ctx context.Context, url, masterKey string, clients int) (*Load, error) {
	l := &Load{key: masterKey, http: &http.Client{
		Timeout:   patience,
		Transport: &http.Transport{MaxIdleConnsPerHost: clients, DisableCompression: true},
	}}
	l.SetURL(url)
	for i := range clients {
		c := &client{load: l, name: fmt.Sprintf("c%d", i), dice: rand.New(rand.NewPCG(uint64(i), 1)), articles: make(map[string]*article), open: make(map[string]bool)}
		if err := c.signUp(ctx); err != nil {
			return nil, err
		}
		l.clients = append(l.clients, c)
	}
	l.samples = nil
	return l, nil
}

// SetURL has the clients find the service elsewhere: it was started anew.
func (l *Load) SetURL(url string) { l.url.Store(&url) }

// Start lets the clients begin.
func (l *Load) Start() {
	l.ctx, l.cancel = context.WithCancel(context.Background())
	for _, c := range l.clients {
		l.running.Go(c.run)
	}
}

// Stop waits until each client has had her last answer. Whoever repeats a request with a key waits no longer: a first one
// that was cut off keeps her waiting for 10 s, and its outcome is not told anyway.
func (l *Load) Stop() {
	l.cancel()
	l.running.Wait()
	l.http.CloseIdleConnections()
}

// Good is how many requests have succeeded.
func (l *Load) Good() int64 { return l.good.Load() }

// Await waits until so many more requests have succeeded.
func (l *Load) Await(ctx context.Context, more int64) error {
	goal := l.Good() + more
	return Until(ctx, func() bool { return l.Good() >= goal })
}

// Mark says that a fault is over: Recovery looks at what comes after.
func (l *Load) Mark() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mark = time.Now()
}

// Until looks again and again whether something has come true.
func Until(ctx context.Context, done func() bool) error {
	for !done() {
		select {
		case <-time.After(breath / 4):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Recovery is how long after the mark the last request has failed.
func (l *Load) Recovery() (took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.samples {
		if s.Failed() {
			took = max(took, s.Begun.Add(s.Took).Sub(l.mark))
		}
	}
	return took
}

// Take returns what became of the requests since the last call.
func (l *Load) Take() []Sample {
	l.mu.Lock()
	defer l.mu.Unlock()
	samples := l.samples
	l.samples = nil
	return samples
}

func (l *Load) note(s Sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples = append(l.samples, s)
	if !s.Failed() {
		l.good.Add(1)
	}
}

// blame notes that the service broke a promise.
func (l *Load) blame(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.wrong) < maxWrong {
		l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
	}
}

// Verdict is how what is there compares with what the clients were told.
type Verdict struct {
	Created int      // records that were answered 201
	Untold  int      // creations whose outcome the client was not told
	Made    int      // of these, how many made a record
	Wrong   []string // what must not be; empty if every promise was kept

	Recovery time.Duration // how long after the mark the last request failed
}

// Check reads all that is there, once the clients have stopped. A record that was answered 201 must be there, once, with
// the last content that was answered, or one whose outcome was not told; what was answered to be deleted must not; and
// each record must have been asked for.
func (l *Load) Check(ctx context.Context) (Verdict, error) {
	v := Verdict{Recovery: l.Recovery()}
	for _, c := range l.clients {
		if err := c.check(ctx, &v); err != nil {
			return v, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	v.Wrong = append(v.Wrong, l.wrong...)
	return v, nil
}

// client is one of the load.
type client struct {
	load            *Load
	name, id, email string
	token           string
	dice            *rand.Rand
	serial          int
	created         int
	articles        map[string]*article // that are hers, by title
	open            map[string]bool     // titles whose creation she was not told the outcome of
	titles          []string            // of articles, to choose from
	pending         *creation           // with a key, to be sent again
}

// article is what a client knows of one of hers.
type article struct {
	id, title, content string
	maybe              []string // contents of changes whose outcome she was not told
	maybeGone          bool     // nor that of a deletion
}

func (a *article) may(content string) bool {
	return content == a.content || slices.Contains(a.maybe, content)
}

// deeds are what clients do, each as often as it stands here.
func deeds() []func(*client) {
	var all []func(*client)
	for _, d := range []struct {
		percent int
		do      func(*client)
	}{
		{18, (*client).create}, {12, (*client).createKeyed}, {22, (*client).read}, {12, (*client).list}, {10, (*client).search},
		{15, (*client).update}, {10, (*client).delete}, {1, (*client).renew},
	} {
		all = append(all, slices.Repeat([]func(*client){d.do}, d.percent)...)
	}
	return all
}

func (c *client) run() {
	choice := deeds()
	for c.load.ctx.Err() == nil {
		if len(c.titles) > owned {
			c.delete()
		}
		choice[c.dice.IntN(len(choice))](c)
	}
}

// answer is what came back.
type answer struct {
	status int // 0: nothing
	body   []byte
}

// request is one call.
type request struct {
	op, method, path string
	form             map[string]string
	header           map[string]string
	basic            bool
	again            bool // it was sent before, and is given up when the load stops
}

// call sends a request, notes what becomes of it, and holds errors to their form.
func (c *client) call(r request) answer {
	var body strings.Builder
	if r.form != nil {
		_ = json.NewEncoder(&body).Encode(r.form) // texts
	}
	httpRequest, err := http.NewRequest(r.method, *c.load.url.Load()+r.path, strings.NewReader(body.String()))
	if err != nil {
		panic(err) // a mistake in this file
	}
	httpRequest.Header.Set("Content-Type", "application/json")
	for name, value := range r.header {
		httpRequest.Header.Set(name, value)
	}
	if r.basic {
		httpRequest.SetBasicAuth(c.email, password)
	} else {
		httpRequest.Header.Set("Authorization", "Bearer "+c.token)
	}
	if r.again {
		httpRequest = httpRequest.WithContext(c.load.ctx)
	}
	begun := time.Now()
	a, header := send(c.load.http, httpRequest)
	if httpRequest.Context().Err() != nil {
		return answer{}
	}
	c.load.note(Sample{Op: r.op, Begun: begun, Took: time.Since(begun), Status: a.status})
	switch {
	case a.status == 0:
	case a.status == http.StatusServiceUnavailable:
		var problem struct{ Code, RequestID string }
		err := json.Unmarshal(a.body, &problem)
		if err != nil || problem.Code != "unavailable" || problem.RequestID == "" || header.Get("Retry-After") == "" {
			c.load.blame("%s: a 503 that is no problem with Retry-After: %v %s", r.op, header, a.body)
		}
	case a.status >= http.StatusInternalServerError, a.status == http.StatusTooManyRequests, a.status == http.StatusUnauthorized:
		c.load.blame("%s: status %d: %s", r.op, a.status, a.body)
	}
	if a.status == 0 || a.status >= http.StatusInternalServerError {
		time.Sleep(breath)
	}
	return a
}

func send(client *http.Client, r *http.Request) (answer, http.Header) {
	response, err := client.Do(r)
	if err != nil {
		return answer{}, nil
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, nil
	}
	return answer{response.StatusCode, body}, response.Header
}

// decode reads an answer that must have a status; false if it has another, or holds something else.
func (c *client) decode(r request, a answer, status int, into any) bool {
	if a.status != status {
		if a.status != 0 && a.status < http.StatusInternalServerError {
			c.load.blame("%s: status %d, want %d: %s", r.op, a.status, status, a.body)
		}
		return false
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		c.load.blame("%s: %v: %s", r.op, err, a.body)
		return false
	}
	return true
}

func (c *client) signUp(ctx context.Context) error {
	c.email = fmt.Sprintf("%s-%x@example.com", c.name, rand.Uint64())
	c.token = c.load.key
	a := c.call(request{op: "sign up", method: "POST", path: "/users", form: map[string]string{"email": c.email, "password": password}})
	var u struct{ ID string }
	if err := json.Unmarshal(a.body, &u); a.status != http.StatusCreated || err != nil {
		return fmt.Errorf("sign-up: %d %s", a.status, a.body)
	}
	c.id = u.ID
	if !c.signIn() {
		return errors.New("sign-in fails")
	}
	return ctx.Err()
}

func (c *client) signIn() bool {
	r := request{op: "sign in", method: "POST", path: "/auth", basic: true, form: map[string]string{"access_token": c.load.key}}
	var session struct{ Token string }
	if !c.decode(r, c.call(r), http.StatusCreated, &session) {
		return false
	}
	c.token = session.Token
	return true
}

// renew signs in again and ends the session before.
func (c *client) renew() {
	old := c.token
	if !c.signIn() {
		return
	}
	fresh := c.token
	c.token = old
	r := request{op: "sign out", method: "DELETE", path: "/auth"}
	a := c.call(r)
	c.token = fresh
	c.want(r, a, http.StatusNoContent)
}

// want blames an answer that is neither the wanted one nor a failure.
func (c *client) want(r request, a answer, status int) bool {
	if a.status != status && a.status != 0 && a.status < http.StatusInternalServerError {
		c.load.blame("%s: status %d, want %d: %s", r.op, a.status, status, a.body)
	}
	return a.status == status
}

func (c *client) text() string {
	c.serial++
	return fmt.Sprintf("%s%d %s", c.name, c.serial, strings.Repeat("a root worth waiting for ", 4+c.dice.IntN(20)))
}

func (c *client) newArticle() (*article, request) {
	c.serial++
	a := &article{title: fmt.Sprintf("%sx%d", c.name, c.serial), content: strings.TrimSpace(c.text())}
	return a, request{op: "create", method: "POST", path: "/articles", form: map[string]string{"title": a.title, "content": a.content}}
}

func (c *client) create() {
	a, r := c.newArticle()
	c.settleCreation(a, r, c.call(r))
}

// createKeyed sends a request with a key, or the one before again, until she is told the outcome, or that she will not
// be told.
func (c *client) createKeyed() {
	if c.pending == nil {
		a, r := c.newArticle()
		r.op, r.header = "create with a key", map[string]string{"Idempotency-Key": a.title}
		c.pending = &creation{a, r}
		c.open[a.title] = true
	}
	a, r := c.pending.article, c.pending.request
	c.pending.again = true
	got := c.call(r)
	if got.status == 0 || got.status >= http.StatusInternalServerError {
		return
	}
	c.pending = nil
	if got.status != http.StatusConflict { // the first one was cut off
		c.settleCreation(a, r, got)
	}
}

// creation is an article that a client wants, and how she asks for it.
type creation struct {
	*article
	request
}

func (c *client) settleCreation(a *article, r request, got answer) {
	var view struct{ ID, Title, Content string }
	if got.status == 0 || got.status >= http.StatusInternalServerError {
		c.open[a.title] = true
		return
	}
	if !c.decode(r, got, http.StatusCreated, &view) {
		return
	}
	if view.Title != a.title || view.Content != a.content || view.ID == "" {
		c.load.blame("%s: another record was answered: %s", r.op, got.body)
	}
	a.id = view.ID
	delete(c.open, a.title)
	c.articles[a.title] = a
	c.titles = append(c.titles, a.title)
	c.created++
}

// any is one of her articles; nil if she has none.
func (c *client) any() *article {
	if len(c.titles) == 0 {
		return nil
	}
	return c.articles[c.titles[c.dice.IntN(len(c.titles))]]
}

func (c *client) read() {
	a := c.any()
	if a == nil {
		return
	}
	r := request{op: "read", method: "GET", path: "/articles/" + a.id}
	got := c.call(r)
	if c.gone(a, got) {
		return
	}
	var view struct{ Content string }
	if c.decode(r, got, http.StatusOK, &view) && !a.may(view.Content) {
		c.load.blame("read: %s has a content that was not written last: %q", a.title, view.Content)
	}
}

// gone reports whether an answer says that the article is not there, and this may be.
func (c *client) gone(a *article, got answer) bool {
	if got.status != http.StatusNotFound || !a.maybeGone {
		return false
	}
	c.forget(a)
	return true
}

func (c *client) forget(a *article) {
	delete(c.articles, a.title)
	c.titles = slices.DeleteFunc(c.titles, func(title string) bool { return title == a.title })
}

func (c *client) list() {
	r := request{op: "list", method: "GET", path: "/articles?limit=20&fields=title&userId=" + c.id}
	var page struct{ Count int }
	if c.decode(r, c.call(r), http.StatusOK, &page) && page.Count > len(c.articles)+len(c.open) {
		c.load.blame("list: %d records, and she has created at most %d", page.Count, len(c.articles)+len(c.open))
	}
}

func (c *client) search() {
	a := c.any()
	if a == nil {
		return
	}
	r := request{op: "search", method: "GET", path: "/articles?count=false&fields=title&userId=" + c.id + "&q=" + a.title}
	var page struct{ Rows []struct{ ID string } }
	if !c.decode(r, c.call(r), http.StatusOK, &page) || a.maybeGone {
		return
	}
	if !slices.ContainsFunc(page.Rows, func(row struct{ ID string }) bool { return row.ID == a.id }) {
		c.load.blame("search: %s is not found by its title", a.title)
	}
}

func (c *client) update() {
	a := c.any()
	if a == nil {
		return
	}
	content := strings.TrimSpace(c.text())
	r := request{op: "update", method: "PATCH", path: "/articles/" + a.id, form: map[string]string{"content": content}}
	got := c.call(r)
	switch {
	case c.gone(a, got):
	case c.want(r, got, http.StatusOK):
		a.content = content
	case got.status == 0 || got.status >= http.StatusInternalServerError:
		a.maybe = append(a.maybe, content) // a late one may still come after the next
	}
}

func (c *client) delete() {
	a := c.any()
	if a == nil {
		return
	}
	r := request{op: "delete", method: "DELETE", path: "/articles/" + a.id}
	got := c.call(r)
	switch {
	case c.gone(a, got):
	case c.want(r, got, http.StatusNoContent):
		c.forget(a)
	case got.status == 0 || got.status >= http.StatusInternalServerError:
		a.maybeGone = true
	}
}

// check compares her articles with what she was told.
func (c *client) check(ctx context.Context, v *Verdict) error {
	v.Created += c.created
	v.Untold += len(c.open)
	seen := make(map[string]int)
	for after := ""; ; {
		path := fmt.Sprintf("/articles?sort=createdAt&limit=%d&fields=title,content&userId=%s", pageLimit, c.id)
		if after == "" {
			path += "&count=true"
		} else {
			path += "&count=false&after=" + after
		}
		got := c.call(request{op: "check", method: "GET", path: path})
		var page struct {
			Rows []struct{ ID, Title, Content string }
			Next string
		}
		if err := json.Unmarshal(got.body, &page); got.status != http.StatusOK || err != nil {
			return fmt.Errorf("the records cannot be read: %d %s: %w", got.status, got.body, errors.Join(err, ctx.Err()))
		}
		for _, row := range page.Rows {
			seen[row.Title]++
			a := c.articles[row.Title]
			switch {
			case a == nil && c.open[row.Title]:
				v.Made++
			case a == nil:
				v.Wrong = append(v.Wrong, row.Title+" is there, though nobody asked for it, or it was deleted")
			case a.id != row.ID:
				v.Wrong = append(v.Wrong, row.Title+" has another id than was answered")
			case !a.may(row.Content):
				v.Wrong = append(v.Wrong, fmt.Sprintf("%s has not the content that was answered last, but %q", row.Title, row.Content))
			}
			if seen[row.Title] == 2 {
				v.Wrong = append(v.Wrong, row.Title+" is there twice")
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	for title, a := range c.articles {
		if seen[title] == 0 && !a.maybeGone {
			v.Wrong = append(v.Wrong, title+" was answered 201 and is lost")
		}
	}
	return nil
}
