package social

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// AppleSettings are the settings for Apple. IDs are the client IDs: the Services ID (web) and the bundle IDs of apps.
// Authorization codes are exchanged with the first ID. PrivateKey is the content of the .p8 file, in which \n can stand for a
// line break.
type AppleSettings struct {
	IDs        []string `mapstructure:"APPLE_CLIENT_ID" example:"com.example.web,com.example.app"`
	TeamID     string   `mapstructure:"APPLE_TEAM_ID" validate:"required_with=IDs" example:"A1B2C3D4E5"`
	KeyID      string   `mapstructure:"APPLE_KEY_ID" validate:"required_with=IDs" example:"ABC123DEFG"`
	PrivateKey string   `mapstructure:"APPLE_PRIVATE_KEY" validate:"required_with=IDs" example:"-----BEGIN PRIVATE KEY-----\\nMIGTAgEA...\\n-----END PRIVATE KEY-----"`
	URL        string   `mapstructure:"APPLE_URL" default:"https://appleid.apple.com"`
}

// Check implements settings.Checker.
func (c *AppleSettings) Check(report func(name, reason string)) {
	checkBase("APPLE_URL", &c.URL, report)
	if _, err := parseAppleKey(c.PrivateKey); c.PrivateKey != "" && err != nil {
		report("APPLE_PRIVATE_KEY", "must be the text of the .p8 file that Apple issued for APPLE_KEY_ID, with \\n for line breaks")
	}
}

// newApple returns the configuration of Apple (see "Sign in with Apple REST API" in Apple's documentation). Apple requires the
// response mode form_post for the scopes "name" and "email". Only the authorization response contains the name; tokens do not.
// Apple has no userinfo endpoint.
func newApple(c AppleSettings, now func() time.Time) openID {
	key, _ := parseAppleKey(c.PrivateKey) // checked by Check
	secret := &appleSecret{settings: c, key: key, now: now}
	return openID{
		name: "Apple", issuer: c.URL, ids: c.IDs, newSecret: secret.get, scopes: []string{"openid", "name", "email"},
		authorizationQuery: "response_mode=form_post",
	}
}

// parseAppleKey parses the content of a .p8 file: a P-256 key in PKCS #8 and PEM.
func parseAppleKey(text string) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(strings.ReplaceAll(text, `\n`, "\n")))
	if block == nil {
		return nil, errors.New("not PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, errors.New("not a P-256 key")
	}
	return key, nil
}

const (
	appleSecretTTL   = time.Hour       // lifetime of a client secret; Apple allows at most six months
	appleSecretSlack = 5 * time.Minute // minimum remaining lifetime of a client secret; otherwise, get creates a new secret
)

// appleSecret creates client secrets (see "Creating a client secret" in Apple's documentation).
type appleSecret struct {
	settings AppleSettings
	key      *ecdsa.PrivateKey
	now      func() time.Time

	mu      sync.Mutex
	current string
	expires time.Time
}

// get returns the current client secret. If the current secret has expired or expires soon, get creates a new secret.
func (s *appleSecret) get() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if s.expires.Sub(now) > appleSecretSlack {
		return s.current, nil
	}
	expires := now.Add(appleSecretTTL)
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.RegisteredClaims{
		Issuer: s.settings.TeamID, Subject: s.settings.IDs[0], Audience: jwt.ClaimStrings{s.settings.URL},
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(expires),
	})
	token.Header["kid"] = s.settings.KeyID
	signed, err := token.SignedString(s.key)
	if err == nil {
		s.current, s.expires = signed, expires
	}
	return signed, err
}
