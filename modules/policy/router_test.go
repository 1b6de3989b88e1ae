package policy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/selector/v1beta1"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/modules/policy"
	"example.com/ginseng/testkit"
)

type request = testkit.Request

var row = testkit.Row

// create creates a policy and returns its view. "" means no selector.
func create(t *testing.T, api *testkit.API, token, namespace, name, selector string) policy.View {
	t.Helper()
	form := url.Values{"namespace": {namespace}, "name": {name}}
	if selector != "" {
		form.Set("selector", selector)
	}
	response := api.Do(request{Method: "POST", Path: "/policies", As: token, Form: form})
	var v policy.View
	if err := json.Unmarshal(response.Body, &v); err != nil || response.Status != 201 {
		t.Fatalf("status %d, %v: %s", response.Status, err, response.Body)
	}
	if location := response.Header.Get("Location"); location != "/policies/"+v.ID.Hex() {
		t.Errorf("Location %q", location)
	}
	return v
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	admin, ada := api.SignUp("admin"), api.SignUp("user")
	p := create(t, api, admin.Token, " shop ", "reviews", `{"matchLabels":{"app":"reviews","example.com/a.b_c":""}}`)
	create(t, api, admin.Token, "shop", "other", "")
	if p.Namespace != "shop" || p.Name != "reviews" || p.CreatedAt != p.UpdatedAt {
		t.Errorf("%+v", p)
	}
	api.Clock.Advance(time.Second)
	path, unknown := "/policies/"+p.ID.Hex(), "/policies/"+store.NewID().Hex()
	selector := `"selector":{"matchLabels":{"app":"reviews","example.com/a.b_c":""}}`
	created := `"createdAt":"` + p.CreatedAt.String() + `"`
	post := func(as string, body any) request {
		return request{Method: "POST", Path: "/policies", As: as, JSON: body}
	}
	change := func(as, body string) request { return request{Method: "PATCH", Path: path, As: as, JSON: body} }
	long := strings.Repeat("a", 63)
	api.Run(t, []testkit.Scenario{
		row("JSON", post(admin.Token, `{"namespace":"n","name":"n","selector":{"match_labels":{"a":"b"}}}`), 201, []string{`"selector":{"matchLabels":{"a":"b"}}`}, []string{"revision", "version"}),
		row("same name elsewhere", post(admin.Token, `{"namespace":"n","name":"reviews"}`), 201, nil, []string{"selector"}),
		row("null selector", post(admin.Token, `{"namespace":"n","name":"null","selector":null}`), 201, nil, []string{"selector"}),
		row("null selector in a form", request{Method: "POST", Path: "/policies", As: admin.Token, Form: url.Values{"namespace": {"n"}, "name": {"null-form"}, "selector": {" null "}}}, 201, nil, []string{"selector"}),
		row("longest", post(admin.Token, map[string]string{"namespace": long, "name": long}), 201, nil, nil),
		row("digits and hyphens", post(admin.Token, `{"namespace":"0","name":"1-a--2"}`), 201, nil, nil),
		row("mass assignment", post(admin.Token, `{"namespace":"n","name":"mass","id":"000000000000000000000000","createdAt":"2000-01-01T00:00:00.000Z"}`), 201, nil, []string{"000000000000000000000000", "2000-01-01"}),
		row("same name", post(admin.Token, `{"namespace":"shop","name":"reviews"}`), 409, []string{`"code":"conflict"`, `"param":"namespace"`, `"param":"name"`}, nil),
		row("nothing", post(admin.Token, `{}`), 400, []string{`"param":"namespace","code":"required"`, `"param":"name","code":"required"`}, []string{"selector"}),
		row("too long", post(admin.Token, map[string]string{"namespace": long + "a", "name": long + "a"}), 400, []string{`"param":"namespace","code":"max_length"`, `"param":"name","code":"max_length"`, `"expected":63`}, nil),
		row("types", post(admin.Token, `{"namespace":1,"name":{"$gt":""},"selector":5}`), 400, []string{`"param":"namespace","code":"type"`, `"param":"name","code":"type"`, `"param":"selector","code":"format"`}, nil),
		row("user", post(ada.Token, `{"namespace":"n","name":"x"}`), 403, []string{"forbidden"}, nil),
		row("credential before validation", post(ada.Token, `{}`), 403, nil, nil),
		row("master key", post(testkit.MasterKey, `{"namespace":"n","name":"x"}`), 401, nil, nil),
		row("no user", post("", `{"namespace":"n","name":"x"}`), 401, nil, nil),

		row("show", request{Method: "GET", Path: path, As: ada.Token}, 200, []string{`"namespace":"shop","name":"reviews"`, selector, created}, []string{"revision", "version"}),
		row("show, no user", request{Method: "GET", Path: path}, 401, nil, nil),
		row("show, master key", request{Method: "GET", Path: path, As: testkit.MasterKey}, 401, nil, nil),
		row("unknown", request{Method: "GET", Path: unknown, As: ada.Token}, 404, nil, nil),
		row("malformed", request{Method: "GET", Path: "/policies/evaluate", As: ada.Token}, 404, nil, nil),

		row("rename", change(admin.Token, `{"name":"new"}`), 200, []string{`"name":"new"`, selector, created}, []string{`"updatedAt":"` + p.UpdatedAt.String()}),
		row("rename to what it is", change(admin.Token, `{"name":"new","namespace":"shop"}`), 200, []string{`"name":"new"`}, nil),
		row("rename to another's", change(admin.Token, `{"name":"other"}`), 409, []string{`"param":"name","code":"conflict"`}, nil),
		row("another namespace", change(admin.Token, `{"namespace":"n","name":"moved"}`), 400, []string{`"in":"body","param":"namespace","code":"conflict"`}, nil),
		row("is as before", request{Method: "GET", Path: path, As: ada.Token}, 200, []string{`"namespace":"shop","name":"new"`, selector}, nil),
		row("another selector", request{Method: "PUT", Path: path, As: admin.Token, Form: url.Values{"selector": {`{"matchLabels":{"app":"web"}}`}}}, 200, []string{`"selector":{"matchLabels":{"app":"web"}}`}, []string{"example.com"}),
		row("no selector", change(admin.Token, `{"selector":null}`), 200, []string{`"name":"new"`}, []string{"selector"}),
		row("no selector again", request{Method: "PATCH", Path: path, As: admin.Token, Form: url.Values{"selector": {"null"}}}, 200, nil, []string{"selector"}),
		row("selector again", change(admin.Token, `{"selector":{"matchLabels":{"app":"null"}}}`), 200, []string{`"selector":{"matchLabels":{"app":"null"}}`}, nil),
		row("empty selector", change(admin.Token, `{"selector":{}}`), 400, []string{`"param":"selector.matchLabels","code":"required"`}, nil),
		row("empty name", change(admin.Token, `{"name":"","namespace":" "}`), 400, []string{`"param":"name","code":"required"`, `"param":"namespace","code":"required"`}, nil),
		row("null name", change(admin.Token, `{"name":null,"namespace":null}`), 400, []string{`"param":"name","code":"required"`, `"param":"namespace","code":"required"`}, nil),
		row("change nothing", change(admin.Token, `{}`), 200, []string{`"app":"null"`}, nil),
		row("change, user", change(ada.Token, `{"name":"x"}`), 403, nil, nil),
		row("change, no user", change("", `{"name":"x"}`), 401, nil, nil),
		row("change unknown", request{Method: "PUT", Path: unknown, As: admin.Token, JSON: `{"name":"x"}`}, 404, nil, nil),
		row("change malformed", request{Method: "PUT", Path: "/policies/x", As: admin.Token, JSON: `{"name":"x"}`}, 404, nil, nil),

		row("delete, user", request{Method: "DELETE", Path: path, As: ada.Token}, 403, nil, nil),
		row("delete, no user", request{Method: "DELETE", Path: path}, 401, nil, nil),
		row("delete", request{Method: "DELETE", Path: path, As: admin.Token}, 204, nil, nil),
		row("gone", request{Method: "GET", Path: path, As: ada.Token}, 404, nil, nil),
		row("delete again", request{Method: "DELETE", Path: path, As: admin.Token}, 404, nil, nil),
		row("change what is gone", change(admin.Token, `{"name":"x"}`), 404, nil, nil),
		row("its name is free", post(admin.Token, `{"namespace":"shop","name":"new"}`), 201, nil, nil),
	})
}

