package admin_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

const policy = "default-src 'none'; script-src 'self' 'sha256-HASH'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; form-action 'none'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

var hash = regexp.MustCompile(`'sha256-[^']{44}'`)

// TestPage requests the page and each file that it names.
func TestPage(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("ADMIN", "true"), testkit.Env("API_ROOT", "/api/v1"), testkit.Env("DOCS", "false"))
	page := api.Do(testkit.Request{Method: "GET", Path: "/admin/"})
	text := string(page.Want(200).Body)
	if !strings.Contains(text, `data-api="../api/v1"`) || strings.Contains(text, "{{") || strings.Contains(text, "data-first") {
		t.Error(text)
	}
	if got := hash.ReplaceAllString(page.Header.Get("Content-Security-Policy"), "'sha256-HASH'"); got != policy {
		t.Error(got)
	}
	if got := page.Header.Get("Cross-Origin-Opener-Policy"); got != "same-origin" {
		t.Error(got)
	}
	names := regexp.MustCompile(`(?:href|src)="([^"]+)"`).FindAllStringSubmatch(text, -1)
	if len(names) < 10 {
		t.Error(names)
	}
	for _, name := range names {
		request := testkit.Request{Method: "GET", Path: "/admin/" + name[1], Header: http.Header{"Accept-Encoding": {"gzip"}}}
		file := api.Do(request)
		tag := file.Header.Get("ETag")
		if file.Status != 200 || file.Header.Get("Content-Encoding") != "gzip" || !strings.HasPrefix(tag, `"`) || file.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d %v", name[1], file.Status, file.Header)
		}
		request.Header.Set("If-None-Match", tag)
		if again := api.Do(request); again.Status != 304 {
			t.Errorf("%s again: %d", name[1], again.Status)
		}
	}
	if moved := api.Do(testkit.Request{Method: "GET", Path: "/admin"}); moved.Status != 302 || moved.Header.Get("Location") != "admin/" {
		t.Errorf("%d %v", moved.Status, moved.Header)
	}
	api.Do(testkit.Request{Method: "GET", Path: "/admin/?code=4%2F0A&state=x&iss=https%3A%2F%2Faccounts.google.com"}).Want(200) // of a provider
	for _, path := range []string{"/admin/index.html", "/admin/absent.js", "/admin/..%2fadminpage.go"} {
		api.Do(testkit.Request{Method: "GET", Path: path}).Want(404, "not_found")
	}
}

// TestOpenAPI requests the API document as users, without DOCS.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("ADMIN", "true"), testkit.Env("DOCS", "false"))
	admin, user := api.SignUp("admin"), api.SignUp("user")
	get := testkit.Request{Method: "GET", Path: "/admin/openapi.json"}
	api.Run(t, []testkit.Scenario{
		testkit.Row("nobody", get, 401, []string{"unauthorized"}, nil),
		testkit.Row("master key", testkit.Request{Method: "GET", Path: get.Path, As: testkit.MasterKey}, 401, []string{"unauthorized"}, nil),
		testkit.Row("user", testkit.Request{Method: "GET", Path: get.Path, As: user.Token}, 403, []string{"forbidden"}, nil),
		testkit.Row("admin", testkit.Request{Method: "GET", Path: get.Path, As: admin.Token}, 200, []string{`"servers":[{"url":".."}]`, `"x-resource"`, `"/users/{id}"`}, nil),
		testkit.Row("without DOCS", testkit.Request{Method: "GET", Path: "/openapi.json"}, 404, []string{"not_found"}, nil),
	})
}

// TestPublicSignUp requests the API document of a service that creates users without the master key.
func TestPublicSignUp(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{"true": "public", "false": "master"} {
		api := apitest.Start(t, testkit.Env("ADMIN", "true"), testkit.Env("PUBLIC_SIGNUP", set))
		var document struct {
			Paths map[string]map[string]struct {
				Caller string `json:"x-caller"`
			}
		}
		body := api.Do(testkit.Request{Method: "GET", Path: "/admin/openapi.json", As: api.SignUp("admin").Token}).Want(200).Body
		if err := json.Unmarshal(body, &document); err != nil {
			t.Fatal(err)
		}
		if got := document.Paths["/users"]["post"].Caller; got != want {
			t.Errorf("PUBLIC_SIGNUP=%s: %q", set, got)
		}
	}
}

// TestOff requests the page of services that do not have it.
func TestOff(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]testkit.Option{
		"default": nil, "false": {testkit.Env("ADMIN", "false")}, "false in development": {testkit.Env("APP_ENV", "development"), testkit.Env("ADMIN", "false")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := apitest.Start(t, options...)
			admin := api.SignUp("admin")
			for _, path := range []string{"/admin", "/admin/", "/admin/app.js", "/admin/openapi.json"} {
				api.Do(testkit.Request{Method: "GET", Path: path, As: admin.Token}).Want(404, "not_found")
			}
		})
	}
}

// TestFirst requests the page in development: without an admin, it offers to create one.
func TestFirst(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("APP_ENV", "development"))
	get := testkit.Request{Method: "GET", Path: "/admin/"}
	api.SignUp("user")
	api.Do(get).Want(200, "data-first", "data-master-key")
	api.SignUp("admin")
	if page := api.Do(get).Want(200, "data-master-key"); strings.Contains(string(page.Body), "data-first") {
		t.Errorf("with an admin: %s", page.Body)
	}
}

// TestSignIn signs in without the master key, which only ADMIN=true that is set allows, unless PUBLIC_SIGNIN is set.
func TestSignIn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []testkit.Option
		status  int
	}{
		"default in development": {[]testkit.Option{testkit.Env("APP_ENV", "development")}, 401},
		"on":                     {[]testkit.Option{testkit.Env("ADMIN", "true")}, 201},
		"off":                    {[]testkit.Option{testkit.Env("ADMIN", "false")}, 401},
		"on, key required":       {[]testkit.Option{testkit.Env("ADMIN", "true"), testkit.Env("PUBLIC_SIGNIN", "false")}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := apitest.Start(t, test.options...)
			admin := api.SignUp("admin")
			api.Do(testkit.Request{Method: "POST", Path: "/auth", Email: admin.Email, Password: testkit.Password}).Want(test.status)
			api.Do(testkit.Request{Method: "POST", Path: "/users", JSON: `{"email":"new@example.com","password":"a long password"}`}).Want(401)
		})
	}
}
