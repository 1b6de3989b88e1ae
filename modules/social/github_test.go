package social

import (
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/testkit/providers"
)

const githubCheck = "/api/v3/applications/1234567890/token"

var githubSubject = subject{
	fake: func(now func() time.Time) providers.Fake { return providers.NewGitHub(clientApp, now) },
	connect: func(_ *internet, address, secret string) provider {
		return newGitHub(GitHubSettings{ID: clientApp.ID, Secret: secret, URL: address, APIURL: address + providers.GitHubAPI}, newTestClient()).provider()
	},
	methods: append(codeMethods("/login/oauth/access_token", githubCheck, "/api/v3/user", "/api/v3/user/emails"),
		method{"access_token", tokenOf, []string{githubCheck, "/api/v3/user", "/api/v3/user/emails"}, true}),
	foreign: map[string][]string{githubCheck: {`{"app":{"client_id":"999"},"user":{"id":1815}}`}},
	revoked: map[string]int{"/api/v3/user": 401, "/api/v3/user/emails": 401, githubCheck: 422},
	skip:    func(path, response string) bool { return path == "/api/v3/user/emails" && response == "null" }, // no addresses
	partial: []partial{
		{"7", nil, Profile{Subject: "7", Name: "bob", Picture: "*"}},
		{"666", nil, Profile{Subject: "666", Email: "ada@example.com", Name: "eve", Picture: "*"}},
		{"8", nil, Profile{Subject: "8", Email: "ann@example.com", EmailVerified: true, Name: "ann", Picture: "*"}},
		{"1815", []string{"read:user"}, Profile{Subject: "1815", Name: ada.Name, Picture: "*"}},
	},
}

func TestGitHub(t *testing.T) {
	t.Parallel()
	githubSubject.run(t)
}

// TestGitHubUnverified checks the remedy in the error if GitHub issues no token.
func TestGitHubUnverified(t *testing.T) {
	t.Parallel()
	n := githubSubject.start(t)
	n.AddUser(providers.User{ID: "66"})
	_, err := n.ask(t, Proof{Code: n.Code("66", callback, ""), RedirectURI: callback})
	if !apperr.Is(err, apperr.Conflict) || !strings.Contains(err.Error(), "Verify the address at GitHub") {
		t.Error(err)
	}
}

func TestGitHubNoIDToken(t *testing.T) {
	t.Parallel()
	n := githubSubject.start(t)
	for _, proof := range []Proof{{IDToken: "a.b.c"}, {Code: "x", RedirectURI: callback, Nonce: "x"}} {
		if _, err := n.ask(t, proof); !apperr.Is(err, apperr.ValidationFailed) || len(n.Requests()) > 0 {
			t.Errorf("%+v: %v", proof, err)
		}
	}
}

func TestGitHubSettings(t *testing.T) {
	t.Parallel()
	for s, want := range map[GitHubSettings]string{
		{ID: "1", URL: "https://github.example.com", APIURL: "http://github.example.com/api/v3"}: "GITHUB_CLIENT_SECRET",
		{URL: "github.com", APIURL: "ftp://github.com"}:                                          "GITHUB_API_URL GITHUB_URL",
		{URL: "https://example.com#", APIURL: "https://x"}:                                       "GITHUB_URL",
	} {
		if got := invalidSettings(&s); got != want {
			t.Errorf("%+v: %s, want %s", s, got, want)
		}
	}
}
