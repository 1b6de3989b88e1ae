package service_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

// record has the fields of an article that the tests compare.
type record struct{ ID, Title, Content, UserID, CreatedAt, UpdatedAt string }

// create creates an article.
func create(t *testing.T, api *testkit.API, token, title, content string) (r record) {
	t.Helper()
	response := api.Do(testkit.Request{Method: "POST", Path: "/articles", As: token, JSON: map[string]string{"title": title, "content": content}})
	if err := json.Unmarshal(response.Body, &r); err != nil || response.Status != 201 {
		t.Fatalf("status %d, %v: %s", response.Status, err, response.Body)
	}
	return r
}

// TestArticles checks what the generated tests of the resource do not: forms, unchanged strings, all errors in one
// response, and the order of the checks.
func TestArticles(t *testing.T) {
	testdb.SQLiteOnly(t)
	t.Parallel()
	api := apitest.Start(t)
	ada, eve, admin := api.SignUp("user"), api.SignUp("user"), api.SignUp("admin")
	a := create(t, api, ada.Token, "  On ginseng ", "A root.\nWorth <waiting> for.")
	if a.Title != "On ginseng" || a.UserID != ada.ID || a.CreatedAt != a.UpdatedAt || a.Content != "A root.\nWorth <waiting> for." {
		t.Errorf("%+v", a)
	}
	api.Clock.Advance(time.Second)
	path := "/articles/" + a.ID
	created := `"createdAt":"` + a.CreatedAt + `"`
	api.Run(t, []testkit.Scenario{
		testkit.Row("seed's form", testkit.Request{Method: "POST", Path: "/articles", Form: url.Values{"title": {"T"}, "content": {"C"}, "access_token": {eve.Token}}}, 201,
			[]string{`"title":"T"`, `"content":"C"`, `"userId":"` + eve.ID}, []string{"version"}),
		testkit.Row("two mistakes", testkit.Request{Method: "POST", Path: "/articles", As: eve.Token, JSON: `{"title":"  ","content":5}`}, 400, []string{`"param":"title","code":"required"`, `"param":"content","code":"type"`}, nil),
		testkit.Row("two too long", testkit.Request{Method: "POST", Path: "/articles", As: eve.Token, JSON: map[string]string{"title": strings.Repeat("ä", 201), "content": strings.Repeat("x", 100_001)}}, 400,
			[]string{`"param":"title","code":"max_length"`, `"param":"content","code":"max_length"`, `"expected":200`}, nil),
		testkit.Row("both as long as may be", testkit.Request{Method: "POST", Path: "/articles", As: eve.Token, JSON: map[string]string{"title": strings.Repeat("ä", 200), "content": strings.Repeat("ä", 100_000)}}, 201, nil, nil),
		testkit.Row("mass assignment", testkit.Request{Method: "POST", Path: "/articles", As: eve.Token, JSON: `{"title":"T","userId":"` + ada.ID + `","id":"000000000000000000000000","createdAt":"2000-01-01T00:00:00.000Z"}`}, 201,
			[]string{`"userId":"` + eve.ID}, []string{"000000000000000000000000", "2000-01-01"}),
		testkit.Row("show", testkit.Request{Method: "GET", Path: path}, 200, []string{`"title":"On ginseng"`, created, "<waiting>"}, nil),
		testkit.Row("head", testkit.Request{Method: "HEAD", Path: path}, 200, nil, nil),
		testkit.Row("change", testkit.Request{Method: "PATCH", Path: path, As: ada.Token, Form: url.Values{"title": {"New"}}}, 200, []string{`"title":"New"`, "A root.", created}, []string{`"updatedAt":"` + a.UpdatedAt}),
		testkit.Row("clear a required field", testkit.Request{Method: "PATCH", Path: path, As: ada.Token, JSON: `{"content":null,"title":null}`}, 400, []string{`"param":"title","code":"required"`}, []string{"content"}),
		testkit.Row("clear", testkit.Request{Method: "PATCH", Path: path, As: ada.Token, JSON: `{"content":null}`}, 200, []string{`"title":"New"`, `"content":""`}, nil),
		testkit.Row("change nothing", testkit.Request{Method: "PATCH", Path: path, As: ada.Token}, 200, []string{`"title":"New"`}, nil),
		testkit.Row("change the owner", testkit.Request{Method: "PATCH", Path: path, As: ada.Token, JSON: `{"userId":"` + eve.ID + `"}`}, 200, []string{`"userId":"` + ada.ID}, nil),
		testkit.Row("validation before ownership", testkit.Request{Method: "PATCH", Path: path, As: eve.Token, JSON: `{"title":5}`}, 400, nil, nil),
		testkit.Row("admin", testkit.Request{Method: "PUT", Path: path, As: admin.Token, JSON: `{"title":"By admin"}`}, 200, []string{"By admin", ada.ID}, nil),
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	for i := range 5 {
		create(t, api, ada.Token, fmt.Sprintf("Root %d", i), "Café 100% (a_b) 东京都庁")
		api.Clock.Advance(time.Second)
	}
	last := create(t, api, eve.Token, "Zebra", "x")
	list := func(query string) testkit.Request { return testkit.Request{Method: "GET", Path: "/articles?" + query} }
	api.Run(t, []testkit.Scenario{
		testkit.Row("all", list(""), 200, []string{`"count":6`, `"rows":[{"id":"` + last.ID}, []string{"next"}),
		testkit.Row("seed's parameters", list("q=root&page=2&limit=2&fields=title&sort=title"), 200, []string{`"count":5`, `"Root 2"`, `"Root 3"`, `"next":"`}, []string{"content", "Root 1", "Root 4"}),
		testkit.Row("leave out", list("fields=-content,-createdAt"), 200, []string{`"title"`, `"updatedAt"`}, []string{"content", "createdAt"}),
		testkit.Row("newest first", list("limit=1"), 200, []string{"Zebra", `"next"`}, []string{"Root"}),
		testkit.Row("oldest first", list("limit=1&sort=createdAt"), 200, []string{"Root 0"}, nil),
		testkit.Row("no count", list("count=false"), 200, []string{`{"rows":[`}, []string{"count"}),
		testkit.Row("accents and case", list("q=CAFE+roo"), 200, []string{`"count":5`}, nil),
		testkit.Row("part of a run", list("q="+url.QueryEscape("京都")), 200, []string{`"count":5`}, nil),
		testkit.Row("no pattern", list("q="+url.QueryEscape("R.*t")), 200, []string{`"count":0`, `"rows":[]`}, nil),
		testkit.Row("only punctuation", list("q="+url.QueryEscape("%_")), 200, []string{`"count":0`}, nil),
		testkit.Row("by author", list("userId="+eve.ID), 200, []string{`"count":1`, "Zebra"}, nil),
		testkit.Row("by time", list("createdAt[gte]="+last.CreatedAt), 200, []string{`"count":1`, "Zebra"}, nil),
		testkit.Row("token in the query", list("access_token="+ada.Token), 200, []string{`"count":6`}, nil),
		testkit.Row("unknown parameter", list("author=1"), 400, []string{`"code":"unknown"`, "createdAt"}, nil),
		testkit.Row("all wrong", list("page=0&limit=101&sort=content&fields=x&count=2&userId=1"), 400,
			[]string{`"param":"page"`, `"param":"limit"`, `"param":"sort"`, `"param":"fields"`, `"param":"count"`, `"param":"userId"`}, nil),
		testkit.Row("too deep", list("page=102&limit=100"), 400, []string{"after="}, nil),
	})
	walk(t, api, "sort=-title&limit=2&fields=title&count=false", []string{"Zebra", "Root 4", "Root 3", "Root 2", "Root 1", "Root 0"})
	walk(t, api, "limit=2&q=root", []string{"Root 4", "Root 3", "Root 2", "Root 1", "Root 0"})
}

// walk pages through a list with its cursors.
func walk(t *testing.T, api *testkit.API, query string, want []string) {
	t.Helper()
	var got []string
	after := ""
	for range len(want) + 1 {
		var page struct {
			Rows []struct{ Title string }
			Next string
		}
		response := api.Do(testkit.Request{Method: "GET", Path: "/articles?" + query + after})
		if err := json.Unmarshal(response.Body, &page); err != nil || response.Status != 200 {
			t.Fatalf("%d: %s", response.Status, response.Body)
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
