package attack_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// intruder has an admin's session that was opened more than 10 minutes ago, from a stolen token. The refreshed token belongs to the
// same session.
type intruder struct{ stolen, refreshed string }

const intruderMailbox = "intruder@one.example"

// intrusions are the requests with which an admin could take the account of the user {id} over, or end it.
var intrusions = map[string]struct{ method, path, body string }{
	"change":                   {"PATCH", "/users/{id}", `{"email":"` + intruderMailbox + `"}`},
	"promote":                  {"PATCH", "/users/{id}", `{"role":"admin"}`},
	"suspend":                  {"PATCH", "/users/{id}", `{"suspended":true}`},
	"end the sessions":         {"DELETE", "/users/{id}/sessions", ""},
	"remove the second factor": {"DELETE", "/users/{id}/two-factor", ""},
	"remove a passkey":         {"DELETE", "/users/{id}/passkeys/65f0c1d2e3a4b5c6d7e8f901", ""},
	"remove a key":             {"DELETE", "/users/{id}/api-keys/65f0c1d2e3a4b5c6d7e8f901", ""},
	"delete":                   {"DELETE", "/users/{id}", ""},
	"create a webhook":         {"POST", "/webhooks", `{"url":"https://example.com/","events":["*"]}`},
}

// intrude returns the response to an intrusion. Unlike the other people, the intruder sends requests: the routes require the
// recent sign-in.
func (s *scene) intrude(token, name string) *httptest.ResponseRecorder {
	i := intrusions[name]
	r := httptest.NewRequest(i.method, strings.Replace(i.path, "{id}", s.id.Hex(), 1), strings.NewReader(i.body))
	r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// intrudes makes an intrusion, and reports whether it succeeded.
func (s *scene) intrudes(name string) bool {
	return s.intrude(s.intruder.stolen, name).Code < 300 || s.intrude(s.intruder.refreshed, name).Code < 300
}

// breachOf tries all intrusions. It returns one that was not rejected for the reason that the sign-in is too old, or "".
func (s *scene) breachOf() string {
	for name := range intrusions {
		for _, token := range []string{s.intruder.stolen, s.intruder.refreshed} {
			w := s.intrude(token, name)
			var problem struct{ Code string }
			_ = json.Unmarshal(w.Body.Bytes(), &problem) // without a body, Code is ""
			if problem.Code != "reauthentication_required" {
				return fmt.Sprintf("intruder: %s: %d %s", name, w.Code, w.Body)
			}
		}
	}
	return ""
}

// stealToken opens a session of an admin for the intruder of a new scene.
func (s *scene) stealToken() error {
	const password = "the admin's"
	if s.admin == "" {
		in := user.CreateInput{Email: store.NewID().Hex() + "@one.example", Password: password}
		in.Role = string(access.RoleAdmin)
		admin, _, err := s.users.Create(s.ctx, access.Client{Trusted: true}, in)
		if err != nil {
			return err
		}
		s.admin = admin.Email
	}
	in, _, err := s.sessions.SignIn(s.ctx, s.client, s.admin, password)
	if err != nil {
		return err
	}
	refreshed, _, err := s.sessions.Refresh(s.ctx, s.client, in.RefreshToken)
	s.intruder = intruder{in.Token, refreshed.Token}
	return err
}
