package service_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// failingSender is a Sender with an error.
type failingSender struct{ err atomic.Pointer[email.Error] }

func (s *failingSender) Send(context.Context, email.Message) error { return s.err.Load() }

// TestListEmails lists emails that were not sent, for an admin.
func TestListEmails(t *testing.T) {
	t.Parallel()
	sender := new(failingSender)
	sender.err.Store(&email.Error{Err: errors.New("the email server responded 451")})
	api := apitest.Start(t, func(c *testkit.Config) { c.Sender = sender }, testkit.Env("SECURITY_NOTICES", "true"))
	ada, admin := api.SignUp("user"), api.SignUp("admin")
	accepted := func(r testkit.Request, status int) {
		t.Helper()
		api.Do(r).Want(status)
	}
	list := func(query string) []any {
		t.Helper()
		response := api.Do(testkit.Request{Method: "GET", Path: "/emails" + query, As: admin.Token})
		if strings.Contains(string(response.Body), "@") || strings.Contains(string(response.Body), testkit.LinkOrigin) {
			t.Errorf("an address or a link in %s", response.Body)
		}
		return response.JSON(200)["rows"].([]any)
	}
	if rows := list(""); len(rows) != 0 {
		t.Errorf("%v", rows)
	}
	reset := url.Values{"email": {ada.Email}, "link": {testkit.LinkOrigin + "/{token}"}, "access_token": {testkit.MasterKey}}
	accepted(testkit.Request{Method: "POST", Path: "/password-resets", Form: reset}, 202)
	wait := func() {
		t.Helper()
		if err := api.Handler.Emails.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wait()
	api.Clock.Advance(time.Millisecond) // so that they differ in createdAt
	sender.err.Store(&email.Error{Permanent: true, Err: errors.New("the email server responded 550")})
	accepted(testkit.Request{Method: "DELETE", Path: "/users/" + ada.ID + "/sessions", As: ada.Token}, 204)
	wait()
	for query, want := range map[string]string{
		"":                                "security-notice password-reset",
		"?status=pending":                 "password-reset",
		"?status=failed":                  "security-notice",
		"?status[ne]=failed":              "password-reset",
		"?status[in]=failed,pending":      "security-notice password-reset",
		"?limit=1":                        "security-notice",
		"?sort=createdAt":                 "password-reset security-notice",
		"?status=failed&fields=id,kind":   "security-notice",
		"?status=pending&sort=-createdAt": "password-reset",
	} {
		var kinds []string
		for _, row := range list(query) {
			kinds = append(kinds, row.(map[string]any)["kind"].(string))
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%q: %s", query, got)
		}
	}
	pending, failed := list("?status=pending")[0].(map[string]any), list("?status=failed")[0].(map[string]any)
	if pending["userId"] != nil || pending["attempts"] != 1.0 || pending["error"] != "email: the email server responded 451" || pending["nextAttemptAt"] == nil {
		t.Errorf("%v", pending)
	}
	if failed["userId"] != ada.ID || failed["attempts"] != 1.0 || failed["error"] != "email: the email server responded 550" || failed["nextAttemptAt"] != nil {
		t.Errorf("%v", failed)
	}
	retry := testkit.Request{Method: "POST", Path: "/emails/" + failed["id"].(string) + "/retry", As: admin.Token}
	if due := api.Do(retry).JSON(202); due["status"] != "pending" || due["nextAttemptAt"] == nil {
		t.Errorf("%v", due)
	}
	wait()
	if again := list("?status=failed")[0].(map[string]any); again["id"] != failed["id"] || again["attempts"] != 2.0 {
		t.Errorf("%v", again)
	}
	remove := testkit.Request{Method: "DELETE", Path: "/emails/" + failed["id"].(string), As: admin.Token}
	accepted(remove, 204)
	accepted(remove, 404)
	accepted(retry, 404)
	api.Clock.Advance(24 * time.Hour)
	api.RunJobs()
	wait()
	admin.Session = api.SignIn(admin.Email, testkit.Password)
	if rows := list("?status=failed"); len(rows) != 1 || rows[0].(map[string]any)["kind"] != "password-reset" {
		t.Errorf("after a day: %v", rows)
	}
}