// TestNames checks that namespace and name are DNS labels, on each route.
func TestNames(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	admin := api.SignUp("admin")
	path := "/policies/" + create(t, api, admin.Token, "shop", "reviews", "").ID.Hex()
	for _, bad := range []string{"A", "-a", "a-", "-", "a.b", "a_b", "a b", "é", "a\n.", "a/b", "*", "a\u2028b"} {
		text, err := json.Marshal(bad)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []request{
			{Method: "POST", Path: "/policies", JSON: fmt.Sprintf(`{"namespace":%s,"name":%[1]s}`, text)},
			{Method: "PATCH", Path: path, JSON: fmt.Sprintf(`{"namespace":%s,"name":%[1]s}`, text)},
			{Method: "POST", Path: "/policies/evaluate", JSON: fmt.Sprintf(`{"namespace":%s}`, text)},
		} {
			r.As = admin.Token
			response := api.Do(r)
			want := `"param":"namespace","code":"format"`
			if response.Status != 400 || !strings.Contains(string(response.Body), want) {
				t.Errorf("%s %s of %q: %d %s", r.Method, r.Path, bad, response.Status, response.Body)
			}
		}
	}
}

// problems returns the path and the code of each invalid parameter, in the order of the response. The status must be 400.
func problems(t *testing.T, response testkit.Response) []string {
	t.Helper()
	var p rest.Problem
	if err := json.Unmarshal(response.Body, &p); err != nil || response.Status != 400 {
		t.Fatalf("%d, %v: %s", response.Status, err, response.Body)
	}
	var out []string
	for _, f := range p.Errors {
		if f.In != "body" || f.Message == "" {
			t.Errorf("not whole: %+v", f)
		}
		out = append(out, f.Param+" "+string(f.Code))
	}
	return out
}

