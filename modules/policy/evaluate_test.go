package policy_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/selector/v1beta1"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/modules/policy"
	"example.com/ginseng/testkit"
)

// evaluatePage returns the response to an evaluation.
func evaluatePage(t *testing.T, api *testkit.API, token, body string) policy.Evaluation {
	t.Helper()
	response := api.Do(request{Method: "POST", Path: "/policies/evaluate", As: token, JSON: body})
	var e policy.Evaluation
	if err := json.Unmarshal(response.Body, &e); err != nil || response.Status != 200 || e.Rows == nil {
		t.Fatalf("%d, %v: %s", response.Status, err, response.Body)
	}
	return e
}

// evaluate returns the names of the policies that apply to a proxy, in order.
func evaluate(t *testing.T, api *testkit.API, token, proxy string) []string {
	t.Helper()
	e := evaluatePage(t, api, token, proxy)
	if e.Count == nil || *e.Count != len(e.Rows) {
		t.Fatalf("count %v of %d rows", e.Count, len(e.Rows))
	}
	names := make([]string, len(e.Rows))
	for i, row := range e.Rows {
		names[i] = row.Name
	}
	return names
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	admin, ada := api.SignUp("admin"), api.SignUp("user")
	for _, p := range [][2]string{
		{"all", ""},
		{"z", `{"matchLabels":{"app":"a"}}`},
		{"b", `{"matchLabels":{"app":"a","prod":"env"}}`},
		{"number", `{"matchLabels":{"app":"1"}}`},
	} {
		create(t, api, admin.Token, "shop", p[0], p[1])
		if p[0] == "all" {
			api.Clock.Advance(time.Second) // the other policies have the same time and are ordered by name
		}
	}
	create(t, api, admin.Token, "web", "elsewhere", "")
	for _, test := range []struct{ proxy, want string }{
		{`{"namespace":"shop"}`, "all"},
		{`{"namespace":"shop","metadata":null,"instance":{},"handshake":{"labels":null},"explain":false}`, "all"},
		{`{"namespace":"shop","instance":{"labels":{"app":"a","prod":"env"}}}`, "all b z"},
		{`{"namespace":"shop","handshake":{"labels":{"app":"a"}},"metadata":{"labels":{"prod":"env"}}}`, "all b z"},
		{`{"namespace":"shop","metadata":{"labels":{"app":"x"}},"handshake":{"labels":{"app":"a"}}}`, "all z"},
		{`{"namespace":"shop","handshake":{"labels":{"app":"x"}},"instance":{"labels":{"app":"a"}}}`, "all z"},
		{`{"namespace":"web","instance":{"labels":{"app":"a"}}}`, "elsewhere"},
		{`{"namespace":"nowhere","instance":{"labels":{"app":"a"}}}`, ""},
	} {
		if got := strings.Join(evaluate(t, api, ada.Token, test.proxy), " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.proxy, got, test.want)
		}
	}
	form := request{Method: "POST", Path: "/policies/evaluate", As: ada.Token, Form: url.Values{
		"namespace": {"shop"}, "instance": {`{"labels":{"app":"1"}}`}, "metadata": {"null"}, "explain": {"false"}}}
	api.Run(t, []testkit.Scenario{
		row("form", form, 200, []string{`{"count":2,"rows":[{"id":`, `"name":"number","selector":{"matchLabels":{"app":"1"}},"createdAt":`}, []string{"explain"}),
		row("nothing there", request{Method: "POST", Path: "/policies/evaluate", As: ada.Token, JSON: `{"namespace":"nowhere","explain":true}`}, 200,
			[]string{`{"count":0,"rows":[],"explain":[]}`}, nil),
		row("bad", request{Method: "POST", Path: "/policies/evaluate", As: ada.Token, JSON: `{"namespace":"A","metadata":5,"instance":{"labels":[]},"handshake":{"labels":{"a":1}}}`}, 400, []string{
			`"param":"namespace","code":"format"`, `"param":"metadata","code":"type"`, `"param":"instance.labels","code":"type"`, `"param":"handshake.labels[\"a\"]","code":"type"`}, nil),
	})
}

