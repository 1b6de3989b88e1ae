package auth_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

type request = testkit.Request

var row = testkit.Row

func TestSignIn(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	key := url.Values{"access_token": {testkit.MasterKey}}
	header := func(value string) http.Header { return http.Header{"Authorization": {value}} }
	api.Run(t, []testkit.Scenario{
		row("form", testkit.SignInRequest(ada.Email, testkit.Password), 201,
			[]string{`"token":"ey`, `"user":{"id":"` + ada.ID, `"expiresAt":"`}, nil),
		row("the same as JSON", request{Method: "POST", Path: "/auth", Email: ada.Email, Password: testkit.Password, JSON: map[string]string{"access_token": testkit.MasterKey}}, 201, nil, nil),
		row("key in query", request{Method: "POST", Path: "/auth?access_token=" + testkit.MasterKey, Email: ada.Email, Password: testkit.Password}, 201, nil, nil),
		row("address in capitals", request{Method: "POST", Path: "/auth", Email: " " + strings.ToUpper(ada.Email), Password: testkit.Password, Form: key}, 201, nil, nil),
		row("no Basic", request{Method: "POST", Path: "/auth", Form: key}, 401, []string{"Email and password are missing"}, nil),
		row("wrong password", testkit.SignInRequest(ada.Email, "x"), 401, []string{"Email or password is wrong."}, nil),
		row("unknown address", testkit.SignInRequest("x@example.com", testkit.Password), 401, []string{"Email or password is wrong."}, nil),
		row("not base64", request{Method: "POST", Path: "/auth", Header: header("Basic !"), Form: key}, 401, []string{"Email or password is wrong."}, nil),
		row("not UTF-8", request{Method: "POST", Path: "/auth", Header: header("Basic " + base64.StdEncoding.EncodeToString([]byte("\xff@example.com:x"))), Form: key}, 401, []string{"Email or password is wrong."}, nil),
		row("no colon", request{Method: "POST", Path: "/auth", Header: header("Basic " + base64.StdEncoding.EncodeToString([]byte("x"))), Form: key}, 401, []string{"Email or password is wrong."}, nil),
	})
	if cache := api.Do(testkit.SignInRequest(ada.Email, testkit.Password)).Header.Get("Cache-Control"); cache != "no-store" {
		t.Errorf("Cache-Control %q", cache)
	}
}

// TestForgedTokens checks that routes, including public routes, respond 401 to tokens that were not issued for an open session.
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	var c jwt.MapClaims
	if _, _, err := jwt.NewParser().ParseUnverified(ada.Token, &c); err != nil {
		t.Fatal(err)
	}
	sign := func(m jwt.SigningMethod, key any, change map[string]any) string {
		claims := jwt.MapClaims{}
		for _, from := range []map[string]any{c, change} {
			for k, v := range from {
				claims[k] = v
			}
		}
		token, err := jwt.NewWithClaims(m, claims).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	secret := []byte(testkit.Secret)
	if status := api.Do(request{Method: "GET", Path: "/users/me", As: sign(jwt.SigningMethodHS256, secret, nil)}).Status; status != 200 {
		t.Fatalf("the same claims signed again: %d", status)
	}
	for name, token := range map[string]string{
		"another secret":         sign(jwt.SigningMethodHS256, []byte("x"), nil),
		"master key as secret":   sign(jwt.SigningMethodHS256, []byte(testkit.MasterKey), nil),
		"another user's session": sign(jwt.SigningMethodHS256, secret, map[string]any{"sub": eve.ID}),
		"unknown session":        sign(jwt.SigningMethodHS256, secret, map[string]any{"sid": store.NewID().Hex()}),
		"unknown user":           sign(jwt.SigningMethodHS256, secret, map[string]any{"sub": store.NewID().Hex()}),
	} {
		for _, path := range []string{"/users/me", "/users/" + eve.ID} {
			if status := api.Do(request{Method: "GET", Path: path, As: token}).Status; status != 401 {
				t.Errorf("%s, %s: %d", name, path, status)
			}
		}
	}
}

// TestAdmin lists and ends sessions of a user as an admin, who is notified only of what others do.
func TestAdmin(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("SECURITY_NOTICES", "true"))
	ada, admin := api.SignUp("user"), api.SignUp("admin")
	kept := api.SignIn(ada.Email, testkit.Password)
	path := "/users/" + ada.ID + "/sessions"
	list := func(path, query string) (ids []string) {
		t.Helper()
		response := api.Do(request{Method: "GET", Path: path + query, As: admin.Token}).Want(200)
		for _, row := range response.JSON(200)["rows"].([]any) {
			row := row.(map[string]any)
			if ids = append(ids, row["id"].(string)); row["current"] != (path != "/users/"+ada.ID+"/sessions") {
				t.Errorf("%v", row)
			}
		}
		return ids
	}
	end := func(path string, status int) {
		t.Helper()
		api.Do(request{Method: "DELETE", Path: path, As: admin.Token}).Want(status)
	}
	ids := list(path, "?sort=createdAt")
	if len(ids) != 2 || len(list(path, "?limit=1")) != 1 {
		t.Fatalf("%v", ids)
	}
	own := "/users/" + admin.ID + "/sessions"
	end(own+"/"+ids[0], 404)
	end(path+"/"+ids[0], 204)
	if message := api.Email.Next(t); message.To != ada.Email || !strings.Contains(message.Text, "An administrator ended a session") {
		t.Errorf("%+v", message)
	}
	end(path+"/"+ids[0], 404)
	api.Do(request{Method: "GET", Path: "/users/me", As: ada.Token}).Want(401)
	api.Do(request{Method: "GET", Path: "/users/me", As: kept.Token}).Want(200)
	api.Do(request{Method: "GET", Path: "/users/" + store.NewID().Hex() + "/sessions", As: admin.Token}).Want(404)
	end(own+"/"+list(own, "")[0], 204)
	api.Finish()
	api.Email.None(t)
}
