package modules_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/modules/auth"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

// factors implements the interfaces of modules for second factors.
type factors struct{ user.SecondFactor }

func (factors) Challenge(context.Context, user.User, []access.Method) error { return nil }

// TestOnce registers modules where there can be only one: a second one must not replace the first.
func TestOnce(t *testing.T) {
	t.Parallel()
	d := testkit.Deps(t, testdb.Open(t), time.Now)
	users := user.New(d, user.Settings{})
	sessions := auth.New(d, auth.Settings{Secret: testkit.Secret}, users)
	for name, register := range map[string]func(){
		"user: SetSessions":     func() { users.SetSessions(sessions) },
		"user: SetSecondFactor": func() { users.SetSecondFactor(factors{}) },
		"user: VerifyWith":      func() { users.VerifyWith(struct{ user.Addresses }{}) },
		"auth: SetSecondFactor": func() { sessions.SetSecondFactor(factors{}) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, name) {
					t.Errorf("%s: the second call panics with %s", name, got)
				}
			}()
			register() // SetSessions panics here, because auth.New has called it
			register()
		}()
	}
}
