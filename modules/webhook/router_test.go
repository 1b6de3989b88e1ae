package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

type request = testkit.Request

// call is a request to a receiver.
type call struct {
	id, timestamp, body string
	signatures          []string
	status              int
	Type                string
	Timestamp           string
	Data                map[string]any
}

// signedWith reports whether a secret has signed the call. It follows the specification, not the code of the module.
func (c call) signedWith(t *testing.T, secret string) bool {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(raw) != 32 {
		t.Fatalf("%s: %v", secret, err)
	}
	mac := hmac.New(sha256.New, raw)
	mac.Write([]byte(c.id + "." + c.timestamp + "." + c.body))
	return slices.Contains(c.signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// receiver is a server that receives events.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	calls  []call
	open   chan struct{} // if it is not nil, responses wait until it is closed
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{status: http.StatusOK}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		c := call{
			id: q.Header.Get("webhook-id"), timestamp: q.Header.Get("webhook-timestamp"), body: string(body),
			signatures: strings.Fields(q.Header.Get("webhook-signature")), status: r.status,
		}
		if err := json.Unmarshal(body, &c); err != nil || q.Header.Get("Content-Type") != "application/json" || q.Method != http.MethodPost {
			t.Errorf("%s %v: %s", q.Method, q.Header, body)
		}
		r.calls = append(r.calls, c)
		open := r.open
		r.mu.Unlock()
		if open != nil {
			select {
			case <-open:
			case <-q.Context().Done():
			}
		}
		w.WriteHeader(c.status)
	}))
	t.Cleanup(r.Close)
	return r
}

// respond sets the status of the responses.
func (r *receiver) respond(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func (r *receiver) all() []call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// wait waits for n calls.
func (r *receiver) wait(t *testing.T, n int) []call {
	t.Helper()
	eventually(t, fmt.Sprintf("%d requests", n), func() bool { return len(r.all()) >= n })
	return r.all()
}

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !check(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timeout: %s", what)
		}
	}
}

// service is a service with an admin.
type service struct {
	*testkit.API
	t     *testing.T
	admin testkit.Account
}

func start(t *testing.T, options ...testkit.Option) *service {
	t.Helper()
	api := apitest.Start(t, append([]testkit.Option{testkit.Env("WEBHOOK_NETWORKS", "127.0.0.0/8")}, options...)...)
	return &service{api, t, api.SignUp("admin")}
}

// startWithArticles calls start. It skips the test if the service does not have articles with events, a title and a content.
func startWithArticles(t *testing.T, options ...testkit.Option) *service {
	t.Helper()
	s := start(t, options...)
	probe := s.Do(s.do("POST", "/webhooks", map[string]any{"url": "https://example.com/", "events": []string{"article.created"}}))
	if fields := s.Do(s.do("GET", "/articles?fields=title,content", nil)); probe.Status != 201 || fields.Status != 200 {
		t.Skip("there are no articles, or they have other fields or no events")
	}
	s.Do(s.do("DELETE", "/webhooks/"+probe.JSON(201)["id"].(string), nil))
	return s
}

// work runs the workers of an instance until stop is called. The end of the test also calls stop.
func work(t *testing.T, api *testkit.API) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for _, w := range api.Handler.Workers {
		group.Go(func() { w(ctx) })
	}
	stop = func() {
		cancel()
		group.Wait()
	}
	t.Cleanup(stop)
	return stop
}

func (s *service) do(method, path string, body any) request {
	return request{Method: method, Path: path, As: s.admin.Token, JSON: body}
}

// hook creates a webhook, and returns its path and secret.
func (s *service) hook(url string, events ...string) (path, secret string) {
	s.t.Helper()
	created := s.Do(s.do("POST", "/webhooks", map[string]any{"url": url, "events": events})).JSON(201)
	return "/webhooks/" + created["id"].(string), created["secret"].(string)
}

func (s *service) article(title string) (id string) {
	s.t.Helper()
	return s.Do(s.do("POST", "/articles", map[string]any{"title": title})).JSON(201)["id"].(string)
}

