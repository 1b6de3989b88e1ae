package policy_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
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
		{"empty", `{"matchLabels":{"foo":""}}`},
		{"number", `{"matchLabels":{"app":"1"}}`},
		{"dotted", `{"matchLabels":{"example.com/a.b":"x.y"}}`},
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
		{`{"namespace":"shop","instance":{"labels":{"app":"a"}}}`, "all z"},
		{`{"namespace":"shop","instance":{"labels":{"app":"a","prod":"env"}}}`, "all b z"},
		{`{"namespace":"shop","handshake":{"labels":{"app":"a"}},"metadata":{"labels":{"prod":"env"}}}`, "all b z"},
		{`{"namespace":"shop","instance":{"labels":{"App":"a"}}}`, "all"},
		{`{"namespace":"shop","instance":{"labels":{"app":" a"}}}`, "all"},
		{`{"namespace":"shop","instance":{"labels":{"app":"01"}}}`, "all"},
		{`{"namespace":"shop","instance":{"labels":{"app":"1"}}}`, "all number"},
		{`{"namespace":"shop","instance":{"labels":{"foo":""}}}`, "all empty"},
		{`{"namespace":"shop","instance":{"labels":{"example.com/a.b":"x.y"},"ip":"192.0.2.1"}}`, "all dotted"},
		{`{"namespace":"shop","metadata":{"labels":{"app":"a"}},"handshake":{"labels":{"app":"x"}}}`, "all"},
		{`{"namespace":"shop","metadata":{"labels":{"app":"x"}},"handshake":{"labels":{"app":"a"}}}`, "all z"},
		{`{"namespace":"shop","handshake":{"labels":{"app":"a"}},"instance":{"labels":{"app":"x"}}}`, "all"},
		{`{"namespace":"shop","handshake":{"labels":{"app":"x"}},"instance":{"labels":{"app":"a"}}}`, "all z"},
		{`{"namespace":"web","instance":{"labels":{"app":"a"}}}`, "elsewhere"},
		{`{"namespace":"nowhere","instance":{"labels":{"app":"a"}}}`, ""},
	} {
		if got := strings.Join(evaluate(t, api, ada.Token, test.proxy), " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.proxy, got, test.want)
		}
	}
	body := `{"namespace":"shop"}`
	post := func(as string) request {
		return request{Method: "POST", Path: "/policies/evaluate", As: as, JSON: body}
	}
	api.Run(t, []testkit.Scenario{
		row("form", request{Method: "POST", Path: "/policies/evaluate", As: ada.Token, Form: url.Values{
			"namespace": {"shop"}, "instance": {`{"labels":{"app":"1"}}`}, "metadata": {"null"}, "explain": {"false"}}}, 200,
			[]string{`{"count":2,"rows":[{"id":`, `"name":"number","selector":{"matchLabels":{"app":"1"}},"createdAt":`}, []string{"explain"}),
		row("nothing there", request{Method: "POST", Path: "/policies/evaluate", As: ada.Token, JSON: `{"namespace":"nowhere","explain":true}`}, 200,
			[]string{`{"count":0,"rows":[],"explain":[]}`}, nil),
		row("admin", post(admin.Token), 200, nil, nil),
		row("master key", post(testkit.MasterKey), 401, nil, nil),
		row("no user", post(""), 401, nil, nil),
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
	for i := range 10 {
		api.Clock.Advance(time.Second)
		create(t, api, admin.Token, "shop", fmt.Sprint("a", 9-i), `{"matchLabels":{"none":"has"}}`)
	}
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
	if fmt.Sprint(e.Explain[:3]) != fmt.Sprint(want) {
		t.Errorf("%s\nwant %v", response.Body, want)
	}
	for i, x := range e.Explain[3:] {
		if x.Policy.Name != fmt.Sprint("a", 9-i) || x.Applies || fmt.Sprint(x.Labels) != "map[none:missing]" {
			t.Errorf("%d: %v", i, x)
		}
	}
	if *e.Count != 2 || len(e.Explain) != 13 || e.Rows[0].ID != second.ID || e.Rows[1].ID != third.ID {
		t.Errorf("%s", response.Body)
	}
}

func TestBadProxies(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	var many strings.Builder
	for i := range v1beta1.MaxLabels + 1 {
		fmt.Fprintf(&many, `,"k%d":""`, i)
	}
	for _, test := range []struct {
		source string // of labels
		want   []string
	}{
		{`5`, []string{" type"}},
		{`"a=b"`, []string{" type"}},
		{`[]`, []string{" type"}},
		{`{"labels":{},"labels":{}}`, []string{" type"}},
		{`{"labels":[]}`, []string{".labels type"}},
		{`{"labels":"a=b"}`, []string{".labels type"}},
		{`{"labels":{"a":"b","a":"b"}}`, []string{".labels type"}},
		{`{"labels":{"a":1}}`, []string{`.labels["a"] type`}},
		{`{"labels":{"b":null,"c":"ok","a \"b\"":["x"]}}`, []string{`.labels["a \"b\""] type`, `.labels["b"] type`}},
		{`{"labels":{` + many.String()[1:] + `}}`, []string{".labels max"}},
	} {
		for _, name := range []string{"metadata", "instance", "handshake"} {
			want := []string{"namespace required"}
			for _, w := range test.want {
				want = append(want, name+w)
			}
			for _, r := range []request{
				{JSON: `{"` + name + `":` + test.source + `}`},
				{Form: url.Values{name: {test.source}}},
			} {
				r.Method, r.Path, r.As = "POST", "/policies/evaluate", ada.Token
				if got := problems(t, api.Do(r)); !slices.Equal(got, want) {
					t.Errorf("%s %.99s: %q, want %q", name, test.source, got, want)
				}
			}
		}
	}
	for body, want := range map[string][]string{
		`{"namespace":5,"explain":"yes","instance":false}`: {"namespace type", "instance type", "explain type"},
		`{"namespace":"shop","explain":1}`:                 {"explain type"},
	} {
		if got := problems(t, api.Do(request{Method: "POST", Path: "/policies/evaluate", As: ada.Token, JSON: body})); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	for _, text := range []string{"", "labels", `{"labels":{"a":"b"}`, "{\"labels\":{\"a\":\"\xff\"}}"} {
		r := request{Method: "POST", Path: "/policies/evaluate", As: ada.Token, Form: url.Values{"namespace": {"shop"}, "instance": {text}}}
		if got := problems(t, api.Do(r)); !slices.Equal(got, []string{"instance type"}) {
			t.Errorf("form %q: %q", text, got)
		}
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

// TestEvaluateCursors sends cursors for another proxy, and other invalid parameters of pages.
func TestEvaluateCursors(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	namespace(api, "shop", 10, 3, 0)
	page := evaluatePage(t, api, ada.Token, `{"namespace":"shop","limit":2,"instance":{"labels":{"a":"b"}}}`)
	bad := func(body string) testkit.Scenario {
		return row(body, request{Method: "POST", Path: "/policies/evaluate", As: ada.Token, JSON: strings.ReplaceAll(body, "NEXT", page.Next)}, 400, []string{`"param":"after","code":"format"`}, nil)
	}
	api.Run(t, []testkit.Scenario{
		bad(`{"namespace":"shop","after":"x"}`),
		bad(`{"namespace":"web","after":"NEXT","instance":{"labels":{"a":"b"}}}`),
		bad(`{"namespace":"shop","after":"NEXT","instance":{"labels":{"a":"c"}}}`),
		bad(`{"namespace":"shop","after":"NEXT"}`),
		row("limits", request{Method: "POST", Path: "/policies/evaluate", As: ada.Token, JSON: `{"namespace":"shop","limit":0}`}, 400, []string{`"param":"limit","code":"min"`}, nil),
		row("limits", request{Method: "POST", Path: "/policies/evaluate", As: ada.Token, JSON: `{"namespace":"shop","limit":101}`}, 400, []string{`"param":"limit","code":"max"`}, nil),
		row("the same labels from another source", request{Method: "POST", Path: "/policies/evaluate", As: ada.Token,
			JSON: `{"namespace":"shop","limit":1,"handshake":{"labels":{"a":"b"}},"after":"` + page.Next + `"}`}, 200, []string{`"name":"p6"`}, nil),
	})
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
