package modules_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/docs"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/testkit"
	"example.com/ginseng/middleware"
)

// routesOf is a module made of a function.
type routesOf func(*middleware.Router)

func (f routesOf) Routes(r *middleware.Router) { f(r) }

// TestDeprecatedRoutesAreDocumented holds @Deprecated in the annotations and the header Deprecation together, both ways: for
// every route that there is, and for some that do as they should not.
func TestDeprecatedRoutesAreDocumented(t *testing.T) {
	t.Parallel()
	api := testkit.Start(t)
	if wrong := undeclared(t, api, docs.Swagger); wrong != nil {
		t.Error(wrong)
	}
	api = testkit.Start(t, func(c *testkit.Config) {
		c.Middleware.Modules = []middleware.Module{routesOf(func(r *middleware.Router) {
			old := r.Deprecated(middleware.Deprecation{Since: time.Now()})
			ok := func(c *gin.Context) error { return middleware.OK(c, "ok") }
			old.GET("/deprecated/both/:id", access.Master, ok)
			old.GET("/deprecated/header", access.Master, ok)
			r.GET("/deprecated/annotation", access.Master, ok)
		})}
	})
	doc := `{"paths":{"/deprecated/both/{id}":{"get":{"deprecated":true}},"/deprecated/header":{"get":{}},"/deprecated/annotation":{"get":{"deprecated":true}}}}`
	want := []string{
		"GET /deprecated/annotation: @Deprecated is true, and the header is not there",
		"GET /deprecated/header: @Deprecated is false, and the header is there",
	}
	if wrong := undeclared(t, api, []byte(doc)); !slices.Equal(wrong, want) {
		t.Errorf("%q, want %q", wrong, want)
	}
}

var routeParam = regexp.MustCompile(`[:*](\w+)`)

// undeclared are the routes whose answers and whose documentation disagree on whether they are deprecated. It asks without a
// credential: a refusal must say it too.
func undeclared(t *testing.T, api *testkit.API, swagger []byte) (wrong []string) {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct{ Deprecated bool }
	}
	if err := json.Unmarshal(swagger, &doc); err != nil {
		t.Fatal(err)
	}
	for _, route := range slices.Sorted(slices.Values(api.Handler.Routes())) {
		method, path, _ := strings.Cut(route, " ")
		documented := doc.Paths[routeParam.ReplaceAllString(path, "{$1}")][strings.ToLower(method)].Deprecated
		answer := api.Do(testkit.Request{Method: method, Path: routeParam.ReplaceAllString(path, "x")})
		switch told := answer.Header.Get("Deprecation") != ""; {
		case documented && !told:
			wrong = append(wrong, route+": @Deprecated is true, and the header is not there")
		case told && !documented:
			wrong = append(wrong, route+": @Deprecated is false, and the header is there")
		}
	}
	return wrong
}
