package user_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/kit/email/emailtest"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/testkit"
)

// byDefault removes the setting that turns security notices off in tests.
func byDefault(c *testkit.Config) { delete(c.Env, "SECURITY_NOTICES") }

// changePassword changes a password to the same password.
func changePassword(t *testing.T, api *testkit.API, email string) {
	t.Helper()
	form := url.Values{"password": {testkit.Password}}
	api.Do(request{Method: "PUT", Path: "/users/me/password", Email: email, Password: testkit.Password, Form: form}).JSON(200)
}

// TestNotices checks which changes of an account send its user an email, and to which address.
func TestNotices(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, byDefault)
	ada, admin := api.SignUp("user"), api.SignUp("admin")
	change := func(as testkit.Account, name, value string) {
		t.Helper()
		api.Do(request{Method: "PATCH", Path: "/users/" + ada.ID, As: as.Token, Form: url.Values{name: {value}}}).JSON(200)
	}
	change(ada, "name", "Ada") // no email
	change(admin, "email", strings.ToUpper(ada.Email))
	changePassword(t, api, ada.Email)
	message := api.Email.Next(t)
	if message.To != ada.Email || !strings.Contains(message.Text, "The password of your account was changed.") || !strings.Contains(message.Text, "Hello Ada,") ||
		!strings.Contains(message.HTML, "The password of your account was changed.") {
		t.Errorf("%+v", message)
	}
	if strings.Contains(message.Text, "http") || strings.Contains(message.HTML, "href") || strings.Contains(message.HTML, "{") {
		t.Errorf("a link or a placeholder in %s", message.HTML)
	}
	change(admin, "email", "new@example.com")
	if message := api.Email.Next(t); message.To != ada.Email || !strings.Contains(message.Text, "An administrator changed the email address") || strings.Contains(message.Text, "new@") {
		t.Errorf("the notice of the new address: %+v", message)
	}
	api.Finish()
	api.Email.None(t)
}

// TestNewAdmin checks who gets an email about a new admin: the other admins, and the new one, at a former address too. The first
// admin causes no email, and neither does a change that makes nobody an admin.
func TestNewAdmin(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, byDefault)
	root, second, ada := api.SignUp("admin"), api.SignUp("admin"), api.SignUp("user")
	received := func(want ...string) { // recipients and accounts, in any order
		t.Helper()
		var got []string
		for range want {
			message := api.Email.Next(t)
			for strings.Contains(message.Text, "changed the email address") {
				message = api.Email.Next(t)
			}
			account := regexp.MustCompile(`[\w.]+@[\w.]+`).FindString(message.Text)
			got = append(got, message.To+" "+account)
			if !strings.HasPrefix(message.Subject, "A new admin") {
				t.Errorf("%+v", message)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("emails %q, want %q", got, want)
		}
	}
	received(root.Email+" "+second.Email, second.Email+" "+second.Email)
	change := func(form url.Values) {
		t.Helper()
		api.Do(request{Method: "PATCH", Path: "/users/" + ada.ID, As: root.Token, Form: form}).JSON(200)
	}
	change(url.Values{"role": {"user"}})
	change(url.Values{"role": {"admin"}})
	received(root.Email+" "+ada.Email, second.Email+" "+ada.Email, ada.Email+" "+ada.Email)
	change(url.Values{"role": {"admin"}})
	change(url.Values{"role": {"user"}, "email": {"former@example.com"}})
	change(url.Values{"role": {"admin"}, "email": {"new@example.com"}})
	received(root.Email+" new@example.com", second.Email+" new@example.com", "former@example.com former@example.com", "new@example.com new@example.com")
}

// TestGreeting checks which names are used in emails. Somebody else may have chosen the name.
func TestGreeting(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "", "Ada": " Ada", "Ada M. King-Noel": " Ada M. King-Noel", "Maria de la Cruz": " Maria de la Cruz", strings.Repeat("ä", 40): " " + strings.Repeat("ä", 40),
		strings.Repeat("a", 41): "", "Your account ends today call us": "", "see evil.example": "", "call 0800": "",
	} {
		if got := (user.User{Name: name}).Greeting(); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestNoticesAreLimited makes more changes in an hour than the limit of notices for an address. The changes succeed.
func TestNoticesAreLimited(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, byDefault)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	for range 12 {
		changePassword(t, api, eve.Email)
	}
	for range 10 {
		if message := api.Email.Next(t); message.To != eve.Email {
			t.Errorf("%+v", message)
		}
	}
	changePassword(t, api, ada.Email)
	if message := api.Email.Next(t); message.To != ada.Email { // another address has its own limit
		t.Errorf("%+v", message)
	}
	eve.Session = api.SignIn(eve.Email, testkit.Password)
	api.Do(request{Method: "DELETE", Path: "/users/me", As: eve.Token})
	api.Do(request{Method: "POST", Path: "/users", As: testkit.MasterKey, Form: url.Values{"email": {strings.ToUpper(eve.Email)}, "password": {testkit.Password}}}).JSON(201)
	changePassword(t, api, eve.Email) // another account, the same address
	api.Finish()
	api.Email.None(t)
	full := api.Instance(byDefault, func(c *testkit.Config) { c.DB = emailtest.Full(c.DB) })
	changePassword(t, full, ada.Email) // the change succeeds without a notice
	full.Finish()
	api.Email.None(t)
	if lines := strings.Join(api.Log.Lines(), ""); !strings.Contains(lines, "security notice not sent") {
		t.Error("a notice that was not sent is not logged")
	}
}