// TestBadSelectors sends every kind of invalid selector, in JSON and in a form, to both routes.
func TestBadSelectors(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	admin := api.SignUp("admin")
	path := "/policies/" + create(t, api, admin.Token, "shop", "reviews", "").ID.Hex()
	var many strings.Builder
	for i := range v1beta1.MaxLabels + 1 {
		fmt.Fprintf(&many, `,"k%d":""`, i)
	}
	label := func(key, code string) string { return fmt.Sprintf("selector.matchLabels[%q] %s", key, code) }
	labels := func(text string) string { return `{"matchLabels":{` + text + `}}` }
	as, bs, es := strings.Repeat("a", 64), strings.Repeat("b", 254), strings.Repeat("é", 31)
	for _, test := range []struct {
		selector string
		want     []string
	}{
		{`[]`, []string{"selector format"}},
		{`"app=x"`, []string{"selector format"}},
		{`5`, []string{"selector format"}},
		{`false`, []string{"selector format"}},
		{`{}`, []string{"selector.matchLabels required"}},
		{labels(``), []string{"selector.matchLabels required"}},
		{`{"matchLabels":null}`, []string{"selector.matchLabels required"}},
		{`{"matchLabels":[]}`, []string{"selector.matchLabels format"}},
		{`{"matchLabels":"app=x"}`, []string{"selector.matchLabels format"}},
		{`{"matchExpressions":[]}`, []string{"selector.matchExpressions format", "selector.matchLabels required"}},
		{`{"matchLabels":{"app":"x"},"matchExpressions":[]}`, []string{"selector.matchExpressions format"}},
		{`{"matchLabels":{"app":"x"},"match_labels":{"app":"x"}}`, []string{"selector.matchLabels format"}},
		{`{"matchLabels":{"app":"x"},"matchLabels":{"app":"x"}}`, []string{"selector.matchLabels format"}},
		{labels(`"app":"x","app":"x"`), []string{label("app", "format")}},
		{labels(`"app":null`), []string{label("app", "format")}},
		{labels(`"app":1`), []string{label("app", "format")}},
		{labels(`"app":{"$gt":""}`), []string{label("app", "format")}},
		{labels(`"only/one/slash":""`), []string{label("only/one/slash", "format")}},
		{labels(`"Example.com/abc":""`), []string{label("Example.com/abc", "format")}},
		{labels(`"/simple":""`), []string{label("/simple", "format")}},
		{labels(`"":""`), []string{label("", "format")}},
		{labels(`"key_":""`), []string{label("key_", "format")}},
		{labels(`"é":""`), []string{label("é", "format")}},
		{labels(`"$where":""`), []string{label("$where", "format")}},
		{labels(`"` + as + `":""`), []string{label(as, "max_length")}},
		{labels(`"` + bs + `/a":""`), []string{label(bs+"/a", "max_length")}},
		{labels(`"a":"` + as + `"`), []string{label("a", "max_length")}},
		{labels(`"a":"-x"`), []string{label("a", "format")}},
		{labels(`"a":"bad,value"`), []string{label("a", "format")}},
		{labels(`"a":" x"`), []string{label("a", "format")}},
		{labels(`"a":"` + es + `"`), []string{label("a", "format")}},
		{labels(`"a":"*"`), []string{label("a", "wildcard")}},
		{labels(`"a*":"x"`), []string{label("a*", "wildcard")}},
		{labels(`"z":"*","a b":"-","m":"x"`), []string{label("a b", "format"), label("a b", "format"), label("z", "wildcard")}},
		{labels(many.String()[1:]), []string{"selector.matchLabels max"}},
	} {
		for _, r := range []request{
			{Method: "POST", Path: "/policies", JSON: `{"namespace":"B","selector":` + test.selector + `}`},
			{Method: "POST", Path: "/policies", Form: url.Values{"namespace": {"B"}, "selector": {test.selector}}},
			{Method: "PATCH", Path: path, JSON: `{"namespace":"B","name":"","selector":` + test.selector + `}`},
			{Method: "PUT", Path: path, Form: url.Values{"namespace": {"B"}, "name": {""}, "selector": {test.selector}}},
		} {
			r.As = admin.Token
			want := append([]string{"namespace format", "name required"}, test.want...)
			if got := problems(t, api.Do(r)); !slices.Equal(got, want) {
				t.Errorf("%s %.99s: %q, want %q", r.Method, test.selector, got, want)
			}
		}
	}
	for _, text := range []string{"", "app=x", `{"matchLabels":{"app":"x"}`, `{"matchLabels":{"app":"x"}} {}`, "{\"matchLabels\":{\"a\":\"\xff\"}}"} {
		r := request{Method: "PATCH", Path: path, As: admin.Token, Form: url.Values{"selector": {text}}}
		if got := problems(t, api.Do(r)); !slices.Equal(got, []string{"selector format"}) {
			t.Errorf("form %q: %q", text, got)
		}
	}
	r := request{Method: "PATCH", Path: path, As: admin.Token, Form: url.Values{"selector": {`{"matchLabels":{"a":"b"}}`, `null`}}}
	if got := problems(t, api.Do(r)); !slices.Equal(got, []string{"selector type"}) {
		t.Errorf("twice: %q", got)
	}
}

