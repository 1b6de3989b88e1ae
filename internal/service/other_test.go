package service_test

import (
	"errors"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

// TestOtherResponses checks responses outside of the routes of modules.
func TestOtherResponses(t *testing.T) {
	testdb.SQLiteOnly(t)
	t.Parallel()
	api := apitest.Start(t, func(c *testkit.Config) {
		c.Env["API_ROOT"] = "/api"
		c.Modules = append(c.Modules, broken{})
	})
	api.Run(t, []testkit.Scenario{
		{Name: "unknown route", Request: testkit.Request{Method: "GET", Path: "/articles"}, Status: 404, Want: []string{"not_found"}},
		{Name: "below the root", Request: testkit.Request{Method: "GET", Path: "/api/articles"}, Status: 200, Want: []string{`"rows":[]`}},
		{Name: "wrong method", Request: testkit.Request{Method: "DELETE", Path: "/api/articles"}, Status: 405, Want: []string{"method_not_allowed"}},
		{Name: "panic", Request: testkit.Request{Method: "GET", Path: "/api/panic"}, Status: 500, Want: []string{"internal"}, WantNot: []string{"oh no"}},
		{Name: "ready", Request: testkit.Request{Method: "GET", Path: "/readyz"}, Status: 200},
		{Name: "alive", Request: testkit.Request{Method: "GET", Path: "/livez"}, Status: 200},
		{Name: "document", Request: testkit.Request{Method: "GET", Path: "/docs/doc.json"}, Status: 200, Want: []string{`"basePath":"/api/"`}},
	})
	if err := api.DB.Close(); err != nil {
		t.Fatal(err)
	}
	api.Run(t, []testkit.Scenario{
		{Name: "database closed", Request: testkit.Request{Method: "GET", Path: "/api/articles"}, Status: 503, Want: []string{"unavailable"}, WantNot: []string{"sql", "mongo", "closed"}},
		{Name: "not ready", Request: testkit.Request{Method: "GET", Path: "/readyz"}, Status: 503},
		{Name: "still alive", Request: testkit.Request{Method: "GET", Path: "/livez"}, Status: 200},
	})
}

type broken struct{}

func (broken) Routes(r gin.IRouter, _ kit.Middleware) {
	r.GET("/panic", func(*gin.Context) { panic(errors.New("oh no")) })
}
