package attack_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// forged returns a value of the same type as stored that the service never chooses.
func forged(name string, stored any) any {
	switch stored.(type) {
	case bool:
		return true
	case string:
		switch name {
		case "role":
			return "admin"
		case "id", "userId":
			return "bad0bad0bad0bad0bad0bad0"
		case "createdAt", "updatedAt", "expiresAt":
			return "2001-01-01T00:00:00.000Z"
		}
		return "forged"
	}
	return 7777
}

// TestMassAssignment sends every stored field of a resource, including undocumented ones, on create and update. Only
// the documented fields may be stored.
func TestMassAssignment(t *testing.T) {
	t.Parallel()
	var db database
	api := apitest.Start(t, recorded(&db))
	eve := api.SignUp("user")
	for _, test := range []struct {
		collection string
		create     request
		chosen     map[string]any // the fields that the client may set; some are stored hashed
	}{
		{"users", request{Method: "POST", Path: "/users", As: testkit.MasterKey}, map[string]any{"email": "mass@example.com", "password": testkit.Password, "name": "N", "picture": "https://example.com/", "role": "user"}},
		{"articles", request{Method: "POST", Path: "/articles", As: eve.Token}, map[string]any{"title": "T", "content": "C"}},
	} {
		// The fields of a stored resource of this kind.
		plain := test.create
		plain.JSON = test.chosen
		ok(t, api.Do(plain))
		documents := db.documents(t, test.collection)
		fields := maps.Clone(documents[len(documents)-1])
		maps.Copy(fields, map[string]any{"_id": "x", "admin": false, "emailVerified": false, "isAdmin": false, "epoch": 0.0, "userId": "x"})
		if len(fields) < 8 {
			t.Fatalf("%s have only %v", test.collection, fields)
		}
		for name, stored := range fields {
			fields[name] = forged(name, stored)
		}
		maps.Copy(fields, test.chosen)
		if test.collection == "users" {
			fields["email"] = "mass2@example.com"
		}
		check := func(when string, document map[string]any) {
			for name, value := range document {
				if _, chosen := test.chosen[name]; !chosen && fmt.Sprint(value) == fmt.Sprint(fields[name]) {
					t.Errorf("%s, %s: the attack succeeded: the attacker chose %s: %v", test.collection, when, name, value)
				}
			}
		}
		forge := test.create
		forge.JSON = fields
		// accepted sends a request without the parameters that the service rejects as unknown.
		accepted := func(r request) testkit.Response {
			var problem struct {
				Errors []struct{ Param, Code string }
			}
			if err := json.Unmarshal(api.Do(r).Body, &problem); err != nil || len(problem.Errors) == 0 {
				t.Fatalf("%s: no unknown parameter is rejected: %v", test.collection, err)
			}
			known := maps.Clone(r.JSON.(map[string]any))
			for _, e := range problem.Errors {
				if e.Code == "unknown" {
					delete(known, e.Param)
				}
			}
			r.JSON = known
			return ok(t, api.Do(r))
		}
		created := accepted(forge)
		documents = db.documents(t, test.collection)
		check("POST", documents[len(documents)-1])
		path := test.create.Path + "/" + created.JSON(201)["id"].(string)
		token := eve.Token
		if test.collection == "users" {
			token = api.SignIn("mass2@example.com", testkit.Password).Token
			delete(fields, "role") // changing the role is an error: TestChooseARole
			delete(fields, "suspended")
		}
		for _, method := range []string{"PUT", "PATCH"} {
			accepted(request{Method: method, Path: path, As: token, JSON: fields})
			documents = db.documents(t, test.collection)
			check(method, documents[len(documents)-1])
		}
	}
}

// TestChooseARole requests the admin role as callers that may not set it.
func TestChooseARole(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	open := api.Instance(testkit.Env("PUBLIC_SIGNUP", "true"))
	eve := api.SignUp("user")
	account := url.Values{"email": {"root@example.com"}, "password": {guess}, "role": {"admin"}}
	rejected(t, open, []attempt{
		{"at public sign-up", request{Method: "POST", Path: "/users", Form: account}, 403, "forbidden"},
		{"at public sign-up, by a user", request{Method: "POST", Path: "/users", Form: account, As: eve.Token}, 403, "forbidden"},
		{"own account", request{Method: "PATCH", Path: "/users/me", As: eve.Token, JSON: `{"role":"admin"}`}, 403, "forbidden"},
		{"own account, by id", request{Method: "PUT", Path: "/users/" + eve.ID, As: eve.Token, Form: url.Values{"role": {"admin"}}}, 403, "forbidden"},
	})
	want(t, 403, api.Do(request{Method: "GET", Path: "/users", As: eve.Token}), "the list of users, afterwards")
}

