package social

import (
	"testing"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/testkit/providers"
)

// TestGoogleBothIssuers accepts both forms of Google's issuer.
func TestGoogleBothIssuers(t *testing.T) {
	t.Parallel()
	n := openIDSubject.start(t)
	o := newGoogle(GoogleSettings{IDs: []string{clientApp.ID}, Issuer: googleIssuer})
	if o.tokenInfo != "https://oauth2.googleapis.com/tokeninfo" {
		t.Errorf("tokeninfo is at %s", o.tokenInfo)
	}
	fake := &openIDClient{openID: newGoogle(GoogleSettings{IDs: o.ids, Issuer: n.address}), environment: n.environment()}
	issuer, err := fake.discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	issuer.IssuerURL = googleIssuer
	for name, want := range map[string]apperr.Code{
		"https://accounts.google.com": "", "accounts.google.com": "", "http://accounts.google.com": apperr.Unauthorized, n.address: apperr.Unauthorized,
	} {
		proof := Proof{IDToken: openIDOf(n).IDToken(ada.ID, providers.Claim("iss", name))}
		if _, _, err := fake.ofIDToken(t.Context(), issuer, proof); apperr.CodeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestGoogleSettings(t *testing.T) {
	t.Parallel()
	for issuer, want := range map[string]string{"https://accounts.example.com": "", "https:///x": "GOOGLE_ISSUER"} {
		s := GoogleSettings{IDs: []string{"1"}, Issuer: issuer}
		if got := invalidSettings(&s); got != want {
			t.Errorf("%s: %s, want %s", issuer, got, want)
		}
	}
}
