package user_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/password"
	"example.com/ginseng/kit/settings"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/server"
	"example.com/ginseng/testkit/testdb"
)

// TestPublicSignIn has PUBLIC_SIGNIN, its default, and OpenSignIn, which logs a line only if it changes something.
func TestPublicSignIn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		signUp              bool
		signIn              string
		before, after, logs bool // PublicSignIn before and after OpenSignIn
	}{
		{false, "", false, true, true},
		{true, "", true, true, false},
		{true, "false", false, false, false},
		{false, "false", false, false, false},
		{false, "true", true, true, false},
	} {
		var log bytes.Buffer
		deps := server.NewDeps(server.DepsOptions{
			DB: testdb.Open(t), MasterKeys: []string{"k"}, Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil)), Hasher: password.NewWeakHasher(),
		})
		m := user.New(deps, user.Settings{PublicSignup: test.signUp, PublicSignin: test.signIn})
		before := m.PublicSignIn()
		m.OpenSignIn("ADMIN=true")
		logged := strings.Count(log.String(), `reason="ADMIN=true"`) == 1
		if before != test.before || m.PublicSignIn() != test.after || m.PublicSignUp() != test.signUp || logged != test.logs {
			t.Errorf("%+v: %t, then %t, log %s", test, before, m.PublicSignIn(), log.String())
		}
	}
	if err := settings.Validate(&user.Settings{SignupEmail: "optional", PublicSignin: "yes"}); err == nil {
		t.Error("PUBLIC_SIGNIN=yes is accepted")
	}
}
