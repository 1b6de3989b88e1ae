package article_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/internal/store"
	"example.com/ginseng/internal/testkit"
	"example.com/ginseng/modules/article"
)

type request = testkit.Request

var row = testkit.Row

// create makes an article and returns its view.
func create(t *testing.T, api *testkit.API, token, title, content string) article.View {
	t.Helper()
	answer := api.Do(request{Method: "POST", Path: "/articles", As: token, JSON: map[string]string{"title": title, "content": content}})
	var v article.View
	if err := json.Unmarshal(answer.Body, &v); err != nil || answer.Status != 201 {
		t.Fatalf("status %d, %v: %s", answer.Status, err, answer.Body)
	}
	if location := answer.Header.Get("Location"); location != "/articles/"+v.ID.Hex() {
		t.Errorf("Location %q", location)
	}
	return v
}

func TestArticle(t *testing.T) {
	t.Parallel()
	api := testkit.Start(t)
	ada, eve, admin := api.SignUp("user"), api.SignUp("user"), api.SignUp("admin")
	a := create(t, api, ada.Token, "  On ginseng ", "A root.\nWorth <waiting> for.")
	if a.Title != "On ginseng" || a.UserID.Hex() != ada.ID || a.CreatedAt != a.UpdatedAt || a.Content != "A root.\nWorth <waiting> for." {
		t.Errorf("%+v", a)
	}
	api.Clock.Advance(time.Second)
	path, nobody := "/articles/"+a.ID.Hex(), "/articles/"+store.NewID().Hex()
	created := `"createdAt":"` + a.CreatedAt.String() + `"`
	api.Run(t, []testkit.Scenario{
		row("seed's form", request{Method: "POST", Path: "/articles", Form: url.Values{"title": {"T"}, "content": {"C"}, "access_token": {eve.Token}}}, 201,
			[]string{`"title":"T"`, `"content":"C"`, `"userId":"` + eve.ID}, []string{"version"}),
		row("no content", request{Method: "POST", Path: "/articles", As: eve.Token, JSON: `{"title":"T","content":null}`}, 201, []string{`"content":""`}, nil),
		row("no title", request{Method: "POST", Path: "/articles", As: eve.Token, JSON: `{"title":"  ","content":5}`}, 400, []string{`"param":"title","code":"required"`, `"param":"content","code":"type"`}, nil),
		row("too long", request{Method: "POST", Path: "/articles", As: eve.Token, JSON: map[string]string{"title": strings.Repeat("ä", 201), "content": strings.Repeat("x", 100_001)}}, 400, []string{`"param":"title","code":"max_length"`, `"param":"content","code":"max_length"`, `"expected":200`}, nil),
		row("as long as may be", request{Method: "POST", Path: "/articles", As: eve.Token, JSON: map[string]string{"title": strings.Repeat("ä", 200), "content": strings.Repeat("ä", 100_000)}}, 201, nil, nil),
		row("mass assignment", request{Method: "POST", Path: "/articles", As: eve.Token, JSON: `{"title":"T","userId":"` + ada.ID + `","id":"000000000000000000000000","createdAt":"2000-01-01T00:00:00.000Z","version":9}`}, 201,
			[]string{`"userId":"` + eve.ID}, []string{"000000000000000000000000", "2000-01-01"}),
		row("master key", request{Method: "POST", Path: "/articles", As: testkit.MasterKey, JSON: `{"title":"T"}`}, 401, nil, nil),
		row("nobody", request{Method: "POST", Path: "/articles", JSON: `{"title":"T"}`}, 401, nil, nil),

		row("show", request{Method: "GET", Path: path}, 200, []string{`"title":"On ginseng"`, created, "<waiting>"}, nil),
		row("head", request{Method: "HEAD", Path: path}, 200, nil, nil),
		row("unknown", request{Method: "GET", Path: nobody}, 404, nil, nil),
		row("malformed", request{Method: "GET", Path: "/articles/%24gt"}, 404, nil, nil),

		row("change", request{Method: "PATCH", Path: path, As: ada.Token, Form: url.Values{"title": {"New"}}}, 200, []string{`"title":"New"`, "A root.", created}, []string{`"updatedAt":"` + a.UpdatedAt.String()}),
		row("change the other", request{Method: "PUT", Path: path, As: ada.Token, JSON: `{"content":"Short."}`}, 200, []string{`"title":"New"`, `"content":"Short."`}, nil),
		row("clear content", request{Method: "PATCH", Path: path, As: ada.Token, JSON: `{"content":null,"title":null}`}, 200, []string{`"title":"New"`, `"content":""`}, nil),
		row("clear title", request{Method: "PATCH", Path: path, As: ada.Token, JSON: `{"title":""}`}, 400, []string{`"code":"required"`}, nil),
		row("change nothing", request{Method: "PATCH", Path: path, As: ada.Token}, 200, []string{`"title":"New"`}, nil),
		row("give away", request{Method: "PATCH", Path: path, As: ada.Token, JSON: `{"userId":"` + eve.ID + `"}`}, 200, []string{`"userId":"` + ada.ID}, nil),
		row("another", request{Method: "PATCH", Path: path, As: eve.Token, JSON: `{"title":"x"}`}, 403, nil, nil),
		row("validation before ownership", request{Method: "PATCH", Path: path, As: eve.Token, JSON: `{"title":5}`}, 400, nil, nil),
		row("admin", request{Method: "PUT", Path: path, As: admin.Token, JSON: `{"title":"By admin"}`}, 200, []string{"By admin", ada.ID}, nil),
		row("change unknown", request{Method: "PUT", Path: nobody, As: admin.Token, JSON: `{"title":"x"}`}, 404, nil, nil),

		row("delete another's", request{Method: "DELETE", Path: path, As: eve.Token}, 403, nil, nil),
		row("delete, nobody", request{Method: "DELETE", Path: path}, 401, nil, nil),
		row("delete", request{Method: "DELETE", Path: path, As: ada.Token}, 204, nil, nil),
		row("gone", request{Method: "GET", Path: path}, 404, nil, nil),
		row("delete again", request{Method: "DELETE", Path: path, As: ada.Token}, 404, nil, nil),
	})
}

