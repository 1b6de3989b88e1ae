package middleware

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
)

// TestDeprecated holds every kind of answer of a deprecated route to the headers, and those of its neighbour to none.
func TestDeprecated(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 2*60*60) // the headers are in UTC
	d := Deprecation{
		Since:  time.Date(2026, 3, 1, 2, 0, 0, 0, zone),
		Sunset: time.Date(2027, 3, 1, 1, 59, 59, 0, zone),
		Guide:  "https://example.com/news#drafts",
	}
	s := newStack(t, io.Discard, func(r *Router) {
		old := r.Deprecated(d)
		old.GET("/drafts", access.User, who)
		old.POST("/drafts", access.Public, who)
		old.PUT("/drafts", access.Public, func(*gin.Context) error { return errors.New("no") })
		old.DELETE("/drafts", access.Public, func(*gin.Context) error { panic("no") })
		r.PATCH("/drafts", access.Public, who)
		r.Deprecated(Deprecation{Since: d.Since}).GET("/plain", access.Public, who)
	}, func(o *Options) { o.Root, o.CORSOrigins = "/api", []string{"*"} })
	links := []string{`<https://example.com/news#drafts>; rel="deprecation"; type="text/html"`, `<https://example.com/news#drafts>; rel="sunset"; type="text/html"`}
	for _, test := range []struct {
		name, method, path, body, token string
		status                          int
		deprecation, sunset             string
		links                           []string
	}{
		{"answer", "GET", "/drafts", "", userToken, 200, "@1772323200", "Sun, 28 Feb 2027 23:59:59 GMT", links},
		{"HEAD", "HEAD", "/drafts", "", userToken, 200, "@1772323200", "Sun, 28 Feb 2027 23:59:59 GMT", links},
		{"no credential", "GET", "/drafts", "", "", 401, "@1772323200", "Sun, 28 Feb 2027 23:59:59 GMT", links},
		{"malformed body", "POST", "/drafts", "{", "", 400, "@1772323200", "Sun, 28 Feb 2027 23:59:59 GMT", links},
		{"error", "PUT", "/drafts", "", "", 500, "@1772323200", "Sun, 28 Feb 2027 23:59:59 GMT", links},
		{"panic", "DELETE", "/drafts", "", "", 500, "@1772323200", "Sun, 28 Feb 2027 23:59:59 GMT", links},
		{"another method", "PATCH", "/drafts", "", "", 200, "", "", nil},
		{"another path", "GET", "/drafts/1", "", "", 404, "", "", nil},
		{"no end, no page", "GET", "/plain", "", "", 200, "@1772323200", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			headers := []string{"Origin", "https://app.example.com"}
			if test.token != "" {
				headers = append(headers, "Authorization", "Bearer "+test.token)
			}
			w := do(s, test.method, "/api"+test.path, "application/json", test.body, headers...)
			h := w.Header()
			if w.Code != test.status || h.Get("Deprecation") != test.deprecation || h.Get("Sunset") != test.sunset || !slices.Equal(h.Values("Link"), test.links) {
				t.Errorf("%d, Deprecation %q, Sunset %q, Link %q", w.Code, h.Get("Deprecation"), h.Get("Sunset"), h.Values("Link"))
			}
			for _, name := range []string{"Deprecation", "Sunset", "Link"} {
				if !exposes(h.Get("Access-Control-Expose-Headers"), name) {
					t.Errorf("pages cannot read %s: %s", name, h.Get("Access-Control-Expose-Headers"))
				}
			}
		})
	}
}

func TestDeprecatedAfterItsEnd(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("routes that go before they are deprecated are mounted")
		}
	}()
	now := time.Now()
	newStack(t, io.Discard, func(r *Router) { r.Deprecated(Deprecation{Since: now, Sunset: now.Add(-time.Second)}) })
}

func exposes(list, name string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(item string) bool { return strings.EqualFold(strings.TrimSpace(item), name) })
}