func TestExplain(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	admin := api.SignUp("admin")
	first := create(t, api, admin.Token, "shop", "z", `{"matchLabels":{"app":"a","prod":"env","zone":"x"}}`)
	api.Clock.Advance(time.Second)
	second := create(t, api, admin.Token, "shop", "b", "")
	third := create(t, api, admin.Token, "shop", "c", `{"matchLabels":{"app":"a"}}`)
	create(t, api, admin.Token, "web", "elsewhere", "")
	response := api.Do(request{Method: "POST", Path: "/policies/evaluate", As: admin.Token,
		JSON: `{"namespace":"shop","metadata":{"labels":{"app":"x"}},"instance":{"labels":{"app":"a","prod":""}},"explain":true}`})
	var e policy.Evaluation
	if err := json.Unmarshal(response.Body, &e); err != nil {
		t.Fatal(err)
	}
	ref := func(v policy.View) policy.Reference {
		return policy.Reference{ID: v.ID, Namespace: v.Namespace, Name: v.Name}
	}
	want := []policy.Explanation{
		{Policy: ref(first), Labels: map[string]string{"app": v1beta1.OK, "prod": v1beta1.Different, "zone": v1beta1.Missing}},
		{Policy: ref(second), Applies: true, Labels: map[string]string{}},
		{Policy: ref(third), Applies: true, Labels: map[string]string{"app": v1beta1.OK}},
	}
	if fmt.Sprint(e.Explain) != fmt.Sprint(want) || *e.Count != 2 || e.Rows[0].ID != second.ID || e.Rows[1].ID != third.ID {
		t.Errorf("%s\nwant %v", response.Body, want)
	}
}

// namespace creates n policies in a namespace. The first of each group of policies, whose size is every, applies to all proxies.
// The other policies apply to no proxy. Their selectors have about the given number of characters.
func namespace(api *testkit.API, name string, n, every, characters int) {
	for i := range n {
		api.Clock.Advance(time.Millisecond)
		selector := &policy.Selector{MatchLabels: map[string]string{"none": "has"}}
		if i%every == 0 {
			selector = nil
		}
		for c := 0; selector != nil && c < characters; c += 100 {
			selector.MatchLabels[fmt.Sprintf("k%d.%s/x", c, strings.Repeat("x", 80))] = "y"
		}
		testkit.Insert(api, "policies", policy.Policy{
			Meta: store.NewMeta(store.NewID(), store.At(api.Clock.Now())), Namespace: name, Name: fmt.Sprintf("p%d", i), Selector: selector,
		})
	}
}

// TestEvaluatePages reads the pages of a namespace. Each page has the explanations of its policies.
func TestEvaluatePages(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	const policies, every, limit = 230, 3, 7
	namespace(api, "shop", policies, every, 0)
	post := func(body string) policy.Evaluation { return evaluatePage(t, api, ada.Token, body) }
	if e := post(`{"namespace":"shop"}`); len(e.Rows) != 30 || e.Next == "" || *e.Count != 77 || e.Explain != nil {
		t.Errorf("%d rows, %v", len(e.Rows), e.Next)
	}
	if e := post(`{"namespace":"shop","limit":100,"count":false}`); len(e.Rows) != 77 || e.Next != "" || e.Count != nil {
		t.Errorf("%d rows, %v, %v", len(e.Rows), e.Next, e.Count)
	}
	rows, explained, after := 0, 0, ""
	for {
		e := post(fmt.Sprintf(`{"namespace":"shop","limit":%d,"explain":true%s}`, limit, after))
		for _, row := range e.Rows {
			if want := fmt.Sprint("p", rows*every); row.Name != want {
				t.Fatalf("row %s, want %s", row.Name, want)
			}
			rows++
		}
		for _, x := range e.Explain {
			if want := fmt.Sprint("p", explained); x.Policy.Name != want || x.Applies != (explained%every == 0) {
				t.Fatalf("%+v, want %s", x, want)
			}
			explained++
		}
		if e.Next == "" {
			break
		}
		if len(e.Rows) != limit || len(e.Explain) > limit*every {
			t.Fatalf("a page of %d rows, %d explained", len(e.Rows), len(e.Explain))
		}
		after = `,"after":"` + e.Next + `"`
	}
	if rows != 77 || explained != policies {
		t.Errorf("%d rows, %d explained", rows, explained)
	}
}

