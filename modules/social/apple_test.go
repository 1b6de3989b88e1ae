package social

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/testkit/providers"
)

func appleSettings(n *internet) AppleSettings {
	return AppleSettings{
		IDs: []string{clientApp.ID, "ios-client"}, TeamID: providers.AppleTeam, KeyID: providers.AppleKeyID, PrivateKey: openIDOf(n).PrivateKey(), URL: n.address,
	}
}

var appleSubject = subject{
	fake: func(now func() time.Time) providers.Fake { return providers.NewApple(clientApp, now) },
	connect: func(n *internet, address, _ string) provider {
		openIDOf(n).SetIssuer(address)
		return n.environment().openID(newApple(appleSettings(n), n.clock.Now))
	},
}

func TestApple(t *testing.T) {
	t.Parallel()
	n := appleSubject.start(t)
	p := n.connect()
	want := Profile{Subject: ada.ID, Email: ada.Email, EmailVerified: true}
	for range 3 {
		if got, err := p.profile(t.Context(), n.code(ada.ID)); err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
		n.clock.Advance(appleSecretTTL - time.Minute)
	}
	address, _, err := p.authorization(t.Context())
	if err != nil || address != n.address+"/auth/authorize?response_mode=form_post" {
		t.Errorf("%s, %v", address, err)
	}
}

// TestAppleSecret checks that a client secret is used again until shortly before its expiry, and that a wrong team, key ID or key
// causes Unavailable.
func TestAppleSecret(t *testing.T) {
	t.Parallel()
	n := appleSubject.start(t)
	o := newApple(appleSettings(n), n.clock.Now)
	get := func() string {
		t.Helper()
		secret, err := o.newSecret()
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	first := get()
	n.clock.Advance(appleSecretTTL - appleSecretSlack - time.Second)
	if get() != first {
		t.Error("the secret is not used again")
	}
	n.clock.Advance(time.Second)
	if get() == first {
		t.Error("an old secret is used")
	}
	for name, change := range map[string]func(*AppleSettings){
		"team": func(s *AppleSettings) { s.TeamID = "another" }, "key ID": func(s *AppleSettings) { s.KeyID = "another" },
		"key": func(s *AppleSettings) { s.PrivateKey = newKey(t, elliptic.P256()) },
	} {
		s := appleSettings(n)
		change(&s)
		proof := n.code(ada.ID)
		_, err := n.environment().openID(newApple(s, n.clock.Now)).profile(t.Context(), proof)
		if !apperr.Is(err, apperr.Unavailable) {
			t.Errorf("%s: %v", name, err)
		}
		hide(t, err, proof)
	}
}

// newKey returns a new private key as the content of a .p8 file.
func newKey(t *testing.T, curve elliptic.Curve) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func TestAppleSettings(t *testing.T) {
	t.Parallel()
	key := newKey(t, elliptic.P256())
	for text, want := range map[string]string{
		key: "", strings.ReplaceAll(key, "\n", `\n`): "", "": "APPLE_PRIVATE_KEY", "AuthKey_ABC123DEFG.p8": "APPLE_PRIVATE_KEY",
		newKey(t, elliptic.P384()): "APPLE_PRIVATE_KEY", strings.Replace(key, "\nM", "\nX", 1): "APPLE_PRIVATE_KEY",
	} {
		s := AppleSettings{IDs: []string{"1"}, TeamID: "t", KeyID: "k", PrivateKey: text, URL: "https://appleid.apple.com"}
		if got := invalidSettings(&s); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := invalidSettings(&AppleSettings{IDs: []string{"1"}, URL: "https://appleid.apple.com"}); got != "APPLE_KEY_ID APPLE_PRIVATE_KEY APPLE_TEAM_ID" {
		t.Error(got)
	}
}
