// Package apitest starts this service in tests.
package apitest

import (
	"slices"
	"testing"

	"example.com/ginseng/docs"
	"example.com/ginseng/modules"
	"example.com/ginseng/server"
	"example.com/ginseng/testkit"
)

// Start starts the service with all modules, and stops it at the end of the test.
func Start(t testing.TB, options ...testkit.Option) *testkit.API {
	t.Helper()
	return testkit.Start(t, testkit.Service{
		Modules:   testkit.Modules(modules.New),
		Documents: server.Documents{OpenAPI: docs.OpenAPI, Swagger: docs.Swagger},
	}, options...)
}

// Need skips the test if the service does not have the route, for example "PUT /users/me/email", because the project does not
// have its component.
func Need(t testing.TB, api *testkit.API, route string) {
	t.Helper()
	if !slices.Contains(api.Handler.Routes(), route) {
		t.Skip("without the component of ", route)
	}
}