// TestVersions is the life of an ETag: it names a state, spares an answer, and keeps a change from an older state out.
func TestVersions(t *testing.T) {
	t.Parallel()
	api := testkit.Start(t)
	ada := api.SignUp("user")
	made := api.Do(request{Method: "POST", Path: "/articles", As: ada.Token, JSON: `{"title":"One"}`})
	path := made.Header.Get("Location")
	first := made.Header.Get("ETag")
	call := func(method, header, tag, title string) testkit.Answer {
		r := request{Method: method, Path: path, As: ada.Token, Header: http.Header{header: {tag}}}
		if method == "PATCH" {
			r.Form = url.Values{"title": {title}}
		}
		return api.Do(r)
	}
	if got := call("GET", "If-None-Match", `"x", W/`+first, ""); got.Status != 304 || len(got.Body) != 0 || got.Header.Get("ETag") != first {
		t.Errorf("unchanged: %d %s", got.Status, got.Body)
	}
	changed := call("PATCH", "If-Match", first, "Two")
	second := changed.Header.Get("ETag")
	if changed.Status != 200 || second == first || second == "" {
		t.Fatalf("change of the first: %d, ETag %s after %s", changed.Status, second, first)
	}
	for tag, status := range map[string]int{first: 412, `"x"`: 412, "W/" + second: 412, "nonsense": 412} {
		if got := call("PATCH", "If-Match", tag, "Three"); got.Status != status {
			t.Errorf("If-Match: %s is answered with %d", tag, got.Status)
		}
		if got := call("DELETE", "If-Match", tag, ""); got.Status != status {
			t.Errorf("delete, If-Match: %s is answered with %d", tag, got.Status)
		}
	}
	if got := call("GET", "If-None-Match", first, ""); got.Status != 200 || got.JSON(200)["title"] != "Two" {
		t.Errorf("changed: %d %s", got.Status, got.Body)
	}
	if got := call("PATCH", "If-Match", "*", "Three"); got.Status != 200 {
		t.Errorf("any: %d", got.Status)
	}
	if got := call("DELETE", "If-Match", call("GET", "If-None-Match", first, "").Header.Get("ETag"), ""); got.Status != 204 {
		t.Errorf("delete of the latest: %d", got.Status)
	}
	if got := call("PATCH", "If-Match", "*", "Four"); got.Status != 404 {
		t.Errorf("after the delete: %d", got.Status)
	}
}