// earlier creates an article, and waits until the log has it. On MongoDB, that is shortly after the response.
func (s *service) earlier(title string) (id string) {
	s.t.Helper()
	id = s.article(title)
	eventually(s.t, "the log has the article", func() bool {
		return len(s.Do(s.do("GET", "/changes?resource=articles&recordId="+id, nil)).JSON(200)["rows"].([]any)) > 0
	})
	return id
}

// deliveries returns the deliveries of a webhook, newest first.
func (s *service) deliveries(path, query string) (rows []map[string]any) {
	s.t.Helper()
	for _, row := range s.Do(s.do("GET", path+"/deliveries"+query, nil)).JSON(200)["rows"].([]any) {
		rows = append(rows, row.(map[string]any))
	}
	return rows
}

// settled waits until the newest delivery has the number of attempts, and returns it.
func (s *service) settled(path string, attempts int) (d map[string]any) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("%d attempts", attempts), func() bool {
		rows := s.deliveries(path, "")
		if len(rows) == 0 {
			return false
		}
		d = rows[0]
		return d["attempts"] == float64(attempts)
	})
	return d
}

// TestManage creates, reads, changes and deletes webhooks.
func TestManage(t *testing.T) {
	t.Parallel()
	s := startWithArticles(t)
	create := func(pairs ...any) request {
		body := map[string]any{"url": "https://example.com/hooks", "events": []string{"article.created"}}
		for i := 0; i < len(pairs); i += 2 {
			body[pairs[i].(string)] = pairs[i+1]
		}
		return s.do("POST", "/webhooks", body)
	}
	s.Run(t, []testkit.Scenario{
		testkit.Row("JSON", create("description", "index"), 201, []string{`"secret":"whsec_`, `"enabled":true`, `"description":"index"`}, []string{"failingSince", "fromNumber"}),
		testkit.Row("all", create("events", []string{"*"}), 201, []string{`"events":["*"]`}, nil),
		testkit.Row("sorted", create("events", []string{"article.updated", "article.*", "article.updated"}), 201, []string{`"events":["article.*","article.updated"]`}, nil),
		testkit.Row("disabled", create("enabled", false), 201, []string{`"enabled":false`}, nil),
		testkit.Row("http in WEBHOOK_NETWORKS", create("url", "http://127.0.0.1:1/"), 201, nil, nil),
		testkit.Row("unknown resource", create("events", []string{"test-note.created"}), 400,
			[]string{`"param":"events"`, "one_of", `"expected":["*",`, `"article.*","article.created","article.updated","article.deleted"`}, nil),
		testkit.Row("unknown event", create("events", []string{"article.read"}), 400, []string{"one_of"}, nil),
		testkit.Row("test is not an event", create("events", []string{"webhook.test"}), 400, []string{"one_of"}, nil),
		testkit.Row("private address", create("url", "https://10.0.0.1/"), 400, []string{`"param":"url"`, "format", "WEBHOOK_NETWORKS"}, nil),
		testkit.Row("all errors of all kinds", create("url", "https://10.0.0.1/", "events", []string{"x"}, "description", strings.Repeat("x", 501)), 400,
			[]string{`"param":"url"`, `"param":"events"`, `"param":"description"`}, nil),
		testkit.Row("with a user", create("url", "https://a:b@example.com/"), 400, []string{`"param":"url"`}, nil),
	})
	list := s.Do(s.do("GET", "/webhooks", nil)).JSON(200)
	if list["count"] != 5.0 {
		t.Errorf("%v webhooks, not 5", list["count"])
	}
	path, secret := s.hook("https://example.com/", "*")
	const none = "/webhooks/65f0c1d2e3a4b5c6d7e8f904"
	s.Run(t, []testkit.Scenario{
		testkit.Row("show", s.do("GET", path, nil), 200, []string{"https://example.com/"}, []string{"secret", secret}),
		testkit.Row("change", s.do("PATCH", path, map[string]any{"url": "https://example.org/", "enabled": false}), 200, []string{"https://example.org/", `"enabled":false`, `["*"]`}, nil),
		testkit.Row("invalid changes", s.do("PATCH", path, map[string]any{"url": "https://[::1]/", "events": []string{"x"}, "enabled": 5}), 400, []string{`"url"`, `"events"`, `"enabled"`}, nil),
		testkit.Row("new secret", s.do("POST", path+"/secret", nil), 201, []string{`"secret":"whsec_`}, []string{secret}),
		testkit.Row("no deliveries", s.do("GET", path+"/deliveries", nil), 200, []string{`"count":0`}, nil),
		testkit.Row("no such delivery", s.do("POST", path+"/deliveries/65f0c1d2e3a4b5c6d7e8f904/retry", nil), 409, []string{"disabled"}, nil),
		testkit.Row("delete", s.do("DELETE", path, nil), 204, nil, nil),
		testkit.Row("deleted", s.do("GET", path, nil), 404, nil, nil),
		testkit.Row("test none", s.do("POST", none+"/test", nil), 404, nil, nil),
		testkit.Row("retry of none", s.do("POST", none+"/deliveries/65f0c1d2e3a4b5c6d7e8f904/retry", nil), 404, nil, nil),
	})
	for range 95 {
		s.hook("https://example.com/", "*")
	}
	if response := s.Do(create()); response.Status != 409 || !strings.Contains(string(response.Body), "100 webhooks") {
		t.Errorf("%d %s", response.Status, response.Body)
	}
	if list := s.Do(s.do("GET", "/webhooks", nil)).JSON(200); list["count"] != 100.0 {
		t.Errorf("%v webhooks", list["count"])
	}
}

