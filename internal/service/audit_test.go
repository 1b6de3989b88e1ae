package service_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/social"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/authenticator"
)

// TestAudit reads who changed an article, page by page.
func TestAudit(t *testing.T) {
	t.Parallel()
	s := startChanges(t)
	admin := s.SignUp("admin")
	path := s.add(t, map[string]any{"title": "one"})
	id := path[len("/articles/"):]
	s.Do(testkit.Request{Method: "PATCH", Path: path, As: admin.Token, JSON: map[string]any{"title": "two"}, Header: http.Header{"X-Request-Id": {"request-2"}}}).Want(200)
	s.Do(testkit.Request{Method: "DELETE", Path: path, As: s.owner.Token}).Want(204)
	read := func(query string) (rows []any, next string) {
		t.Helper()
		page := s.Do(testkit.Request{Method: "GET", Path: "/changes?" + query, As: admin.Token}).JSON(200)
		next, _ = page["next"].(string)
		return page["rows"].([]any), next
	}
	of := "resource=articles&recordId=" + id
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if rows, _ := read(of); len(rows) == 3 { // on MongoDB, entries are in the log shortly after the change
			break
		}
	}
	var types []any
	for next := "&limit=1"; next != ""; {
		rows, after := read(of + next)
		for _, row := range rows {
			types = append(types, row.(map[string]any)["type"])
		}
		if next = ""; after != "" {
			next = "&limit=1&after=" + after
		}
	}
	if len(types) != 3 || types[0] != "deleted" || types[1] != "updated" || types[2] != "created" {
		t.Fatalf("%v", types)
	}
	rows, _ := read("by=" + admin.ID)
	if len(rows) != 1 {
		t.Fatalf("%v", rows)
	}
	row := rows[0].(map[string]any)
	if fields := row["fields"].([]any); row["requestId"] != "request-2" || row["recordId"] != id || row["key"] != nil || len(fields) != 1 || fields[0] != "title" {
		t.Errorf("%v", row)
	}
	if rows, _ := read("createdAt[lt]=2020-01-01T00:00:00.000Z"); len(rows) != 0 {
		t.Errorf("%v", rows)
	}
	for _, query := range []string{"limit=0", "by=x", "recordId=" + id, "after=x", "createdAt[gte]=x", "sort=by"} {
		s.Do(testkit.Request{Method: "GET", Path: "/changes?" + query, As: admin.Token}).Want(400)
	}
	s.Do(testkit.Request{Method: "GET", Path: "/changes", As: s.owner.Token}).Want(403)
}

