package attack_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/docs"
	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store/mongo/mongotest"
	"example.com/ginseng/testkit"
)

// The callers with API keys, in the order of the columns of keyMatrix. The last ones have keys that are invalid.
const (
	readKey   = iota // articles:read, of the owner of the record in the path
	writeKey         // articles:write, of the owner
	otherKey         // of another resource, of the owner
	asUserKey        // *:read and *:write, of an admin
	adminKey         // with the scope admin too
	validKeys
	expiredKey = iota - 1
	deletedKey
	suspendedKey // the owner of the key is suspended
	removedKey   // the owner of the key is deleted
	keyCallers
)

var keyScopes = [keyCallers]string{readKey: "articles:read", writeKey: "articles:write", otherKey: "notes:read,notes:write", adminKey: "*:read,*:write,admin"}

// keyMatrix has the status of each route that accepts API keys, for each caller with a valid key. All other routes respond 403.
var keyMatrix = map[string]string{
	//                     read write other asUser admin
	"GET /users/me":         "200 200 200 200 200",
	"POST /articles":        "403 201 403 201 201",
	"GET /articles":         "200 403 403 200 200",
	"GET /articles/changes": "200 403 403 200 200",
	"GET /articles/:id":     "200 403 403 200 200",
	"PUT /articles/:id":     "403 200 403 403 200",
	"PATCH /articles/:id":   "403 200 403 403 200",
	"DELETE /articles/:id":  "403 204 403 403 204",
	"POST /batch":           "403 200 403 200 200",
	"POST /mcp":             "200 200 200 200 200", // the tools check scopes
}

// notes is a resource without records.
type notes struct{}

func (notes) Routes(r gin.IRouter, mw kit.Middleware) {
	mw.Resource(r, "notes").GET("/notes", mw.Auth.User, rest.Handle(rest.NoContent))
}

// isOpen reports whether a route does not read the Authorization header.
func isOpen(route string) bool {
	_, path, _ := strings.Cut(route, " ")
	return slices.Contains([]string{"/livez", "/readyz", "/openapi.json", "/auth/refresh"}, path) || strings.HasPrefix(path, "/docs")
}

// TestKeyMatrix calls every route with every kind of API key: a key opens the routes of keyMatrix and no other.
func TestKeyMatrix(t *testing.T) {
	t.Parallel()
	for i, row := range matrix {
		valid, marked := keyMatrix[row.route]
		if !marked && i%8 != 0 && (testing.Short() || mongotest.Available()) {
			continue
		}
		t.Run(row.route, func(t *testing.T) {
			w := newWorld(t, testkit.Env("PUBLIC_SIGNUP", "false"), func(c *testkit.Config) { c.Modules = append(c.Modules, notes{}) })
			for caller := range keyCallers {
				want := "401"
				switch {
				case isOpen(row.route):
					want = strings.TrimSuffix(strings.Fields(row.statuses)[anonymous], "*")
				case caller < validKeys && marked:
					want = strings.Fields(valid)[caller]
				case caller < validKeys:
					want = "403"
				}
				got := w.Do(newKeyCell(t, w, caller).request(row.route, row.body))
				if row.route == "POST /batch" && got.Status == http.StatusNotImplemented {
					t.Skip("the database has no transactions")
				}
				if fmt.Sprint(got.Status) != want {
					t.Errorf("column %d: status %d, want %s: %.300s", caller+1, got.Status, want, got.Body)
				}
			}
		})
	}
}

// newKeyCell returns a cell whose caller sends an API key. It acts on a record of its owner, except the keys of admins and
// the invalid ones.
func newKeyCell(t *testing.T, w *world, caller int) *matrixCell {
	column := other
	switch {
	case caller == asUserKey || caller == adminKey:
		column = admin
	case caller < validKeys:
		column = owner
	}
	c := newMatrixCell(t, w, column)
	scopes := keyScopes[caller]
	if scopes == "" {
		scopes = "*:read,*:write"
	}
	soon := w.Clock.Now().Add(time.Minute).UTC().Format(time.RFC3339)
	created := ok(t, w.Do(request{
		Method: "POST", Path: "/users/me/api-keys", Email: c.caller.Email, Password: testkit.Password,
		Form: url.Values{"name": {"n"}, "scopes": {scopes}, "expiresAt": {soon}},
	})).JSON(201)
	as := func(method, path, token string) request { return request{Method: method, Path: path, As: token} }
	switch caller {
	case expiredKey:
		w.Clock.Advance(2 * time.Minute)
	case deletedKey:
		ok(t, w.Do(as("DELETE", "/users/me/api-keys/"+created["id"].(string), c.caller.Token)))
	case suspendedKey:
		suspend := as("PATCH", "/users/"+c.caller.ID, w.SignUp("admin").Token)
		suspend.Form = url.Values{"suspended": {"true"}}
		ok(t, w.Do(suspend))
	case removedKey:
		ok(t, w.Do(as("DELETE", "/users/me", c.caller.Token)))
	}
	c.caller = testkit.Account{Session: testkit.Session{Token: created["key"].(string)}}
	return c
}