// TestVersions changes and deletes a policy with ETags.
func TestVersions(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	admin := api.SignUp("admin")
	made := api.Do(request{Method: "POST", Path: "/policies", As: admin.Token, JSON: `{"namespace":"n","name":"a"}`})
	path, first := made.Header.Get("Location"), made.Header.Get("ETag")
	call := func(method, header, tag, body string) testkit.Response {
		r := request{Method: method, Path: path, As: admin.Token, Header: http.Header{header: {tag}}}
		if method == "PATCH" {
			r.JSON = body
		}
		return api.Do(r)
	}
	if got := call("GET", "If-None-Match", first, ""); got.Status != 304 {
		t.Errorf("unchanged: %d %s", got.Status, got.Body)
	}
	changed := call("PATCH", "If-Match", first, `{"name":"b"}`)
	second := changed.Header.Get("ETag")
	if changed.Status != 200 || second == first || second == "" {
		t.Fatalf("change of the first: %d, ETag %s after %s", changed.Status, second, first)
	}
	if got := call("PATCH", "If-Match", first, `{}`); got.Status != 412 {
		t.Errorf("no change of the first: %d", got.Status)
	}
	if got := call("PATCH", "If-Match", first, `{"name":"c"}`); got.Status != 412 {
		t.Errorf("change of the first again: %d", got.Status)
	}
	if got := call("DELETE", "If-Match", first, ""); got.Status != 412 {
		t.Errorf("delete of the first: %d", got.Status)
	}
	if got := call("PATCH", "If-Match", "*", `{"name":"c"}`); got.Status != 200 || got.JSON(200)["name"] != "c" {
		t.Errorf("any: %d %s", got.Status, got.Body)
	}
	if got := call("DELETE", "If-Match", second, ""); got.Status != 412 {
		t.Errorf("delete of the second: %d", got.Status)
	}
	if got := call("DELETE", "If-Match", "*", ""); got.Status != 204 {
		t.Errorf("delete: %d", got.Status)
	}
}