// TestTwoWriters has many change one state of an article: one wins.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	api := testkit.Start(t)
	ada := api.SignUp("user")
	made := api.Do(request{Method: "POST", Path: "/articles", As: ada.Token, JSON: `{"title":"One"}`})
	const writers = 20
	statuses := make(chan int, writers)
	for i := range writers {
		go func() {
			statuses <- api.Do(request{
				Method: "PUT", Path: made.Header.Get("Location"), As: ada.Token,
				Header: http.Header{"If-Match": {made.Header.Get("ETag")}}, Form: url.Values{"title": {fmt.Sprint(i)}},
			}).Status
		}()
	}
	seen := map[int]int{}
	for range writers {
		seen[<-statuses]++
	}
	if seen[200] != 1 || seen[412] != writers-1 {
		t.Errorf("statuses %v", seen)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	api := testkit.Start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	for i := range 5 {
		create(t, api, ada.Token, fmt.Sprintf("Root %d", i), "Café 100% (a_b) 东京都庁")
		api.Clock.Advance(time.Second)
	}
	last := create(t, api, eve.Token, "Zebra", "x")
	list := func(query string) request { return request{Method: "GET", Path: "/articles?" + query} }
	api.Run(t, []testkit.Scenario{
		row("all", list(""), 200, []string{`"count":6`, `"rows":[{"id":"` + last.ID.Hex()}, []string{"next"}),
		row("seed's parameters", list("q=root&page=2&limit=2&fields=title&sort=title"), 200, []string{`"count":5`, `"Root 2"`, `"Root 3"`, `"next":"`}, []string{"content", "Root 1", "Root 4"}),
		row("leave out", list("fields=-content,-userId"), 200, []string{`"title"`, `"updatedAt"`}, []string{"content", "userId"}),
		row("newest first", list("limit=1"), 200, []string{"Zebra", `"next"`}, []string{"Root"}),
		row("oldest first", list("limit=1&sort=createdAt"), 200, []string{"Root 0"}, nil),
		row("no count", list("count=false"), 200, []string{`{"rows":[`}, []string{"count"}),
		row("accents and case", list("q=CAFE+roo"), 200, []string{`"count":5`}, nil),
		row("part of a run", list("q="+url.QueryEscape("京都")), 200, []string{`"count":5`}, nil),
		row("no pattern", list("q="+url.QueryEscape("R.*t")), 200, []string{`"count":0`, `"rows":[]`}, nil),
		row("only punctuation", list("q="+url.QueryEscape("%_")), 200, []string{`"count":0`}, nil),
		row("by author", list("userId="+eve.ID), 200, []string{`"count":1`, "Zebra"}, nil),
		row("by time", list("createdAt[gte]="+last.CreatedAt.String()), 200, []string{`"count":1`, "Zebra"}, nil),
		row("token in the query", list("access_token="+ada.Token), 200, []string{`"count":6`}, nil),
		row("unknown parameter", list("author=1"), 400, []string{`"code":"unknown"`, "userId"}, nil),
		row("all wrong", list("page=0&limit=101&sort=content&fields=x&count=2&userId=1"), 400,
			[]string{`"param":"page"`, `"param":"limit"`, `"param":"sort"`, `"param":"fields"`, `"param":"count"`, `"param":"userId"`}, nil),
		row("too deep", list("page=102&limit=100"), 400, []string{"after="}, nil),
	})
	walk(t, api, "sort=-title&limit=2&fields=title&count=false", []string{"Zebra", "Root 4", "Root 3", "Root 2", "Root 1", "Root 0"})
	walk(t, api, "limit=2&q=root", []string{"Root 4", "Root 3", "Root 2", "Root 1", "Root 0"})
}

// walk reads a list page by page by its cursors.
func walk(t *testing.T, api *testkit.API, query string, want []string) {
	t.Helper()
	var got []string
	after := ""
	for range len(want) + 1 {
		var page struct {
			Rows []struct{ Title string }
			Next string
		}
		answer := api.Do(request{Method: "GET", Path: "/articles?" + query + after})
		if err := json.Unmarshal(answer.Body, &page); err != nil || answer.Status != 200 {
			t.Fatalf("%d: %s", answer.Status, answer.Body)
		}
		for _, row := range page.Rows {
			got = append(got, row.Title)
		}
		if page.Next == "" {
			break
		}
		after = "&after=" + page.Next
	}
	if strings.Join(got, ",") != strings.Join(want, ",") {
		t.Errorf("%s: %v, want %v", query, got, want)
	}
}
