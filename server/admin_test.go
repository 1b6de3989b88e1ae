package server

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

// failingAdmins fails to make admins.
type failingAdmins struct{ err error }

func (f failingAdmins) HasAdmin(context.Context) (bool, error) { return false, f.err }

func (f failingAdmins) MakeAdmin(context.Context, string, func() (string, error)) (kit.MadeAdmin, error) {
	return kit.MadeAdmin{}, f.err
}

// TestAdminFails checks the error that the command admin prints: the message of a rule, and the cause of other errors.
func TestAdminFails(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct {
		err  error
		want string
	}{
		{apperr.Invalid(apperr.Field{Param: "password", Message: "is too common."}), "ginseng: password: is too common.\n"},
		{apperr.New(apperr.Forbidden, "The account is suspended."), "ginseng: The account is suspended.\n"},
		{apperr.New(apperr.Conflict, "The address is reserved."), "ginseng: The address is reserved.\n"},
		{store.Unavailable(errors.New("disk full")), "ginseng: unavailable: The database is unavailable. Try again in a few seconds.: disk full\n"},
	} {
		service := Service[testConfig]{Name: "ginseng", Modules: func(kit.Deps, testConfig) []kit.Module {
			return []kit.Module{composed{func(*route.Router) {}, kit.Parts{Admins: failingAdmins{test.err}}}}
		}}
		var stdout, stderr strings.Builder
		code := newProgram(service).run(t.Context(), []string{"admin", "ada@example.com"}, &stdout, &stderr)
		if code != exitFailure || stderr.String() != test.want {
			t.Errorf("exit code %d: %s%s, want %s", code, &stdout, &stderr, test.want)
		}
	}
}
