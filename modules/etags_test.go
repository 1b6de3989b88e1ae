package modules_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// etagSuite is a service with articles, policies and users.
type etagSuite struct {
	*testkit.API
	t          *testing.T
	admin, ada testkit.Account
}

func startETags(t *testing.T) etagSuite {
	t.Helper()
	api := apitest.Start(t)
	s := etagSuite{api, t, api.SignUp("admin"), api.SignUp("user")}
	for i := range 3 {
		s.do(201, testkit.Request{Method: "POST", Path: "/articles", As: s.ada.Token, JSON: map[string]any{"title": fmt.Sprint("t", i), "content": "<&>"}})
		policy := map[string]any{"namespace": "shop", "name": fmt.Sprint("n", i), "selector": map[string]any{"matchLabels": map[string]any{"app": "a"}}}
		s.do(201, testkit.Request{Method: "POST", Path: "/policies", As: s.admin.Token, JSON: policy})
		api.Clock.Advance(time.Second)
	}
	return s
}

func (s etagSuite) do(status int, r testkit.Request) testkit.Response {
	s.t.Helper()
	response := s.Do(r)
	if response.Status != status {
		s.t.Fatalf("%s %s: status %d, want %d: %.500s", r.Method, r.Path, response.Status, status, response.Body)
	}
	return response
}