// TestEvents checks that events of articles are sent in order and signed, and replaces the secret.
func TestEvents(t *testing.T) {
	t.Parallel()
	s, r, other := startWithArticles(t), newReceiver(t), newReceiver(t)
	before := s.earlier("before")
	path, secret := s.hook(r.URL, "article.*")
	s.hook(other.URL, "article.deleted")
	work(t, s.API)
	id := s.article("one")
	created := r.wait(t, 1)[0]
	view := s.Do(request{Method: "GET", Path: "/articles/" + id})
	if data, _ := json.Marshal(created.Data); created.Type != "article.created" || !sameJSON(data, view.Body) || !created.signedWith(t, secret) || len(created.signatures) != 1 {
		t.Errorf("%+v, but the article is %s", created, view.Body)
	}
	if at, err := store.ParseTime(created.Timestamp); err != nil || at.IsZero() {
		t.Errorf("timestamp %s", created.Timestamp)
	}
	if created.timestamp != fmt.Sprint(s.Clock.Now().Unix()) {
		t.Errorf("webhook-timestamp %s", created.timestamp)
	}
	s.Do(s.do("PATCH", "/articles/"+before, map[string]any{"title": "changed"})).JSON(200)
	if c := r.wait(t, 2)[1]; c.Type != "article.updated" || c.Data["title"] != "changed" {
		t.Errorf("%+v", c)
	}
	renewed := s.Do(s.do("POST", path+"/secret", nil)).JSON(201)["secret"].(string)
	s.Do(s.do("DELETE", "/articles/"+id, nil))
	if c := r.wait(t, 3)[2]; c.Type != "article.deleted" || len(c.Data) != 1 || c.Data["id"] != id || !c.signedWith(t, secret) || !c.signedWith(t, renewed) {
		t.Errorf("%+v", c)
	}
	if c := other.wait(t, 1); len(c) != 1 || c[0].Type != "article.deleted" || c[0].id == r.all()[2].id {
		t.Errorf("%+v", c)
	}
	s.Clock.Advance(25 * time.Hour)
	s.admin.Session = s.SignIn(s.admin.Email, testkit.Password)
	s.article("later")
	if c := r.wait(t, 4)[3]; c.signedWith(t, secret) || !c.signedWith(t, renewed) {
		t.Errorf("%+v", c)
	}
	d := s.settled(path, 1)
	if d["status"] != "delivered" || d["responseStatus"] != 200.0 || d["nextAttemptAt"] != nil || d["error"] != "" || d["type"] != "article.created" || d["id"] != r.all()[3].id {
		t.Errorf("%v", d)
	}
	eventually(t, "all are delivered", func() bool { return len(s.deliveries(path, "?status=delivered")) == 4 })
	if pending := s.deliveries(path, "?status=pending"); len(pending) != 0 {
		t.Errorf("%v", pending)
	}
}