// TestAuditOfAdmins checks the entries of what admins do to others and to webhooks. A sign-up, a sign-in, a refresh, and the
// user's own changes of sessions, keys and name have no entries, and users have no feed and no webhook events.
func TestAuditOfAdmins(t *testing.T) {
	t.Parallel()
	s := startChanges(t)
	admin, ada := s.SignUp("admin"), s.SignUp("user")
	do := func(status int, as testkit.Account, method, path string, body map[string]any) testkit.Response {
		t.Helper()
		r := testkit.Request{Method: method, Path: path, As: as.Token}
		if body != nil {
			r.JSON = body
		}
		return s.Do(r).Want(status)
	}
	path := "/users/" + ada.ID
	do(201, ada, "POST", "/auth/refresh", map[string]any{"refresh_token": ada.RefreshToken})
	do(200, ada, "PATCH", path, map[string]any{"name": "Ada"})
	for range 2 {
		key := do(201, ada, "POST", "/users/me/api-keys", map[string]any{"name": "n", "scopes": []string{"*:read"}}).JSON(201)["id"].(string)
		do(204, ada, "DELETE", "/users/me/api-keys/"+key, nil)
		key = do(201, ada, "POST", "/users/me/api-keys", map[string]any{"name": "n", "scopes": []string{"*:read"}}).JSON(201)["id"].(string)
		do(204, admin, "DELETE", path+"/api-keys/"+key, nil)
	}
	authenticator := authenticator.Authenticator{Origin: testkit.LinkOrigin}
	options := do(200, ada, "POST", "/users/me/passkeys/options", nil).JSON(200)
	credential, err := authenticator.Create(options["publicKey"])
	if err != nil {
		t.Fatal(err)
	}
	passkey := do(201, ada, "POST", "/users/me/passkeys", map[string]any{"challenge": options["challenge"], "credential": credential}).JSON(201)["id"].(string)
	do(204, admin, "DELETE", path+"/passkeys/"+passkey, nil)
	secret := do(201, ada, "POST", "/users/me/two-factor", nil).JSON(201)["secret"].(string)
	code, _ := totp.GenerateCode(secret, s.Clock.Now()) // the secret is valid
	do(200, ada, "PUT", "/users/me/two-factor", map[string]any{"code": code})
	do(204, admin, "DELETE", path+"/two-factor", nil)
	do(204, ada, "DELETE", "/users/me/sessions", nil)
	s.SignIn(ada.Email, testkit.Password)
	sessions := do(200, admin, "GET", path+"/sessions", nil).JSON(200)["rows"].([]any)
	do(204, admin, "DELETE", path+"/sessions/"+sessions[0].(map[string]any)["id"].(string), nil)
	do(204, admin, "DELETE", path+"/sessions", nil)
	id, _ := store.ParseID(ada.ID)
	testkit.Insert(s.API, "identities", social.Identity{Meta: store.NewMeta(store.NewID(), store.At(s.Clock.Now())), Provider: "github", Subject: "1", UserID: id})
	do(204, admin, "DELETE", path+"/identities/github", nil)
	do(200, admin, "PATCH", path, map[string]any{"role": "admin", "name": "N"})
	do(200, admin, "PATCH", path, map[string]any{"email": "new@example.com", "suspended": true})
	do(204, admin, "DELETE", path, nil)
	hook := do(201, admin, "POST", "/webhooks", map[string]any{"url": "https://example.com/", "events": []string{"*"}}).Header.Get("Location")
	do(200, admin, "PATCH", hook, map[string]any{"url": "https://example.org/", "enabled": true})
	do(201, admin, "POST", hook+"/secret", nil)
	do(204, admin, "DELETE", hook, nil)

	for of, want := range map[string][]string{
		"users&recordId=" + ada.ID: {
			"deleted []", "updated [email suspended]", "updated [role]", "updated [identities]", "updated [sessions]", "updated [sessions]",
			"updated [twoFactor]", "updated [passkeys]", "updated [apiKeys]", "updated [apiKeys]",
		},
		"users&recordId=" + admin.ID:                    {"created []"},
		"webhooks&recordId=" + hook[len("/webhooks/"):]: {"deleted []", "updated [secret]", "updated [url]", "created []"},
	} {
		var rows []any
		for deadline := time.Now().Add(time.Minute); len(rows) < len(want) && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			rows = s.Do(testkit.Request{Method: "GET", Path: "/changes?resource=" + of, As: admin.Token}).JSON(200)["rows"].([]any)
		}
		if len(rows) != len(want) {
			t.Fatalf("%s: %v, want %q", of, rows, want)
		}
		for i, row := range rows {
			row := row.(map[string]any)
			by := any(admin.ID)
			if row["resource"] == "users" && row["type"] == "created" { // with the master key
				by = nil
			}
			if got := fmt.Sprint(row["type"], " ", row["fields"]); got != want[i] || row["by"] != by || row["key"] != nil || row["requestId"] == "" {
				t.Errorf("%s: %v, want %s", of, row, want[i])
			}
		}
	}
	do(404, admin, "GET", "/users/changes", nil)
	do(400, admin, "POST", "/webhooks", map[string]any{"url": "https://example.com/", "events": []string{"user.*"}})
}