// TestAnotherUsersRecords reads, changes and deletes resources of another user.
func TestAnotherUsersRecords(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	article := ok(t, api.Do(request{Method: "POST", Path: "/articles", As: ada.Token, JSON: `{"title":"Hers"}`})).Header.Get("Location")
	path := "/users/" + ada.ID
	rejected(t, api, []attempt{
		{"change a user", request{Method: "PATCH", Path: path, As: eve.Token, JSON: `{"name":"Eve was here"}`}, 403, "forbidden"},
		{"change a user with If-Match: *", request{Method: "PUT", Path: path, As: eve.Token, Header: http.Header{"If-Match": {"*"}}, JSON: `{"name":"E"}`}, 403, "forbidden"},
		{"set a password, by token", request{Method: "PUT", Path: path + "/password", As: eve.Token, Form: url.Values{"password": {guess}}}, 403, "forbidden"},
		{"set a password, by password", request{Method: "PUT", Path: path + "/password", Email: eve.Email, Password: testkit.Password, Form: url.Values{"password": {guess}}}, 403, "forbidden"},
		{"delete a user", request{Method: "DELETE", Path: path, As: eve.Token}, 403, "forbidden"},
		{"list users", request{Method: "GET", Path: "/users", As: eve.Token}, 403, "forbidden"},
		{"change an article", request{Method: "PATCH", Path: article, As: eve.Token, JSON: `{"title":"Eve's"}`}, 403, "forbidden"},
		{"take over an article", request{Method: "PUT", Path: article, As: eve.Token, JSON: `{"userId":"` + eve.ID + `"}`}, 403, "forbidden"},
		{"delete an article", request{Method: "DELETE", Path: article, As: eve.Token}, 403, "forbidden"},
	})
	for name, token := range map[string]string{"no user": "", "another user": eve.Token} {
		if seen := api.Do(request{Method: "GET", Path: path, As: token}); bytes.Contains(seen.Body, []byte(ada.Email)) || bytes.Contains(seen.Body, []byte("role")) {
			t.Errorf("%s: the attack succeeded: the attacker got %s", name, seen.Body)
		}
	}
}

// TestForgedCursor alters a cursor, and uses it with another list.
func TestForgedCursor(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	eve := api.SignUp("user")
	for range 3 {
		ok(t, api.Do(request{Method: "POST", Path: "/articles", As: eve.Token, JSON: `{"title":"T"}`}))
	}
	var page struct{ Next string }
	if err := json.Unmarshal(api.Do(request{Method: "GET", Path: "/articles?limit=1"}).Body, &page); err != nil || page.Next == "" {
		t.Fatalf("no cursor: %v", err)
	}
	list := func(after string) request { return request{Method: "GET", Path: "/articles?" + after} }
	ok(t, api.Do(list("after="+page.Next)))
	flipped := []byte(page.Next)
	flipped[len(flipped)/2] ^= 3
	rejected(t, api, []attempt{
		{"altered", list("after=" + url.QueryEscape(string(flipped))), 400, `"param":"after"`},
		{"of another list", list("sort=title&after=" + page.Next), 400, `"param":"after"`},
		{"of another filter", list("userId=" + store.NewID().Hex() + "&after=" + page.Next), 400, `"param":"after"`},
	})
}

// TestStoredResponseOfAnotherUser uses another user's Idempotency-Key to get the stored response.
func TestStoredResponseOfAnotherUser(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	post := func(token string) testkit.Response {
		return ok(t, api.Do(request{Method: "POST", Path: "/articles", As: token, JSON: `{"title":"T"}`, Header: http.Header{"Idempotency-Key": {"1"}}}))
	}
	first, second := post(ada.Token), post(eve.Token)
	if bytes.Equal(first.Body, second.Body) {
		t.Errorf("the attack succeeded: the attacker got %s", second.Body)
	}
	if again := post(ada.Token); !bytes.Equal(again.Body, first.Body) {
		t.Errorf("the stored response was not returned: %s", again.Body)
	}
}