// sameJSON reports whether two JSON values are equal.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// TestDisable checks that disabling, changing or deleting a webhook takes effect immediately, even on another instance.
func TestDisable(t *testing.T) {
	t.Parallel()
	s, r, moved := startWithArticles(t), newReceiver(t), newReceiver(t)
	path, _ := s.hook(r.URL, "*")
	second := s.Instance(testkit.Env("WEBHOOK_NETWORKS", "127.0.0.0/8"))
	work(t, second)
	s.article("one")
	r.wait(t, 1)
	s.Do(s.do("PATCH", path, map[string]any{"enabled": false})).JSON(200)
	s.earlier("while it is disabled")
	s.Do(s.do("PATCH", path, map[string]any{"enabled": true, "url": moved.URL, "events": []string{"article.created"}})).JSON(200)
	s.article("two")
	if c := moved.wait(t, 1)[0]; c.Data["title"] != "two" {
		t.Errorf("%+v", c)
	}
	s.Do(s.do("DELETE", path, nil))
	last, _ := s.hook(r.URL, "*")
	s.article("three")
	if c := r.wait(t, 2)[1]; c.Data["title"] != "three" {
		t.Errorf("%+v", c)
	}
	s.settled(last, 1)
	if len(r.all()) != 2 || len(moved.all()) != 1 {
		t.Errorf("%+v, %+v", r.all(), moved.all())
	}
}

// TestRetries makes all attempts fail. It checks the delays, and that each attempt sends the same body. A later event is sent
// meanwhile.
func TestRetries(t *testing.T) {
	t.Parallel()
	s, r := startWithArticles(t), newReceiver(t)
	r.respond(503)
	path, _ := s.hook(r.URL, "article.created")
	work(t, s.API)
	id := s.article("one")
	s.settled(path, 1)
	s.Do(s.do("PATCH", "/articles/"+id, map[string]any{"title": "changed"})).JSON(200)
	delays := []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
	for i, delay := range delays {
		d := s.settled(path, i+1)
		next, err := store.ParseTime(fmt.Sprint(d["nextAttemptAt"]))
		if left := next.Sub(s.Clock.Now()); err != nil || d["status"] != "pending" || d["responseStatus"] != 503.0 || left < delay-time.Second || left > delay*11/10 {
			t.Fatalf("%v: in %v", d, left)
		}
		s.Clock.Advance(next.Sub(s.Clock.Now()))
		s.admin.Session = s.SignIn(s.admin.Email, testkit.Password)
		r.wait(t, i+2)
	}
	if d := s.settled(path, 10); d["status"] != "failed" || d["nextAttemptAt"] != nil || d["error"] != "The response has the status 503." {
		t.Errorf("%v", d)
	}
	calls := r.all()
	for _, c := range calls {
		if c.body != calls[0].body || c.id != calls[0].id {
			t.Errorf("%+v, but first %+v", c, calls[0])
		}
	}
	if calls[0].timestamp == calls[9].timestamp {
		t.Error("the time of the attempts is the same")
	}
	r.respond(200)
	retry := s.do("POST", path+"/deliveries/"+calls[0].id+"/retry", nil)
	if d := s.Do(retry).JSON(202); d["status"] != "pending" {
		t.Errorf("%v", d)
	}
	if d := s.settled(path, 11); d["status"] != "delivered" || d["responseStatus"] != 200.0 || d["error"] != "" {
		t.Errorf("%v", d)
	}
	if c := r.all()[10]; c.body != calls[0].body || c.id != calls[0].id {
		t.Errorf("%+v", c)
	}
	s.Clock.Advance(8 * 24 * time.Hour)
	s.RunJobs()
	s.admin.Session = s.SignIn(s.admin.Email, testkit.Password)
	if rows := s.deliveries(path, ""); len(rows) != 0 {
		t.Errorf("%v", rows)
	}
}

