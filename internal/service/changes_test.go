package service_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// changesTest is the service under test, with a user.
type changesTest struct {
	*testkit.API
	owner testkit.Account
}

func startChanges(t *testing.T, options ...testkit.Option) *changesTest {
	t.Helper()
	s := &changesTest{API: apitest.Start(t, options...)}
	s.owner = s.SignUp("user")
	return s
}

// add creates an article and returns its path.
func (s *changesTest) add(t *testing.T, body map[string]any) string {
	t.Helper()
	return s.Do(testkit.Request{Method: "POST", Path: "/articles", As: s.owner.Token, JSON: body}).Want(201).Header.Get("Location")
}

// event is an event of a stream or a row of a page.
type event struct {
	ID    string         `json:"id"`
	Event string         `json:"event"`
	Data  map[string]any `json:"data"`
}

// String returns the event with the title of its article.
func (e event) String() string {
	return strings.TrimSpace(fmt.Sprint(e.Event, " ", orEmpty(e.Data["title"])))
}

func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// stream is an open stream.
type stream struct {
	t      *testing.T
	lines  *bufio.Reader
	retry  bool
	Header http.Header
	close  func()
}

// listen opens a stream. header has pairs of names and values.
func listen(t *testing.T, api *testkit.API, path, token string, header ...string) *stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, api.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for pair := range slices.Chunk(header, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	s := &stream{t: t, lines: bufio.NewReader(response.Body), Header: response.Header, close: func() { cancel(); _ = response.Body.Close() }}
	t.Cleanup(s.close)
	if got := response.Header.Get("Content-Type"); response.StatusCode != 200 || got != "text/event-stream" {
		body, _ := io.ReadAll(response.Body)
		t.Fatalf("status %d, type %s: %s", response.StatusCode, got, body)
	}
	return s
}

// next returns the next event; one without a name at the end of the stream. It skips heartbeats.
func (s *stream) next() (e event) {
	s.t.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		if err == io.EOF {
			return event{}
		}
		if err != nil {
			s.t.Fatal(err)
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case field == "id":
			e.ID = value
		case field == "event":
			e.Event = value
		case field == "retry":
			s.retry = true
		case field == "data":
			if err := json.Unmarshal([]byte(value), &e.Data); err != nil {
				s.t.Fatal(err)
			}
		case field == "" && e.Event != "":
			return e
		}
	}
}

// want fails unless the next events are these.
func (s *stream) want(events ...string) (last event) {
	s.t.Helper()
	for _, want := range events {
		if last = s.next(); last.String() != want {
			s.t.Fatalf("the event is %q, want %q", last, want)
		}
	}
	return last
}

// page reads a page of changes.
func (s *changesTest) page(t *testing.T, query string) (rows []event, next string, resync bool) {
	t.Helper()
	var page struct {
		Rows   []event
		Next   string
		Resync bool
	}
	body := s.Do(testkit.Request{Method: "GET", Path: "/articles/changes?" + query}).Want(200).Body
	if err := json.Unmarshal(body, &page); err != nil || page.Rows == nil || page.Next == "" {
		t.Fatalf("%s: %v", body, err)
	}
	return page.Rows, page.Next, page.Resync
}

// pages reads pages until one has n events in total: on MongoDB, changes are in the log shortly after they are made.
func (s *changesTest) pages(t *testing.T, query, after string, n int) (events []event, next string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		rows, next, _ := s.page(t, query+"&after="+after)
		events, after = append(events, rows...), next
		if len(events) >= n || time.Now().After(deadline) {
			return events, after
		}
		time.Sleep(time.Millisecond)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	s := startChanges(t)
	live := listen(t, s.API, "/articles/changes", "")
	live.want("ready")
	_, begin, _ := s.page(t, "")
	gone := s.add(t, map[string]any{"title": "gone"})
	live.want("created gone")
	kept := s.add(t, map[string]any{"title": "kept", "content": "text"})
	live.want("created kept")
	s.Do(testkit.Request{Method: "PATCH", Path: kept, As: s.owner.Token, JSON: map[string]any{"title": "changed"}}).Want(200)
	live.want("updated changed")
	s.Do(testkit.Request{Method: "DELETE", Path: gone, As: s.owner.Token}).Want(204)
	deleted := live.want("deleted")
	if want := strings.TrimPrefix(gone, "/articles/"); len(deleted.Data) != 1 || deleted.Data["id"] != want {
		t.Errorf("%v, want the id %s", deleted.Data, want)
	}

	rows, next := s.pages(t, "", begin, 2)
	if got := fmt.Sprint(rows); got != "[created changed deleted]" { // as of now, and nothing of a deleted article
		t.Errorf("%s", got)
	}
	if view := s.Do(testkit.Request{Method: "GET", Path: kept}).JSON(200); !reflect.DeepEqual(rows[0].Data, view) {
		t.Errorf("%v, want %v", rows[0].Data, view)
	}
	if more, again, resync := s.page(t, "after="+next); len(more) != 0 || again != next || resync {
		t.Errorf("%v, %s", more, again)
	}
	rows, _ = s.pages(t, "limit=1", begin, 3)
	if got := fmt.Sprint(rows); got != "[created changed updated changed deleted]" {
		t.Errorf("%s", got)
	}
	rows, _ = s.pages(t, "fields=title", begin, 2)
	if len(rows[0].Data) != 2 || rows[0].Data["id"] == nil {
		t.Errorf("%v", rows[0].Data)
	}
	other := s.SignUp("user")
	if rows, _, _ := s.page(t, "userId="+other.ID+"&after="+begin); len(rows) != 0 {
		t.Errorf("%v are of another user", rows)
	}
	if rows, _ := s.pages(t, "userId="+s.owner.ID, begin, 2); len(rows) != 2 {
		t.Errorf("%v", rows)
	}
	for _, position := range []string{"x", begin[:len(begin)-1], strings.Repeat("A", len(begin))} {
		if rows, current, resync := s.page(t, "after="+position); len(rows) != 0 || current != next || !resync {
			t.Errorf("%s: %v, %s, resync %v", position, rows, current, resync)
		}
	}
	for query, code := range map[string]string{"sort=title": "unknown", "q=x": "unknown", "page=2": "unknown", "limit=0": "min", "fields=x": "one_of"} {
		if body := s.Do(testkit.Request{Method: "GET", Path: "/articles/changes?" + query}).Want(400).Body; !strings.Contains(string(body), `"code":"`+code+`"`) {
			t.Errorf("%s: %s", query, body)
		}
	}
	s.Do(testkit.Request{Method: "GET", Path: "/articles/changes", As: "x"}).Want(401)
}

