package twofactor_test

import (
	"strings"
	"testing"

	"example.com/ginseng/modules/apitest"
	twofactor "example.com/ginseng/modules/two-factor"
	"example.com/ginseng/testkit"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	for roles, want := range map[string]string{
		"": "", "admin": "", "user,admin": "", "root": "REQUIRE_TWO_FACTOR must list roles, each one of user, admin", "admin,": "REQUIRE_TWO_FACTOR must list roles",
	} {
		got, s := "", twofactor.Settings{}
		if roles != "" {
			s.Require = strings.Split(roles, ",")
		}
		s.Check(func(name, reason string) { got += name + " " + reason })
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", roles, got, want)
		}
	}
}

// TestRequiredOfRole requires a second factor from users with a role, but not from admins.
func TestRequiredOfRole(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("REQUIRE_TWO_FACTOR", "user"))
	change := func(a testkit.Account) testkit.Response {
		return api.Do(request{Method: "PATCH", Path: "/users/me", As: a.Token, JSON: `{"name":"x"}`})
	}
	change(api.SignUp("user")).Want(403, "two_factor_required")
	change(api.SignUp("admin")).Want(200)
}