// TestGone disables a webhook whose receiver responds 410, and notifies the admins.
func TestGone(t *testing.T) {
	t.Parallel()
	s, r := startWithArticles(t), newReceiver(t)
	s.SignUp("user")
	r.respond(410)
	path, _ := s.hook(r.URL+"/secret-path", "*")
	work(t, s.API)
	s.article("one")
	if d := s.settled(path, 1); d["status"] != "failed" {
		t.Errorf("%v", d)
	}
	if w := s.Do(s.do("GET", path, nil)).JSON(200); w["enabled"] != false || w["disabledReason"] != "The receiver responded 410 Gone." {
		t.Errorf("%v", w)
	}
	s.Finish()
	if m := s.Email.Next(t); m.To != s.admin.Email || !strings.Contains(m.Text, "410 Gone") || strings.Contains(m.Text, "secret-path") {
		t.Errorf("%+v", m)
	}
	s.Email.None(t)
}

// TestOwner suspends, demotes and deletes admins. Their webhooks send nothing more, until another admin enables or changes them.
func TestOwner(t *testing.T) {
	t.Parallel()
	s := startWithArticles(t)
	work(t, s.API)
	for name, end := range map[string]func(user string) request{
		"suspended": func(user string) request { return s.do("PATCH", "/users/"+user, map[string]any{"suspended": true}) },
		"demoted":   func(user string) request { return s.do("PATCH", "/users/"+user, map[string]any{"role": "user"}) },
		"deleted":   func(user string) request { return s.do("DELETE", "/users/"+user, nil) },
	} {
		r, taken := newReceiver(t), newReceiver(t)
		owner := s.SignUp("admin")
		create := s.do("POST", "/webhooks", map[string]any{"url": r.URL, "events": []string{"article.created"}})
		create.As = owner.Token
		w := s.Do(create).JSON(201)
		path := "/webhooks/" + w["id"].(string)
		if w["userId"] != owner.ID || w["disabledReason"] != "" {
			t.Errorf("%s: %v", name, w)
		}
		changed := "/webhooks/" + s.Do(create).JSON(201)["id"].(string)
		s.Do(s.do("PATCH", changed, map[string]any{"url": taken.URL})).JSON(200)
		if response := s.Do(end(owner.ID)); response.Status > 204 {
			t.Fatalf("%s: %s", name, response.Body)
		}
		s.article(name)
		eventually(t, name+": disabled", func() bool {
			w = s.Do(s.do("GET", path, nil)).JSON(200)
			return w["enabled"] == false
		})
		if reason := w["disabledReason"].(string); !strings.Contains(reason, "no longer an admin") {
			t.Errorf("%s: %v", name, w)
		}
		taken.wait(t, 1) // the webhook belongs to the admin who changed its URL
		if w = s.Do(s.do("PATCH", path, map[string]any{"enabled": true})).JSON(200); w["userId"] != s.admin.ID || w["disabledReason"] != "" {
			t.Errorf("%s: %v", name, w)
		}
		s.article("later")
		if c := r.wait(t, 1); c[0].Data["title"] != "later" {
			t.Errorf("%s: %v", name, c)
		}
		for _, p := range []string{path, changed} {
			s.Do(s.do("DELETE", p, nil))
		}
	}
}

// TestFiveDays disables a webhook when all of its requests have failed for five days.
func TestFiveDays(t *testing.T) {
	t.Parallel()
	s, r := startWithArticles(t), newReceiver(t)
	path, _ := s.hook(r.URL, "article.created")
	work(t, s.API)
	add := func(status, calls int) (enabled bool) {
		s.admin.Session = s.SignIn(s.admin.Email, testkit.Password)
		r.respond(status)
		s.article("a")
		r.wait(t, calls)
		eventually(t, "the result is stored", func() bool {
			rows := s.deliveries(path, "")
			return len(rows) > 0 && !slices.ContainsFunc(rows, func(d map[string]any) bool { return d["attempts"] == 0.0 })
		})
		return s.Do(s.do("GET", path, nil)).JSON(200)["enabled"].(bool)
	}
	const day = 24 * time.Hour
	if !add(500, 1) {
		t.Fatal("disabled immediately")
	}
	s.Clock.Advance(4 * day)
	if !add(200, 2) { // the retry or the new event succeeds
		t.Fatal("disabled after four days")
	}
	eventually(t, "all are delivered", func() bool { return len(s.deliveries(path, "?status=delivered")) == 2 })
	s.Clock.Advance(2 * day)
	if !add(500, 4) {
		t.Fatal("disabled, although one was delivered two days ago")
	}
	s.Clock.Advance(5*day + time.Second)
	add(500, 5)
	eventually(t, "disabled", func() bool { return s.Do(s.do("GET", path, nil)).JSON(200)["enabled"] == false })
	s.Finish()
	if m := s.Email.Next(t); !strings.Contains(m.Text, "five days") {
		t.Errorf("%+v", m)
	}
	s.Email.None(t)
}