// TestExplainLimits checks the maximum number of explained policies that do not apply.
func TestExplainLimits(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	post := func(body string) policy.Evaluation { return evaluatePage(t, api, ada.Token, body) }
	namespace(api, "web", 300, 1000, 0)
	if e := post(`{"namespace":"web","explain":true}`); len(e.Rows) != 1 || len(e.Explain) != 101 || e.Explain[100].Policy.Name != "p100" {
		t.Errorf("%d rows, %d explained", len(e.Rows), len(e.Explain))
	}
	namespace(api, "tail", 151, 150, 0)
	if e := post(`{"namespace":"tail","explain":true}`); len(e.Rows) != 2 || len(e.Explain) != 102 || e.Explain[101].Policy.Name != "p150" {
		t.Errorf("%d rows, %d explained", len(e.Rows), len(e.Explain))
	}
	namespace(api, "large", 60, 1000, 50_000)
	if e := post(`{"namespace":"large","explain":true}`); len(e.Explain) < 10 || len(e.Explain) > 25 {
		t.Errorf("%d large policies are explained", len(e.Explain))
	}
}

// TestEvaluateCursors sends cursors for another proxy, and for a proxy with the same labels from another source.
func TestEvaluateCursors(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	namespace(api, "shop", 10, 3, 0)
	next := evaluatePage(t, api, ada.Token, `{"namespace":"shop","limit":2,"instance":{"labels":{"a":"b"}}}`).Next
	for proxy, want := range map[string]string{
		`"namespace":"web","instance":{"labels":{"a":"b"}}`: `"code":"format"`, `"namespace":"shop","instance":{"labels":{"a":"c"}}`: `"code":"format"`,
		`"namespace":"shop","limit":1,"handshake":{"labels":{"a":"b"}}`: `"name":"p6"`,
	} {
		response := api.Do(request{Method: "POST", Path: "/policies/evaluate", As: ada.Token, JSON: `{"after":"` + next + `",` + proxy + `}`})
		if !strings.Contains(string(response.Body), want) {
			t.Errorf("%s: %s, want %s", proxy, response.Body, want)
		}
	}
}

// TestLargeEvaluation evaluates policies that are larger than a page.
func TestLargeEvaluation(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	namespace(api, "n", 30, 1, 0)
	large := policy.Policy{Namespace: "n", Selector: &policy.Selector{MatchLabels: map[string]string{}}}
	var labels []string
	for i := range 3000 {
		key := fmt.Sprintf("k%d.%s/x", i, strings.Repeat("x", 80))
		large.Selector.MatchLabels[key] = "y"
		labels = append(labels, `"`+key+`":"y"`)
	}
	for i := range 9 {
		large.Meta, large.Name = store.NewMeta(store.NewID(), store.At(api.Clock.Now())), fmt.Sprint("large", i)
		testkit.Insert(api, "policies", large)
	}
	proxy := `{"namespace":"n","limit":100,"instance":{"labels":{` + strings.Join(labels, ",") + `}}`
	rows, after := 0, ""
	for pages := 1; ; pages++ {
		response := api.Do(request{Method: "POST", Path: "/policies/evaluate", As: ada.Token, JSON: proxy + after + `}`})
		page := response.JSON(200)
		if len(response.Body) > listing.MaxPageBytes || page["count"] != 39.0 {
			t.Fatalf("%d bytes, %v policies", len(response.Body), page["count"])
		}
		rows += len(page["rows"].([]any))
		if page["next"] == nil {
			if rows != 39 || pages < 3 {
				t.Errorf("%d rows on %d pages", rows, pages)
			}
			return
		}
		after = fmt.Sprintf(`,"after":"%s"`, page["next"])
	}
}