// TestResume resumes a stream at another instance of the service.
func TestResume(t *testing.T) {
	t.Parallel()
	s := startChanges(t)
	first := listen(t, s.API, "/articles/changes", "")
	first.want("ready")
	s.add(t, map[string]any{"title": "one"})
	position := first.want("created one").ID
	first.close()
	s.add(t, map[string]any{"title": "two"})
	s.add(t, map[string]any{"title": "three"})
	other := s.Instance()
	resumed := listen(t, other, "/articles/changes?after=x", "", "Last-Event-ID", position)
	resumed.want("created two", "created three")
	s.add(t, map[string]any{"title": "four"}) // through another instance
	resumed.want("created four")
	lost := listen(t, other, "/articles/changes", "", "Last-Event-ID", "of another database")
	if e := lost.want("resync"); e.ID == "" || e.Data["id"] != e.ID {
		t.Errorf("%+v", e)
	}
	s.add(t, map[string]any{"title": "five"})
	lost.want("created five")
	if vary := lost.Header.Values("Vary"); !slices.Contains(vary, "Accept") {
		t.Errorf("Vary: %v", vary)
	}
	if got := lost.Header.Get("X-Accel-Buffering") + lost.Header.Get("Content-Encoding") + lost.Header.Get("Cache-Control"); got != "nono-store, no-transform" {
		t.Errorf("the headers are %v", lost.Header)
	}
	resumed.want("created five")
	other.Handler.Long.Close()
	if resumed.want(""); !resumed.retry {
		t.Error("a stream ends without retry")
	}
	if got := other.Do(testkit.Request{Method: "GET", Path: "/articles/changes", Header: http.Header{"Accept": {"text/event-stream"}}}).Status; got != 503 {
		t.Errorf("status %d while the instance stops", got)
	}
}

// TestStreamEnds ends the session of a stream, changes the role of a user with a stream, and opens as many as a user and an
// address may.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	s := startChanges(t, testkit.Env("CHANGES_USER_STREAMS", "2"), func(c *testkit.Config) { c.StreamCheck = 20 * time.Millisecond })
	user := s.SignUp("user")
	own := listen(t, s.API, "/articles/changes", user.Token)
	nobody := listen(t, s.API, "/articles/changes", "")
	own.want("ready")
	nobody.want("ready")
	listen(t, s.API, "/articles/changes", user.Token).want("ready")
	listen(t, s.API, "/articles/changes", "").want("ready")
	accept := http.Header{"Accept": {"text/event-stream"}}
	s.Do(testkit.Request{Method: "GET", Path: "/articles/changes", As: user.Token, Header: accept}).Want(429)
	s.Do(testkit.Request{Method: "GET", Path: "/articles/changes", Header: accept}).Want(429)
	s.Do(testkit.Request{Method: "GET", Path: "/articles/changes"}).Want(200)
	s.Do(testkit.Request{Method: "DELETE", Path: "/auth", As: user.Token}).Want(204)
	if e := own.want("end"); e.Data["code"] != "unauthorized" {
		t.Errorf("%+v", e)
	}
	own.want("")
	grace, admin := s.SignUp("admin"), s.SignUp("admin")
	demoted := listen(t, s.API, "/articles/changes", grace.Token)
	demoted.want("ready")
	s.Do(testkit.Request{Method: "PATCH", Path: "/users/" + grace.ID, As: admin.Token, JSON: map[string]any{"role": "user"}}).Want(200)
	if e := demoted.want("end"); e.Data["code"] != "forbidden" {
		t.Errorf("%+v", e)
	}
	for deadline := time.Now().Add(time.Minute); s.Handler.Streams.Open() > 2 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	s.add(t, map[string]any{"title": "one"})
	nobody.want("created one")
}

// TestStreamDelay checks the metric of the time from a change to its event.
func TestStreamDelay(t *testing.T) {
	t.Parallel()
	o, _ := testkit.Observe(t)
	s := startChanges(t, testkit.Observed(o))
	stream := listen(t, s.API, "/articles/changes", "")
	stream.want("ready")
	for range 2 {
		s.add(t, map[string]any{"title": "one"})
		stream.want("created one") // the delay of the one before was observed
	}
	w := httptest.NewRecorder()
	o.Metrics(slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if !regexp.MustCompile(`(?m)^stream_delay_seconds_count [12]$`).MatchString(w.Body.String()) {
		t.Errorf("the metrics are\n%s", w.Body)
	}
}
