package social

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"example.com/ginseng/kit/apperr"
)

const googleIssuer = "https://accounts.google.com"

// GoogleSettings are the settings for Google. The IDs are those of all clients: web, iOS, Android. Codes are exchanged with
// the first one, whose secret is Secret; clients of apps have none.
type GoogleSettings struct {
	IDs    []string `mapstructure:"GOOGLE_CLIENT_ID" example:"1234-web.apps.googleusercontent.com,1234-ios.apps.googleusercontent.com"`
	Secret string   `mapstructure:"GOOGLE_CLIENT_SECRET" example:"GOCSPX-0123456789abcdefghijklmnopqr"`
	Issuer string   `mapstructure:"GOOGLE_ISSUER" default:"https://accounts.google.com"`
}

// Check implements settings.Checker.
func (c *GoogleSettings) Check(report func(name, reason string)) {
	checkBase("GOOGLE_ISSUER", &c.Issuer, report)
}

// google implements "OpenID Connect" in Google's identity documentation. URLs are those of the issuer's discovery document,
// except that of tokeninfo, which it does not have.
type google struct {
	calls          *client
	log            *slog.Logger
	ids            []string
	secret, issuer string // the issuer without a slash at the end
	tokenInfo      string
	now            func() time.Time
	discovered     atomic.Pointer[discovery]
}

// discovery is the discovery document of an issuer, and its keys.
type discovery struct {
	oidc.ProviderConfig
	keys oidc.KeySet
}

func newGoogle(c GoogleSettings, calls *client, log *slog.Logger, now func() time.Time) *google {
	base := c.Issuer
	if base == googleIssuer {
		base = "https://oauth2.googleapis.com"
	}
	return &google{calls: calls, log: log, ids: c.IDs, secret: c.Secret, issuer: c.Issuer, tokenInfo: base + "/tokeninfo", now: now}
}

func (g *google) profile(ctx context.Context, proof Proof) (Profile, error) {
	issuer, err := g.discover(ctx)
	if err != nil {
		return Profile{}, err
	}
	if proof.Code != "" && g.secret == "" {
		return Profile{}, apperr.Invalid(apperr.Field{In: "body", Param: "code", Code: apperr.Unknown, Message: "This service does not accept codes from Google. Send id_token or access_token."})
	}
	if proof.Code != "" {
		token, err := g.calls.exchange(ctx, app{g.ids[0], g.secret, issuer.TokenURL}, proof, googleCallerError)
		if err != nil {
			return Profile{}, err
		}
		proof.AccessToken = token.AccessToken
		proof.IDToken, _ = token.Extra("id_token").(string) // set with the scope openid
	}
	if proof.IDToken != "" {
		return g.ofIDToken(ctx, issuer, proof)
	}
	return g.ofAccessToken(ctx, issuer, proof.AccessToken)
}

// claims are the claims of an ID token and of userinfo (OpenID Connect Core section 5.1).
type claims struct {
	Subject       string `json:"sub"`
	Email         string
	EmailVerified flag `json:"email_verified"`
	Name          string
	Picture       string
}

func (c claims) profile() Profile {
	return Profile{Subject: c.Subject, Email: c.Email, EmailVerified: bool(c.EmailVerified), Name: c.Name, Picture: c.Picture}
}

// flag is a boolean that can be encoded as a string.
type flag bool

// UnmarshalJSON decodes true and "true" as true, and everything else as false.
func (f *flag) UnmarshalJSON(b []byte) error {
	*f = flag(strings.Trim(string(b), `"`) == "true")
	return nil
}

// ofIDToken returns the profile in the ID token of a proof. It verifies the signature, the issuer and the expiry, and that
// the audience has only our clients (OpenID Connect Core section 3.1.3.7). If the token has no email address, and a code was
// exchanged for an access token too, ofIDToken gets the profile from userinfo (section 5.4).
func (g *google) ofIDToken(ctx context.Context, issuer *discovery, proof Proof) (Profile, error) {
	keys := &keyFetchRecorder{KeySet: issuer.keys}
	verifier := oidc.NewVerifier(issuer.IssuerURL, keys, &oidc.Config{
		SkipClientIDCheck:    true, // checked below, with several IDs
		SupportedSigningAlgs: issuer.algorithms(), Now: g.now,
	})
	token, err := verifier.Verify(ctx, proof.IDToken)
	foreign := func(id string) bool { return !slices.Contains(g.ids, id) }
	var c claims
	switch {
	case keys.fetchErr != nil:
		return Profile{}, unavailable(keys.fetchErr)
	case err != nil:
	case len(token.Audience) == 0 || slices.ContainsFunc(token.Audience, foreign):
		err = errors.New("its audience is not only GOOGLE_CLIENT_ID")
	default:
		err = token.Claims(&c)
	}
	if err != nil {
		g.log.WarnContext(ctx, "an ID token of Google's was rejected", "reason", shorten(err.Error()))
		return Profile{}, rejected()
	}
	if c.Email == "" && proof.AccessToken != "" {
		return g.userInfo(ctx, issuer, proof.AccessToken, c.Subject)
	}
	return c.profile(), nil
}

