package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"example.com/ginseng/testkit/providers"
)

const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // RFC 7636, appendix B

// start runs the command on a free port, and returns the settings that it printed and the address of its page. At the
// end of the test it is interrupted, and must exit with 0.
func start(t *testing.T, args ...string) (map[string]string, string) {
	t.Helper()
	ctx, interrupt := context.WithCancel(context.Background())
	out, printed := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"-port", "0"}, args...), printed, io.Discard)
		_ = printed.Close()
	}()
	t.Cleanup(func() {
		interrupt()
		if code := <-ended; code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
	settings := map[string]string{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), "="); ok {
			settings[name] = value
		}
		if _, rest, ok := strings.Cut(lines.Text(), "and open "); ok {
			page, _, _ := strings.Cut(rest, " ")
			return settings, page
		}
	}
	t.Fatalf("it ended with %d, and printed %v", <-ended, settings)
	return nil, ""
}

// fetch sends a request and returns the response and its body.
func fetch(t *testing.T, client *http.Client, method, address string, form url.Values, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// read fetches a URL, which must respond 200.
func read(t *testing.T, address string) (*http.Response, string) {
	t.Helper()
	response, body := fetch(t, http.DefaultClient, "GET", address, nil)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d", address, response.StatusCode)
	}
	return response, body
}

func TestPage(t *testing.T) {
	t.Parallel()
	_, page := start(t, "-api", "https://api.example.com/v1/")
	response, body := read(t, page)
	if policy := response.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "connect-src 'self' https://api.example.com;") {
		t.Error(policy)
	}
	if strings.Contains(body, "<script>") || strings.Contains(body, " style=") || strings.Contains(body, "//") {
		t.Error("the page has what its policy forbids")
	}
	for _, file := range []string{"app.js", "style.css"} {
		if !strings.Contains(body, `"`+file+`"`) {
			t.Errorf("the page does not name %s", file)
		}
		read(t, page+file)
	}
	var c config
	_, body = read(t, page+"config.json")
	if err := json.Unmarshal([]byte(body), &c); err != nil || c.API != "https://api.example.com/v1" || len(c.Providers) != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	if strings.Contains(body, "secret") {
		t.Error("the page knows a secret")
	}
}

// TestFlow runs the flow of each provider: the authorization URL of the page, the consent, the redirect to the page, and the
// requests of the service with the printed settings.
func TestFlow(t *testing.T) {
	t.Parallel()
	settings, page := start(t)
	var c config
	_, body := read(t, page+"config.json")
	if err := json.Unmarshal([]byte(body), &c); err != nil || c.API != "http://localhost:9000" {
		t.Fatal(c, err)
	}
	for name, row := range map[string]struct {
		token  string
		whoami func(token string) string
		who    string
	}{
		"github": {settings["GITHUB_URL"] + "/login/oauth/access_token", func(token string) string {
			_, body := fetch(t, http.DefaultClient, "GET", settings["GITHUB_API_URL"]+"/user/emails", nil, "Authorization", "Bearer "+token)
			return body
		}, `"ada@example.com"`},
		"google": {settings["GOOGLE_ISSUER"] + "/token", func(token string) string {
			_, body := read(t, settings["GOOGLE_ISSUER"]+"/tokeninfo?access_token="+token)
			return body
		}, `"ada@example.com"`},
		"facebook": {settings["FACEBOOK_GRAPH_URL"] + "/oauth/access_token", func(token string) string {
			app := settings["FACEBOOK_CLIENT_ID"] + "|" + settings["FACEBOOK_CLIENT_SECRET"]
			_, body := read(t, settings["FACEBOOK_GRAPH_URL"]+"/debug_token?"+url.Values{"input_token": {token}, "access_token": {app}}.Encode())
			return body
		}, `"user_id":"1815"`},
	} {
		upper := strings.ToUpper(name)
		code := consent(t, page, c.Providers[name])
		_, body := fetch(t, http.DefaultClient, "POST", row.token, url.Values{
			"grant_type": {"authorization_code"}, "client_id": {settings[upper+"_CLIENT_ID"]}, "client_secret": {settings[upper+"_CLIENT_SECRET"]},
			"code": {code}, "redirect_uri": {page}, "code_verifier": {verifier},
		})
		token := regexp.MustCompile(`access_token"?[=:]"?([^"&]+)`).FindStringSubmatch(body) // a form or JSON
		if token == nil {
			t.Errorf("%s: %s", name, body)
			continue
		}
		if who := row.whoami(token[1]); !strings.Contains(who, row.who) || strings.Contains(who, "error") {
			t.Errorf("%s: %s", name, who)
		}
	}
	response, body := read(t, settings["GOOGLE_ISSUER"]+"/.well-known/openid-configuration")
	if !strings.Contains(body, `"issuer":"`+settings["GOOGLE_ISSUER"]+`"`) {
		t.Error(response.Request.URL, body)
	}
}

// consent follows the redirects from the page to the provider and back as a browser does, and returns the code.
func consent(t *testing.T, page string, p provider) string {
	t.Helper()
	ask := p.Authorize + "?" + url.Values{
		"response_type": {"code"}, "client_id": {p.ClientID}, "redirect_uri": {page}, "scope": {p.Scope}, "state": {"x y"},
		"code_challenge": {providers.Challenge(verifier)}, "code_challenge_method": {"S256"},
	}.Encode()
	if _, body := fetch(t, http.DefaultClient, "GET", ask, nil); !strings.Contains(body, "Ada Lovelace") || !strings.Contains(body, p.Name) {
		t.Fatal(body)
	}
	response, body := fetch(t, http.DefaultClient, "POST", ask, url.Values{"user": {"1815"}, "decision": {"allow"}})
	back := response.Request.URL
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(back.String(), page) || !strings.Contains(body, "app.js") || back.Query().Get("state") != "x y" {
		t.Fatalf("%d at %s", response.StatusCode, back)
	}
	return back.Query().Get("code")
}

func TestUsage(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	_, port, err := net.SplitHostPort(busy.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-h"}, 0, "-port"},
		{[]string{"-x"}, badUsage, "-x"},
		{[]string{"x"}, badUsage, `unknown argument "x"`},
		{[]string{"-port", "65536"}, badUsage, "from 0 to 65535"},
		{[]string{"-port", "-1"}, badUsage, "-port"},
		{[]string{"-api", "localhost:9000"}, badUsage, "as in http://localhost:9000"},
		{[]string{"-api", "ftp://localhost"}, badUsage, "as in http://localhost:9000"},
		{[]string{"-api", "http://%"}, badUsage, "as in http://localhost:9000"},
		{[]string{"-port", port}, failed, "choose another port with -port"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), row.args, &stdout, &stderr); code != row.code || !strings.Contains(stderr.String(), row.says) || stdout.Len() != 0 {
			t.Errorf("%v: %d, %q, %q", row.args, code, stdout.String(), stderr.String())
		}
	}
}
