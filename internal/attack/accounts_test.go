package attack_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

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
			delete(fields, "role") // changing the role is an error
			delete(fields, "suspended")
		}
		for _, method := range []string{"PUT", "PATCH"} {
			accepted(request{Method: method, Path: path, As: token, JSON: fields})
			documents = db.documents(t, test.collection)
			check(method, documents[len(documents)-1])
		}
	}
}
