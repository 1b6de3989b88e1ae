package user_test

import (
	"net/http"
	"net/url"
	"reflect"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// storedBefore is a user as an earlier version stored it.
type storedBefore struct {
	store.Meta `bson:",inline"`
	Email      string `json:"email"`
	Name       string `json:"name"`
	Picture    string `json:"picture"`
	Role       string `json:"role"`
	Password   string `json:"password"`
	Epoch      int64  `json:"epoch"`
}

// TestUserOfEarlierVersion lists and changes a user without the fields that this version added, and with an address that is not in
// normal form. An admin can set the address again.
func TestUserOfEarlierVersion(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	admin := api.SignUp("admin")
	old := storedBefore{
		Meta:  store.NewMeta(store.NewID(), store.At(api.Clock.Now())),
		Email: `"old"@example.com`, Name: "O\u202Eld", Picture: "https://ada:secret@example.com/a.png", Role: "user",
	}
	testkit.Insert(api, "users", old)
	path := "/users/" + old.ID.Hex()
	found := []string{`"count":1,`, old.ID.Hex()}
	api.Run(t, []testkit.Scenario{
		row("read", request{Method: "GET", Path: path, As: admin.Token}, 200, []string{`"emailVerified":false`, `"hasPassword":false`, `"suspended":false`}, nil),
		row("not suspended", request{Method: "GET", Path: "/users?suspended=false&role=user", As: admin.Token}, 200, found, nil),
		row("not verified", request{Method: "GET", Path: "/users?emailVerified[ne]=true&role=user", As: admin.Token}, 200, found, nil),
		row("verified", request{Method: "GET", Path: "/users?emailVerified=true", As: admin.Token}, 200, []string{`"count":0`}, nil),
		row("suspend", request{Method: "PATCH", Path: path, As: admin.Token, Form: url.Values{"suspended": {"true"}}}, 200, []string{`"suspended":true`}, nil),
		row("suspended", request{Method: "GET", Path: "/users?suspended=true", As: admin.Token}, 200, found, nil),
	})
	view := api.Do(request{Method: "GET", Path: path, As: admin.Token}).JSON(200)
	if same := api.Do(request{Method: "PUT", Path: path, As: admin.Token, JSON: view}).JSON(200); !reflect.DeepEqual(same, view) {
		t.Errorf("sent back unchanged: %v, want %v", same, view)
	}
	api.Run(t, []testkit.Scenario{
		row("set the address in normal form", request{Method: "PATCH", Path: path, As: admin.Token, Form: url.Values{"email": {"old@example.com"}}}, 200, []string{`"email":"old@example.com"`}, nil),
	})
}

// TestSearchByEmail finds users by their address, with the domain in Unicode or in ASCII.
func TestSearchByEmail(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	admin := api.SignUp("admin")
	create := func(email string) string {
		t.Helper()
		form := url.Values{"email": {email}, "password": {testkit.Password}, "name": {"N"}}
		return api.Do(request{Method: "POST", Path: "/users", As: testkit.MasterKey, Form: form}).JSON(201)["id"].(string)
	}
	ada, grace := create("ada@BÜCHER.example"), create("grace@example.com")
	api.Do(request{Method: "PATCH", Path: "/users/" + grace, As: admin.Token, Form: url.Values{"email": {"grace@bühne.example"}}}).JSON(200)
	for q, want := range map[string]string{
		"ada@bücher.example": ada, "büch": ada, "bucher": ada, "ada@xn--bcher-kva.example": ada, "BÜHNE": grace, "grace": grace,
	} {
		rows := api.Do(request{Method: "GET", Path: "/users?q=" + url.QueryEscape(q), As: admin.Token}).JSON(200)["rows"].([]any)
		if len(rows) != 1 || rows[0].(map[string]any)["id"] != want {
			t.Errorf("%s: %v", q, rows)
		}
	}
	if rows := api.Do(request{Method: "GET", Path: "/users?fields=hasPassword", As: admin.Token}).JSON(200)["rows"].([]any); rows[0].(map[string]any)["hasPassword"] != true {
		t.Errorf("fields=hasPassword: %v", rows)
	}
}

// TestConcurrentSignUp checks that one of many concurrent sign-ups with one address succeeds.
func TestConcurrentSignUp(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	const callers = 8
	statuses := make(chan int, callers)
	for range callers {
		go func() {
			statuses <- api.Do(request{Method: "POST", Path: "/users", As: testkit.MasterKey, Form: url.Values{"email": {"one@example.com"}, "password": {testkit.Password}}}).Status
		}()
	}
	seen := map[int]int{}
	for range callers {
		seen[<-statuses]++
	}
	if seen[http.StatusCreated] != 1 || seen[http.StatusConflict] != callers-1 {
		t.Errorf("statuses %v", seen)
	}
}
