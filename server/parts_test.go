package server

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/migrate"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/telemetry"
	"example.com/ginseng/testkit/testdb"
)

// composed is a module with parts.
type composed struct {
	routes
	parts kit.Parts
}

func (c composed) Parts() kit.Parts { return c.parts }

// verifier verifies every credential except user tokens, and makes admins.
type verifier struct{}

func (verifier) VerifyKey(context.Context, access.Client, string) (access.Principal, error) {
	return access.Principal{UserID: userID, Role: access.RoleUser, Key: &access.Key{Scopes: []string{"*:read"}}}, nil
}

func (verifier) VerifyPassword(context.Context, access.Client, string, string) (access.Principal, ratelimit.States, error) {
	return access.Principal{UserID: userID, Role: access.RoleUser, AuthTime: time.Now()}, nil, nil
}

func (verifier) VerifySecondFactor(context.Context, store.ID, access.Client, access.Proof) (ratelimit.States, error) {
	return nil, access.InvalidToken()
}

func (verifier) HasAdmin(context.Context) (bool, error) { return false, nil }

func (verifier) MakeAdmin(context.Context, string, func() (string, error)) (kit.MadeAdmin, error) {
	return kit.MadeAdmin{}, nil
}

// TestParts checks that the server uses each of the kit.Parts of a module.
func TestParts(t *testing.T) {
	t.Parallel()
	observer, err := telemetry.New(t.Context(), telemetry.Options{Metrics: true})
	if err != nil {
		t.Fatal(err)
	}
	db := testdb.Open(t)
	status := func(h *Handler, path, authorization string, want int) bool {
		w := do(h, "GET", path, "", "", "Authorization", authorization)
		return w.Code == want
	}
	const basic = "Basic YWRhQGV4YW1wbGUuY29tOmE=" // ada@example.com:a
	calls := 0
	count := func(context.Context) { calls++ }
	for name, test := range map[string]struct {
		parts kit.Parts
		used  func(*Handler) bool
	}{
		"Jobs": {kit.Parts{Jobs: []job.Job{{Name: "count", Interval: time.Hour, Run: func(ctx context.Context) error { count(ctx); return nil }}}}, func(h *Handler) bool {
			if err := db.Prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			_ = h.Jobs.RunDue(t.Context()) // the jobs of the server fail without a limiter
			return calls == 1
		}},
		"Workers": {kit.Parts{Workers: []func(context.Context){count}}, func(h *Handler) bool {
			for _, work := range h.Workers {
				work(t.Context())
			}
			return calls == 1
		}},
		"Closers": {kit.Parts{Closers: []func(context.Context){count}}, func(h *Handler) bool {
			for _, closer := range h.Closers[:2] {
				closer(t.Context())
			}
			return calls == 1 && len(h.Closers) == 3 // the first two: of the files, and this one; the last: the queue of emails
		}},
		"Migrations": {kit.Parts{Migrations: []migrate.Migration{{Name: "thing-1"}}}, func(h *Handler) bool {
			return len(h.Migrations.All()) == 1
		}},
		"EmailPreviews": {kit.Parts{EmailPreviews: func() []email.Preview { return []email.Preview{{Name: "hello", Message: &email.Message{}}} }}, func(h *Handler) bool {
			return status(h, "/dev/emails/hello.txt", "", 200)
		}},
		"Metrics": {kit.Parts{Metrics: []kit.Metered{telemetry.NewCounter("things_total", "Things.", "result", "ok")}}, func(*Handler) bool {
			w := httptest.NewRecorder()
			observer.Metrics(slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			return strings.Contains(w.Body.String(), `things_total{result="ok"} 0`)
		}},
		"Tokens":    {kit.Parts{Tokens: verified{}}, func(h *Handler) bool { return status(h, "/things", "Bearer "+userToken, 204) }},
		"APIKeys":   {kit.Parts{APIKeys: verifier{}}, func(h *Handler) bool { return status(h, "/things", "Bearer "+access.KeyPrefix+"a", 204) }},
		"Passwords": {kit.Parts{Passwords: verifier{}}, func(h *Handler) bool { return status(h, "/step-up", basic, 204) }},
		"SecondFactors": {kit.Parts{Passwords: verifier{}, SecondFactors: verifier{}}, func(h *Handler) bool {
			return status(h, "/step-up", basic, 401)
		}},
		"Admins": {kit.Parts{Admins: verifier{}}, func(h *Handler) bool { return h.admins == verifier{} }},
	} {
		calls = 0
		routes := func(r *route.Router) {
			r.GET("/things", route.User, rest.NoContent, route.AllowAPIKey)
			r.GET("/step-up", route.StepUp, rest.NoContent)
		}
		h := newHandler(t, io.Discard, nil, func(o *HandlerOptions) {
			o.Deps.Development, o.Modules = true, []kit.Module{composed{routes, test.parts}}
			switch name {
			case "Jobs":
				o.Deps.DB = db
			case "Metrics":
				o.Observer = observer
			}
		})
		if !test.used(h) {
			t.Errorf("the server does not use the part %s", name)
		}
	}
}
