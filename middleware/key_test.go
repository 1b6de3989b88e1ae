package middleware

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

// anyKey accepts KeyPrefix followed by scopes that are separated by commas.
type anyKey struct{}

func (anyKey) VerifyKey(_ context.Context, _ access.Client, key string) (access.Principal, error) {
	scopes := strings.Split(strings.TrimPrefix(key, access.KeyPrefix), ",")
	return access.Principal{UserID: store.NewID(), Role: access.RoleUser, Key: &access.Key{ID: store.NewID(), Scopes: scopes}}, nil
}

// mounted returns a handler with routes that have only the middleware of the Authenticator.
func mounted(a Authenticator, add func(*route.Router)) *gin.Engine {
	engine, table := gin.New(), route.Table{}
	add(table.Router())
	for _, r := range table.Routes() {
		engine.Handle(r.Method, r.Path, a.Handler(r), rest.Handle(r.Handler))
	}
	return engine
}

// TestAPIKeys sends API keys to routes with every kind of authentication, some of them routes of a resource.
func TestAPIKeys(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	engine := mounted(Authenticator{APIKeys: anyKey{}, Keys: access.NewKeys([]string{"master"})}, func(r *route.Router) {
		notes := r.Resource(listing.Spec{Name: "notes"})
		notes.GET("/notes", route.Public, rest.NoContent)
		notes.POST("/notes", route.User, rest.NoContent)
		notes.DELETE("/notes", route.Admin, rest.NoContent)
		r.GET("/marked", route.User, rest.NoContent, route.AllowAPIKey)
		r.GET("/marked-admin", route.Admin, rest.NoContent, route.AllowAdminKey)
		for path, caller := range map[string]route.Caller{
			"/public": route.Public, "/sign-in": route.SignIn, "/provider": route.Provider, "/user": route.User, "/admin": route.Admin, "/master": route.Master,
			"/step-up": route.StepUp, "/step-up-admin": route.StepUpAdmin, "/step-up-others/:id": route.StepUpOthers,
		} {
			r.GET(path, caller, rest.NoContent)
		}
	})
	for _, test := range []struct {
		route, scopes string
		status        int
		code          string
	}{
		{"GET /notes", "notes:read", 204, ""},
		{"GET /notes", "*:read", 204, ""},
		{"GET /notes", "notes:write", 403, "scope notes:read"},
		{"GET /notes", "admin", 403, "insufficient_scope"},
		{"GET /notes", "others:read", 403, "insufficient_scope"},
		{"POST /notes", "*:write", 204, ""},
		{"POST /notes", "notes:read,others:write", 403, "scope notes:write"},
		{"POST /notes", "", 403, "insufficient_scope"},
		{"DELETE /notes", "notes:write,admin", 403, `"forbidden"`}, // the role decides
		{"GET /marked", "", 204, ""},
		{"GET /marked-admin", "*:read,*:write", 403, "scope admin"},
		{"GET /marked-admin", "admin", 403, `"forbidden"`}, // the role decides
		{"GET /public", "*:read,admin", 403, `"forbidden"`},
		{"GET /sign-in", "*:read,admin", 403, `"forbidden"`},
		{"GET /provider", "*:read,admin", 403, `"forbidden"`},
		{"GET /user", "*:read,admin", 403, `"forbidden"`},
		{"GET /admin", "*:read,admin", 403, `"forbidden"`},
		{"GET /master", "*:read,admin", 403, `"forbidden"`},
		{"GET /step-up", "*:read,admin", 403, `"forbidden"`},
		{"GET /step-up-admin", "*:read,admin", 403, `"forbidden"`},
		{"GET /step-up-others/me", "*:read,admin", 403, `"forbidden"`},
	} {
		method, path, _ := strings.Cut(test.route, " ")
		r := httptest.NewRequest(method, path, http.NoBody)
		r.Header.Set("Authorization", "Bearer "+access.KeyPrefix+test.scopes)
		w := httptest.NewRecorder()
		engine.ServeHTTP(w, r)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.code) {
			t.Errorf("%s with %q: %d %s, want %d %s", test.route, test.scopes, w.Code, w.Body, test.status, test.code)
		}
	}
}

// TestWriteOnlyKey sends keys with and without the scope to read to routes that respond with a record in every way.
func TestWriteOnlyKey(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	record := store.NewMeta(store.NewID(), store.Time{})
	view := struct {
		ID    store.ID `json:"id"`
		Title string   `json:"title"`
	}{record.ID, "secret"}
	for path, respond := range map[string]func(*gin.Context) error{
		"/record":       func(g *gin.Context) error { return rest.Record(g, record, view) },
		"/created":      func(g *gin.Context) error { return rest.Created(g, record, view) },
		"/view":         func(g *gin.Context) error { return rest.View(g, view) },
		"/created-view": func(g *gin.Context) error { return rest.CreatedView(g, record.ID, view) },
		"/ok":           func(g *gin.Context) error { return rest.OK(g, view) },
		"/accepted":     func(g *gin.Context) error { return rest.Accepted(g, view) },
		"/secret":       func(g *gin.Context) error { return rest.CreatedSecret(g, view) },
		"/list":         func(g *gin.Context) error { return rest.OK(g, []any{view}) },
	} {
		engine := mounted(Authenticator{APIKeys: anyKey{}}, func(r *route.Router) {
			r.Resource(listing.Spec{Name: "notes"}).POST("/notes"+path, route.User, respond)
		})
		for scopes, title := range map[string]bool{"notes:write": false, "*:write,others:read": false, "notes:write,notes:read": true, "*:read,*:write": true} {
			r := httptest.NewRequest("POST", "/notes"+path, http.NoBody)
			r.Header.Set("Authorization", "Bearer "+access.KeyPrefix+scopes)
			w := httptest.NewRecorder()
			engine.ServeHTTP(w, r)
			want := fmt.Sprintf("{\"id\":%q}\n", record.ID.Hex())
			if path == "/list" {
				want = "{}\n"
			}
			if body := w.Body.String(); strings.Contains(body, "secret") != title || !title && body != want {
				t.Errorf("%s with %s: %d %s", path, scopes, w.Code, body)
			}
		}
	}
}