// get reads a path. header has pairs of names and values.
func (s etagSuite) get(status int, path, as string, header ...string) testkit.Response {
	s.t.Helper()
	r := testkit.Request{Method: "GET", Path: path, As: as, Header: http.Header{}}
	for pair := range slices.Chunk(header, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	return s.do(status, r)
}

// rows returns the rows of a page.
func (s etagSuite) rows(path, as string) (rows []map[string]any) {
	s.t.Helper()
	for _, row := range s.get(200, path, as).JSON(200)["rows"].([]any) {
		rows = append(rows, row.(map[string]any))
	}
	return rows
}

// TestETags checks that a row's etag is the ETag of the record, whichever fields the client selects, and that it works as
// If-None-Match and If-Match.
func TestETags(t *testing.T) {
	t.Parallel()
	s := startETags(t)
	for _, list := range []struct {
		path, as, field string
		queries         []string
	}{
		{"/articles", s.ada.Token, "title", []string{"q=t", "sort=title,-createdAt", "expand=userId", "expand=userId&fields=title", "limit=2&count=false"}},
		{"/policies", s.admin.Token, "name", []string{"sort=name", "fields=selector", "namespace=shop"}},
		{"/users", s.admin.Token, "name", []string{"sort=email", "fields=email", "role=user"}},
	} {
		for _, query := range append(list.queries, "", "fields=id", "fields="+list.field, "fields=-"+list.field) {
			plain, rows := s.rows(list.path+"?"+query, list.as), s.rows(list.path+"?etags=true&"+query, list.as)
			if len(rows) == 0 || len(rows) != len(plain) {
				t.Fatalf("%s?%s: %d rows, want %d", list.path, query, len(rows), len(plain))
			}
			for i, row := range rows {
				record, tag := list.path+"/"+row["id"].(string), row["etag"].(string)
				if strings.Contains(query, "expand") {
					record += "?expand=userId"
				}
				s.get(304, record, list.as, "If-None-Match", tag)
				if want := s.get(200, record, list.as).Header.Get("ETag"); tag != want {
					t.Errorf("%s?%s: etag %s, want %s", list.path, query, tag, want)
				}
				delete(row, "etag")
				if got, want := fmt.Sprint(row), fmt.Sprint(plain[i]); got != want {
					t.Errorf("%s?%s: %s, want %s", list.path, query, got, want)
				}
			}
			for i, row := range s.rows(list.path+"?etags=true&"+query, list.as) {
				update := testkit.Request{
					Method: "PATCH", Path: list.path + "/" + row["id"].(string), As: list.as, Header: http.Header{"If-Match": {row["etag"].(string)}},
					JSON: map[string]any{list.field: fmt.Sprint("t", s.Clock.Now().Unix(), "-", i)},
				}
				s.Clock.Advance(time.Second)
				s.do(200, update)
				s.do(412, update)
			}
		}
		if got, want := s.get(200, list.path+"?etags=false", list.as).Body, s.get(200, list.path, list.as).Body; string(got) != string(want) {
			t.Errorf("etags=false: %s, want %s", got, want)
		}
	}
}

// TestETagsWithExpand checks that the etag of a row changes with the expanded record, as the ETag of the record does.
func TestETagsWithExpand(t *testing.T) {
	t.Parallel()
	s := startETags(t)
	const list = "/articles?etags=true&limit=1&expand=userId"
	before := s.rows(list, "")[0]["etag"]
	s.do(200, testkit.Request{Method: "PATCH", Path: "/users/me", As: s.ada.Token, JSON: map[string]any{"name": "Another"}})
	row := s.rows(list, "")[0]
	after := row["etag"].(string)
	if plain := s.rows("/articles?etags=true&limit=1", "")[0]["etag"]; before == after || plain == after {
		t.Errorf("%v, then %s, without expand %v", before, after, plain)
	}
	s.get(200, "/articles/"+row["id"].(string), "", "If-None-Match", after)
	s.get(304, "/articles/"+row["id"].(string)+"?expand=userId", "", "If-None-Match", after)
}

// TestETagsOfConcurrentChanges lists records that change, and checks that each etag is that of the version in the row.
func TestETagsOfConcurrentChanges(t *testing.T) {
	t.Parallel()
	s := startETags(t)
	article := s.rows("/articles?limit=1&fields=id", "")[0]["id"].(string)
	records := map[string]string{"/articles": "title", "/users": "name"} // the second one has an ETag of its content
	var tags sync.Map                                                    // value → ETag, of each list
	done := make(chan bool)
	go func() {
		defer close(done)
		for list, field := range records {
			id := map[string]string{"/articles": article, "/users": s.ada.ID}[list]
			for i := range 50 {
				value := fmt.Sprint("changed ", i)
				r := s.Do(testkit.Request{Method: "PATCH", Path: list + "/" + id, As: s.ada.Token, JSON: map[string]any{field: value}})
				tags.Store(list+value, r.Header.Get("ETag"))
			}
		}
	}()
	read := map[string]string{}
	for isRunning := true; isRunning; {
		select {
		case <-done:
			isRunning = false
		default:
		}
		for list, field := range records {
			for _, row := range s.rows(list+"?etags=true&fields="+field, s.admin.Token) {
				read[list+row[field].(string)] = row["etag"].(string)
			}
		}
	}
	for version, tag := range read {
		if want, isChange := tags.Load(version); isChange && want != tag {
			t.Errorf("%s has the etag %s, want %s", version, tag, want)
		}
	}
}

// TestETagsParameter checks the errors of the parameter, and that cursors do not depend on it.
func TestETagsParameter(t *testing.T) {
	t.Parallel()
	s := startETags(t)
	hook := "/webhooks/" + strings.Repeat("0", 24) + "/deliveries"
	for path, code := range map[string]string{
		"/articles?etags=1": "type", "/articles?etags=yes": "type", "/articles?etags=true&etags=true": "type",
		"/articles?etags=true&format=csv": "conflict", "/articles?format=ndjson&etags=true": "conflict",
		"/articles/changes?etags=1": "type",
		"/auth/sessions?etags=true": "unknown", "/emails?etags=true": "unknown", hook + "?etags=false": "unknown",
	} {
		if body := s.get(400, path, s.admin.Token).Body; !strings.Contains(string(body), `"param":"etags","code":"`+code+`"`) {
			t.Errorf("%s: %s", path, body)
		}
	}
	s.get(200, "/articles?etags=false&format=csv", "")
	after := "&after=" + url.QueryEscape(s.get(200, "/articles?limit=1", "").JSON(200)["next"].(string))
	if rows := s.rows("/articles?limit=1&etags=true"+after, ""); len(rows) != 1 || rows[0]["etag"] == nil {
		t.Errorf("%v", rows)
	}
}

// TestETagsOfChanges checks the etag in the data of events, in pages and in a stream.
func TestETagsOfChanges(t *testing.T) {
	t.Parallel()
	s := startETags(t)
	from := "?etags=true&after=" + url.QueryEscape(s.get(200, "/articles/changes", "").JSON(200)["next"].(string))
	kept := s.do(201, testkit.Request{Method: "POST", Path: "/articles", As: s.ada.Token, JSON: map[string]any{"title": "kept"}}).Header
	deleted := s.do(201, testkit.Request{Method: "POST", Path: "/articles", As: s.ada.Token, JSON: map[string]any{"title": "deleted"}}).Header
	s.do(204, testkit.Request{Method: "DELETE", Path: deleted.Get("Location"), As: s.ada.Token})
	want := map[string]string{
		kept.Get("Location"):    fmt.Sprintf("created %s", kept.Get("ETag")),
		deleted.Get("Location"): "deleted <nil>",
	}
	s.get(304, kept.Get("Location"), "", "If-None-Match", kept.Get("ETag"))
	for _, query := range []string{"", "&fields=title", "&fields=-content"} {
		got := map[string]string{}
		for deadline := time.Now().Add(30 * time.Second); !maps.Equal(got, want) && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			clear(got) // on MongoDB, a change can be read only a moment after the write
			for _, event := range s.rows("/articles/changes"+from+query, "") {
				data := event["data"].(map[string]any)
				got["/articles/"+data["id"].(string)] = fmt.Sprint(event["event"], " ", data["etag"])
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/articles/changes"+from+"&fields=title", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		text, isData := strings.CutPrefix(lines.Text(), "data: ")
		if !isData {
			continue
		}
		var data map[string]any
		if err := json.Unmarshal([]byte(text), &data); err != nil || len(data) != 3 || data["etag"] != kept.Get("ETag") {
			t.Errorf("%s, %v; want the ETag %s", text, err, kept.Get("ETag"))
		}
		return
	}
	t.Error("the stream ended")
}