// TestConcurrentWriters runs concurrent writers through two instances. Of the writers with the same name, one succeeds. Of the
// writers with the same ETag, at most one succeeds.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	one := apitest.Start(t)
	two := one.Instance()
	admin := one.SignUp("admin")
	made := one.Do(request{Method: "POST", Path: "/policies", As: admin.Token, JSON: `{"namespace":"n","name":"first"}`})
	const writers = 10
	at := func(r request, statuses chan<- int) {
		r.As = admin.Token
		for _, api := range []*testkit.API{one, two} {
			go func() { statuses <- api.Do(r).Status }()
		}
	}
	same, tagged, any, own := make(chan int), make(chan int), make(chan int), make(chan int)
	for i := range writers {
		at(request{Method: "POST", Path: "/policies", JSON: `{"namespace":"n","name":"same"}`}, same)
		at(request{Method: "PATCH", Path: made.Header.Get("Location"), JSON: fmt.Sprintf(`{"name":"t%d"}`, i),
			Header: http.Header{"If-Match": {made.Header.Get("ETag")}}}, tagged)
		at(request{Method: "PATCH", Path: made.Header.Get("Location"), JSON: `{"selector":{"matchLabels":{"a":"b"}}}`}, any)
		at(request{Method: "POST", Path: "/policies", JSON: fmt.Sprintf(`{"namespace":"m%d","name":"own"}`, i)}, own)
	}
	for name, want := range map[string]struct {
		statuses <-chan int
		counts   map[int]int
	}{
		"one name": {same, map[int]int{201: 1, 409: 2*writers - 1}},
		"any":      {any, map[int]int{200: 2 * writers}},
		"own":      {own, map[int]int{201: writers, 409: writers}},
	} {
		seen := map[int]int{}
		for range 2 * writers {
			seen[<-want.statuses]++
		}
		if fmt.Sprint(seen) != fmt.Sprint(want.counts) {
			t.Errorf("%s: statuses %v, want %v", name, seen, want.counts)
		}
	}
	seen := map[int]int{}
	for range 2 * writers {
		seen[<-tagged]++
	}
	if seen[200] > 1 || seen[200]+seen[412] != 2*writers { // no writer succeeds if a writer without the tag was first
		t.Errorf("one ETag: statuses %v", seen)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	admin, ada := api.SignUp("admin"), api.SignUp("user")
	for i := range 3 {
		create(t, api, admin.Token, "shop", fmt.Sprint("p", 3-i), "")
		api.Clock.Advance(time.Second)
	}
	last := create(t, api, admin.Token, "web", "p1", `{"matchLabels":{"a":"b"}}`)
	gone := create(t, api, admin.Token, "shop", "gone", "")
	api.Do(request{Method: "DELETE", Path: "/policies/" + gone.ID.Hex(), As: admin.Token})
	list := func(query string) request { return request{Method: "GET", Path: "/policies?" + query, As: ada.Token} }
	api.Run(t, []testkit.Scenario{
		row("all", list(""), 200, []string{`"count":4`, `"rows":[{"id":"` + last.ID.Hex(), `"selector":{"matchLabels":{"a":"b"}}`}, []string{"gone", "next"}),
		row("a namespace", list("namespace=shop"), 200, []string{`"count":3`}, []string{"web"}),
		row("a namespace by name", list("namespace=shop&sort=-name&limit=1"), 200, []string{`"count":3`, `"name":"p3"`, `"next"`}, []string{`"p2"`}),
		row("a name", list("name=p1&sort=createdAt"), 200, []string{`"count":2`, `"namespace":"shop"`, `"namespace":"web"`}, []string{`"p2"`}),
		row("names", list("name[gte]=p2&name[ne]=p3"), 200, []string{`"count":1`, `"name":"p2"`}, nil),
		row("oldest first", list("sort=createdAt&limit=1"), 200, []string{`"p3"`}, []string{`"p1"`}),
		row("some fields", list("fields=name,namespace&limit=1"), 200, []string{`"name":"p1"`}, []string{"selector", "createdAt"}),
		row("no user", request{Method: "GET", Path: "/policies"}, 401, nil, nil),
		row("unknown", list("q=x"), 400, []string{`"param":"q","code":"unknown"`}, nil),
		row("no such sort", list("sort=namespace"), 400, []string{`"param":"sort","code":"one_of"`}, nil),
	})
}
