// Package apitest starts this service in tests.
package apitest

import (
	"regexp"
	"slices"
	"testing"

	"example.com/ginseng/docs"
	"example.com/ginseng/kit/email"
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

var codeLine = regexp.MustCompile(`(?m)^Code: (\d{6})$`)

// Code returns the sign-in code in an email.
func Code(t testing.TB, m email.Message) string {
	t.Helper()
	found := codeLine.FindStringSubmatch(m.Text)
	if found == nil {
		t.Fatalf("no code in %s", m.Text)
	}
	return found[1]
}

// WrongCode returns a code of six digits that differs from code.
func WrongCode(code string) string { return string('0'+(code[0]-'0'+1)%10) + code[1:] }