// algorithms returns the asymmetric algorithms with which the issuer signs. Others are not verified with its public keys.
func (d *discovery) algorithms() []string {
	asymmetric := []string{
		oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
	}
	out := slices.DeleteFunc(slices.Clone(d.Algorithms), func(name string) bool { return !slices.Contains(asymmetric, name) })
	if len(out) == 0 {
		return []string{oidc.RS256} // required of every issuer (OpenID Connect Core section 15.1)
	}
	return out
}

// keyFetchRecorder records the error of a KeySet that could not fetch its keys: then the token may be valid. The verifier
// returns that error only as a string. It is the only error of a remote KeySet that wraps another.
type keyFetchRecorder struct {
	oidc.KeySet
	fetchErr error
}

func (r *keyFetchRecorder) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := r.KeySet.VerifySignature(ctx, token)
	r.fetchErr = errors.Unwrap(err)
	return payload, err
}

// ofAccessToken checks with tokeninfo that the token was issued for one of our clients, and gets the profile from userinfo.
func (g *google) ofAccessToken(ctx context.Context, issuer *discovery, token string) (Profile, error) {
	var info struct {
		Audience string `json:"aud"`
		Subject  string `json:"sub"`
	}
	status, err := g.calls.get(ctx, g.tokenInfo+"?"+url.Values{"access_token": {token}}.Encode(), "", &info)
	switch {
	case err != nil:
		return Profile{}, err
	case status == http.StatusBadRequest || status == http.StatusUnauthorized:
		return Profile{}, rejected()
	case status != http.StatusOK || info.Audience == "":
		return Profile{}, unavailable(fmt.Errorf("tokeninfo: status %d, or no audience", status))
	case !slices.Contains(g.ids, info.Audience):
		return Profile{}, rejected()
	}
	return g.userInfo(ctx, issuer, token, info.Subject)
}

// userInfo gets the profile of the subject of an access token (OpenID Connect Core section 5.3).
func (g *google) userInfo(ctx context.Context, issuer *discovery, token, subject string) (Profile, error) {
	var c claims
	status, err := g.calls.get(ctx, issuer.UserInfoURL, token, &c)
	switch {
	case err != nil:
		return Profile{}, err
	case status == http.StatusUnauthorized || status == http.StatusForbidden || subject == "": // revoked, or without the scope openid
		return Profile{}, rejected()
	case status != http.StatusOK || c.Subject != subject:
		return Profile{}, unavailable(fmt.Errorf("userinfo: status %d, or another user than the token's", status))
	}
	return c.profile(), nil
}

// discover returns the discovery document, which it fetches until it succeeds once (OpenID Connect Discovery section 4). The
// issuer in the document may end with a slash.
func (g *google) discover(ctx context.Context) (*discovery, error) {
	if known := g.discovered.Load(); known != nil {
		return known, nil
	}
	var found discovery
	status, err := g.calls.get(ctx, g.issuer+"/.well-known/openid-configuration", "", &found.ProviderConfig)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK || strings.TrimRight(found.IssuerURL, "/") != g.issuer || found.JWKSURL == "" || found.TokenURL == "" || found.UserInfoURL == "" {
		return nil, unavailable(fmt.Errorf("discovery: status %d, another issuer, or an address is missing", status))
	}
	found.keys = oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), g.calls.http), found.JWKSURL)
	g.discovered.CompareAndSwap(nil, &found)
	return g.discovered.Load(), nil
}

// googleCallerError returns an error if the code was rejected; see client.exchange. The codes are from RFC 6749 section 5.2
// and Google's documentation. invalid_request is not the caller's error: the secret is missing.
func googleCallerError(e *oauth2.RetrieveError) error {
	if e.ErrorCode == "invalid_grant" || e.ErrorCode == "redirect_uri_mismatch" {
		return rejected()
	}
	return nil
}
