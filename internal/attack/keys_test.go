package attack_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/docs"
	"example.com/ginseng/testkit"
)

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
			Scope    string `json:"x-scope"`
			Security []map[string][]string
		}
	}
	if err := json.Unmarshal(docs.OpenAPI, &doc); err != nil {
		t.Fatal(err)
	}
	var want, documented []string
	for _, row := range matrix {
		// Routes that do not read the Authorization header also accept a deleted user.
		if statuses := strings.Fields(row.statuses); statuses[adminKey][0] == '2' && statuses[deleted] == "401" {
			want = append(want, row.route)
		}
	}
	for path, operations := range doc.Paths {
		for method, op := range operations {
			takesKey := slices.ContainsFunc(op.Security, func(s map[string][]string) bool { return s["APIKey"] != nil })
			if !takesKey && op.Scope == "" {
				continue
			}
			documented = append(documented, strings.ToUpper(method)+" "+strings.NewReplacer("{", ":", "}", "").Replace(path))
			scopes := ""
			switch {
			case strings.HasPrefix(path, "/jobs"), strings.HasPrefix(path, "/emails"), strings.HasPrefix(path, "/users/{id}/"):
				scopes = "admin"
			case strings.Contains(path, "articles"):
				scopes = map[bool]string{true: "articles:read", false: "articles:write"}[method == "get"]
			}
			if op.Scope != scopes {
				t.Errorf("%s %s documents %q, want %q", method, path, op.Scope, scopes)
			}
		}
	}
	slices.Sort(want)
	if slices.Sort(documented); !slices.Equal(documented, want) {
		t.Errorf("documented are %v, want %v", documented, want)
	}
}