// TestTest sends test events, also to a disabled webhook and to a receiver that fails.
func TestTest(t *testing.T) {
	t.Parallel()
	s, r := start(t), newReceiver(t)
	path, secret := s.hook(r.URL, "*")
	s.Do(s.do("PATCH", path, map[string]any{"enabled": false})).JSON(200)
	send := func() map[string]any { return s.Do(s.do("POST", path+"/test", nil)).JSON(200) }
	if d := send(); d["status"] != "delivered" || d["responseStatus"] != 200.0 || d["type"] != "webhook.test" {
		t.Errorf("%v", d)
	}
	if c := r.all()[0]; c.Type != "webhook.test" || "/webhooks/"+fmt.Sprint(c.Data["id"]) != path || !c.signedWith(t, secret) {
		t.Errorf("%+v", c)
	}
	r.respond(301)
	if d := send(); d["status"] != "failed" || d["responseStatus"] != 301.0 || d["error"] != "The response has the status 301." {
		t.Errorf("%v", d)
	}
	r.Close()
	if d := send(); d["status"] != "failed" || d["responseStatus"] != nil || d["error"] == "" { // refused, or another process has the port
		t.Errorf("%v", d)
	}
	if rows := s.deliveries(path, ""); len(rows) != 3 {
		t.Errorf("%v", rows)
	}
}

// TestOrder sends many events to two instances' workers. First attempts are in the order of the log, although some fail.
func TestOrder(t *testing.T) {
	t.Parallel()
	s, r := startWithArticles(t), newReceiver(t)
	path, _ := s.hook(r.URL, "article.created")
	work(t, s.API)
	work(t, s.Instance(testkit.Env("WEBHOOK_NETWORKS", "127.0.0.0/8")))
	var want []string
	for i := range 60 {
		if i%20 == 10 {
			r.respond(500)
		} else if i%20 == 15 {
			r.respond(200)
		}
		want = append(want, s.article(fmt.Sprint(i)))
	}
	r.respond(200)
	eventually(t, "all are sent", func() bool {
		return len(s.deliveries(path, "?status=delivered&limit=100&count=false")) == 60 || advance(s)
	})
	var got []string
	for _, c := range r.all() {
		if id := c.Data["id"].(string); !slices.Contains(got, id) {
			got = append(got, id)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, but created %v", got, want)
	}
}

// advance advances the clock, which makes retries due. It returns false.
func advance(s *service) bool {
	s.Clock.Advance(time.Second)
	return false
}

// TestDeadReceiver checks that a receiver that does not respond delays neither other webhooks nor the end of the service.
func TestDeadReceiver(t *testing.T) {
	t.Parallel()
	s, dead := startWithArticles(t), newReceiver(t)
	dead.open = make(chan struct{})
	t.Cleanup(func() { close(dead.open) })
	deadPath, _ := s.hook(dead.URL, "*")
	var others []*receiver
	for range 5 {
		r := newReceiver(t)
		others = append(others, r)
		for range 10 {
			s.hook(r.URL, "*")
		}
	}
	stop := work(t, s.API)
	for i := range 3 {
		s.article(fmt.Sprint(i))
	}
	for _, r := range others {
		r.wait(t, 30)
	}
	if rows := s.deliveries(deadPath, "?status=pending"); len(rows) != 3 {
		t.Errorf("%v", rows)
	}
	stop() // does not wait for the response
}
