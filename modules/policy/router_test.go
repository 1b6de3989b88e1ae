package policy_test

import (
	"encoding/json"
	"net/url"
	"testing"
	"time"

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

// TestPolicy creates, changes and deletes a policy.
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
	path := "/policies/" + p.ID.Hex()
	selector := `"selector":{"matchLabels":{"app":"reviews","example.com/a.b_c":""}}`
	created := `"createdAt":"` + p.CreatedAt.String() + `"`
	post := func(body string) request {
		return request{Method: "POST", Path: "/policies", As: admin.Token, JSON: body}
	}
	change := func(body string) request { return request{Method: "PATCH", Path: path, As: admin.Token, JSON: body} }
	show := request{Method: "GET", Path: path, As: ada.Token}
	api.Run(t, []testkit.Scenario{
		row("same name elsewhere", post(`{"namespace":"n","name":"reviews","selector":null}`), 201, nil, []string{"selector"}),
		row("fields of a response", post(`{"namespace":"n","name":"mass","id":"000000000000000000000000","createdAt":"2000-01-01T00:00:00.000Z"}`), 201, nil, []string{"000000000000000000000000", "2000-01-01"}),
		row("no DNS labels", post(`{"namespace":"A","name":"a_b","selector":{"matchLabels":{"z":"*","a b":"-"}}}`), 400, []string{
			`"param":"namespace","code":"format"`, `"param":"name","code":"format"`, `"param":"selector.matchLabels[\"a b\"]","code":"format"`, `"param":"selector.matchLabels[\"z\"]","code":"wildcard"`}, nil),
		row("show", show, 200, []string{`"namespace":"shop","name":"reviews"`, selector, created}, []string{"revision", "version"}),

		row("rename", change(`{"name":"new","namespace":"shop"}`), 200, []string{`"name":"new"`, selector, created}, []string{`"updatedAt":"` + p.UpdatedAt.String()}),
		row("rename to another's", change(`{"name":"other"}`), 409, []string{`"param":"name","code":"conflict"`}, nil),
		row("another namespace", change(`{"namespace":"n","name":"moved"}`), 400, []string{`"in":"body","param":"namespace","code":"conflict"`}, nil),
		row("is as before", show, 200, []string{`"namespace":"shop","name":"new"`, selector}, nil),
		row("another selector", request{Method: "PUT", Path: path, As: admin.Token, Form: url.Values{"selector": {`{"matchLabels":{"app":"web"}}`}}}, 200, []string{`"selector":{"matchLabels":{"app":"web"}}`}, []string{"example.com"}),
		row("empty selector", change(`{"selector":{}}`), 400, []string{`"param":"selector.matchLabels","code":"required"`}, nil),
		row("change nothing", change(`{}`), 200, []string{`"app":"web"`}, nil),
		row("no selector", change(`{"selector":null}`), 200, []string{`"name":"new"`}, []string{"selector"}),

		row("delete", request{Method: "DELETE", Path: path, As: admin.Token}, 204, nil, nil),
		row("gone", show, 404, nil, nil),
		row("its name is free", post(`{"namespace":"shop","name":"new"}`), 201, nil, nil),
	})
}
