package social

import (
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/testkit/providers"
)

var facebookSubject = subject{
	fake: func(now func() time.Time) providers.Fake { return providers.NewFacebook(clientApp, now) },
	connect: func(_ *internet, address, secret string) provider {
		return newFacebook(FacebookSettings{ID: clientApp.ID, Secret: secret, GraphURL: address}, newTestClient()).provider()
	},
	methods: append(codeMethods("/oauth/access_token", "/debug_token", "/me"), method{"access_token", tokenOf, []string{"/debug_token", "/me"}, true}),
	foreign: map[string][]string{
		"/debug_token": {
			`{"data":{"app_id":"999","type":"USER","is_valid":true,"user_id":"1815"}}`,
			`{"data":{"app_id":"1234567890","type":"PAGE","is_valid":true,"user_id":"1815"}}`,
			`{"data":{"app_id":"1234567890","type":"USER","is_valid":false,"user_id":"1815"}}`,
			`{"data":{"app_id":"1234567890","type":"USER","is_valid":true}}`,
		},
		"/me": {`{"error":{"code":190}}`},
	},
	partial: []partial{
		{"7", nil, Profile{Subject: "7"}},
		{"666", nil, Profile{Subject: "666"}}, // unconfirmed addresses are not returned
		{"8", nil, Profile{Subject: "8", Email: "ann@example.com", EmailVerified: true}},
		{"1815", []string{"public_profile"}, Profile{Subject: "1815", Name: ada.Name, Picture: ada.Picture}},
	},
}

func TestFacebook(t *testing.T) {
	t.Parallel()
	facebookSubject.run(t)
}

// TestFacebookAnotherUser rejects the profile of a user other than the token's user.
func TestFacebookAnotherUser(t *testing.T) {
	t.Parallel()
	n := facebookSubject.start(t)
	n.respondJSON("/me", `{"id":"1816","email":"eve@example.com"}`)
	if p, err := n.ask(t, tokenOf(n, ada.ID)); !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestFacebookSettings(t *testing.T) {
	t.Parallel()
	s := FacebookSettings{ID: "1", GraphURL: "https://graph.example.com/v1.0/"}
	if got := invalidSettings(&s); got != "FACEBOOK_CLIENT_SECRET" || s.GraphURL != "https://graph.example.com/v1.0" {
		t.Errorf("%s, address %s", got, s.GraphURL)
	}
}
