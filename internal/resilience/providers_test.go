package resilience_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/testkit/providers"
	"example.com/ginseng/testkit/testdb"
)

// providerTimeout is the time that the service gives to all requests of a sign-in to a provider.
const providerTimeout = 5 * time.Second

// TestProviderOutage makes an identity provider unavailable. Signing in with it fails with 503 in time, and other requests
// are not slower.
func TestProviderOutage(t *testing.T) {
	testdb.SQLiteOnly(t)
	t.Parallel()
	app := providers.App{ID: "1234567890", Secret: "app-secret-0123456789abcdef01234567"}
	github := providers.NewGitHub(app, time.Now)
	ada := github.AddUser(providers.User{Login: "ada", Email: "ada@example.com", EmailVerified: true})
	server := httptest.NewServer(github)
	t.Cleanup(server.Close)
	network := through(t, strings.TrimPrefix(server.URL, "http://"))
	url := "http://" + network.Addr()
	p := start(t, settings(database(t), "GITHUB_CLIENT_ID="+app.ID, "GITHUB_CLIENT_SECRET="+app.Secret,
		"GITHUB_URL="+url, "GITHUB_API_URL="+url+providers.GitHubAPI))
	signIn := func(want int) time.Duration {
		begun := time.Now()
		response, err := http.DefaultClient.Do(newRequest(t, "POST", p.URL+"/auth/github", "", strings.NewReader(`{"access_token":"`+github.Token(ada.ID)+`"}`)))
		must(t, err)
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		must(t, err)
		var problem struct{ Code string }
		if err := json.Unmarshal(body, &problem); response.StatusCode != want || err != nil ||
			want == 503 && (problem.Code != "unavailable" || response.Header.Get("Retry-After") == "") {
			t.Errorf("status %d, want %d: %v %s", response.StatusCode, want, response.Header, body)
		}
		return time.Since(begun)
	}
	signIn(201)
	for name, breaks := range map[string]func(){
		"accepts no connection": network.Refuse, "does not respond": network.Silence, "responds with 500": func() { github.Fail(providers.Broken) },
	} {
		breaks()
		listed := make(chan time.Duration)
		go func() {
			begun := time.Now()
			response, err := http.Get(p.URL + "/articles")
			if err != nil {
				t.Error(err)
			} else {
				_ = response.Body.Close()
			}
			listed <- time.Since(begun)
		}()
		failed := signIn(503)
		if took := <-listed; took >= providerTimeout {
			t.Errorf("a list took %v while the provider %s", took, name)
		}
		if failed > 2*providerTimeout {
			t.Errorf("signing in took %v while the provider %s", failed, name)
		}
		github.Fail(providers.None)
		must(t, network.Heal())
		healed := time.Now()
		signIn(201)
		t.Logf("| %s | the provider %s | 503 after %.1f s | nothing | %.1f s |", engine(), name, failed.Seconds(), time.Since(healed).Seconds())
	}
	stop(t, p)
}