// TestWriteOnlyKey writes a record of the key's owner, without the scope to read records, in every way that can return the
// record. Each response has the ID of the record, and not its fields.
func TestWriteOnlyKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.SignUp("user")
	made := ok(t, w.Do(request{Method: "POST", Path: "/articles", As: owner.Token, JSON: `{"title":"secret","content":"secret"}`}))
	id := made.JSON(201)["id"].(string)
	key := ok(t, w.Do(request{
		Method: "POST", Path: "/users/me/api-keys", Email: owner.Email, Password: testkit.Password, JSON: `{"name":"n","scopes":["articles:write"]}`,
	})).JSON(201)["key"].(string)
	send := func(method, path, body string, header ...string) request {
		r := request{Method: method, Path: path, As: key, JSON: body, Header: http.Header{}}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		return r
	}
	tool := func(name, arguments string) request {
		return send("POST", "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments))
	}
	create := send("POST", "/articles", `{"title":"secret"}`, "Idempotency-Key", "k")
	for _, r := range []request{
		send("PATCH", "/articles/"+id, `{}`),
		send("PUT", "/articles/"+id, `{"title":"secret"}`, "If-Match", made.Header.Get("ETag")),
		create, create, // the second response is the stored one
		tool("update_record", `{"resource":"articles","id":"`+id+`","data":{}}`),
		tool("create_record", `{"resource":"articles","data":{"title":"secret"},"idempotencyKey":"m"}`),
		send("POST", "/batch", `{"operations":[{"name":"a","method":"PATCH","path":"/articles/`+id+`","body":{}},{"method":"DELETE","path":"/articles/$a.id"}]}`),
	} {
		got := w.Do(r)
		if got.Status == http.StatusNotImplemented {
			continue // the database has no transactions
		}
		if text := string(got.Body); got.Status >= 400 || strings.Contains(text, "secret") || !strings.Contains(text, "id") {
			t.Errorf("%s %s: %d %s", r.Method, r.Path, got.Status, text)
		}
		if tag := got.Header.Get("ETag"); strings.HasPrefix(r.Path, "/articles") && tag == "" {
			t.Errorf("%s %s: no ETag", r.Method, r.Path)
		}
	}
	refers := send("POST", "/batch", `{"operations":[{"name":"a","method":"POST","path":"/articles","body":{"title":"secret"}},{"method":"POST","path":"/articles","body":{"title":"$a.title"}}]}`)
	if got := w.Do(refers); got.Status != http.StatusNotImplemented && (got.Status != 400 || !strings.Contains(string(got.Body), "has no field title")) {
		t.Errorf("a reference to a field: %d %s", got.Status, got.Body)
	}
}

// TestKeysAreDocumented checks that the OpenAPI document has the routes that accept API keys, and their scopes.
func TestKeysAreDocumented(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths map[string]map[string]struct {
			Scopes   []string `json:"x-required-scopes"`
			Security []map[string][]string
		}
	}
	if err := json.Unmarshal(docs.OpenAPI, &doc); err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(maps.Keys(keyMatrix))
	var documented []string
	for path, operations := range doc.Paths {
		for method, op := range operations {
			takesKey := slices.ContainsFunc(op.Security, func(s map[string][]string) bool { return s["APIKey"] != nil })
			if !takesKey && op.Scopes == nil {
				continue
			}
			route := strings.ToUpper(method) + " " + strings.NewReplacer("{", ":", "}", "").Replace(path)
			documented = append(documented, route)
			scopes := ""
			switch statuses := strings.Fields(keyMatrix[route]); {
			case !strings.Contains(path, "articles") || statuses == nil:
			case statuses[readKey] == "200":
				scopes = "articles:read"
			default:
				scopes = "articles:write"
			}
			if strings.Join(op.Scopes, " ") != scopes {
				t.Errorf("%s documents %v, want %s", route, op.Scopes, scopes)
			}
		}
	}
	if slices.Sort(documented); !slices.Equal(documented, want) {
		t.Errorf("documented are %v, want %v", documented, want)
	}
}
