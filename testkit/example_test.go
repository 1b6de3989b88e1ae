package testkit_test

import (
	"net/url"
	"testing"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/testkit"
)

// newModules is modules.New of a project.
func newModules(kit.Deps, struct{}) []kit.Module { return nil }

// A test starts the service on a new database, and calls it as a client does. Each response is checked against the OpenAPI
// document. In a project, apitest.Start replaces testkit.Start.
func ExampleStart() {
	var t *testing.T // the parameter of the test
	api := testkit.Start(t, testkit.Service{Modules: testkit.Modules(newModules)})
	ada, eve := api.SignUp("user"), api.SignUp("user")

	article := api.Do(testkit.Request{Method: "POST", Path: "/articles", As: ada.Token, Form: url.Values{"title": {"On ginseng"}}}).JSON(201)
	path := "/articles/" + article["id"].(string)
	api.Run(t, []testkit.Scenario{
		testkit.Row("the owner", testkit.Request{Method: "PATCH", Path: path, As: ada.Token, Form: url.Values{"title": {"Roots"}}}, 200, []string{`"title":"Roots"`}, nil),
		testkit.Row("another user", testkit.Request{Method: "DELETE", Path: path, As: eve.Token}, 403, []string{`"code":"forbidden"`}, nil),
		testkit.Row("nobody", testkit.Request{Method: "DELETE", Path: path}, 401, nil, nil),
	})

	api.Clock.Advance(2 * time.Hour)
	api.RunJobs() // runs the jobs that are due at the new time
}
