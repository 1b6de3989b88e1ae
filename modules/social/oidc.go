package social

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
)

// OIDCSettings are the settings of a provider in OIDC_PROVIDERS. IDs are the client IDs of all of your apps. Authorization codes
// are exchanged with the first ID and Secret.
type OIDCSettings struct {
	Issuer string   `mapstructure:"OIDC_%s_ISSUER" validate:"required" example:"https://dev-123456.okta.com"`
	IDs    []string `mapstructure:"OIDC_%s_CLIENT_ID" validate:"required" example:"0oa1b2c3d4e5f6g7h8i9"`
	Secret string   `mapstructure:"OIDC_%s_CLIENT_SECRET" validate:"required" example:"0123456789abcdefghijklmnopqrstuvwxyzABCD"`
	Scopes []string `mapstructure:"OIDC_%s_SCOPES" default:"openid,email,profile"`
	Name   string   `mapstructure:"OIDC_%s_NAME" example:"Okta"`
}

// Check implements settings.Checker.
func (c *OIDCSettings) Check(report func(name, reason string)) {
	checkBase("OIDC_%s_ISSUER", &c.Issuer, report)
	if !slices.Contains(c.Scopes, oidc.ScopeOpenID) {
		report("OIDC_%s_SCOPES", "must contain openid")
	}
}

func newOIDC(name string, c OIDCSettings) openID {
	title := strings.ToUpper(name[:1]) + name[1:]
	return openID{name: cmp.Or(c.Name, title), issuer: c.Issuer, ids: c.IDs, secret: c.Secret, scopes: c.Scopes}
}

// openID is the configuration of an OpenID provider, which is built in or listed in OIDC_PROVIDERS.
type openID struct {
	name   string // display name
	issuer string // without a slash at the end
	ids    []string
	secret string
	scopes []string // scopes of an authorization request; nil means openid email profile

	// The following fields describe deviations from the standard.
	newSecret          func() (string, error) // creates the client secret; nil: secret is the client secret
	tokenInfo          string                 // URL that returns the client ID of an access token; "" if the provider has none
	authorizationQuery string                 // additional query of the authorization URL
	pkce               bool                   // PKCE is supported although the discovery document does not say so
	unverified         bool                   // the provider does not verify email addresses
	// isIssuer reports whether the issuer in the discovery document belongs to the provider. nil: the issuer in the document,
	// without slashes at the end, must equal the field issuer.
	isIssuer func(discovered string) bool
	// tokenIssuer returns the issuer that an ID token must have. nil: an ID token must have the issuer in the discovery document.
	tokenIssuer func(discovered string, c claims) string
}

// openIDClient signs in with an OpenID provider. It takes the URLs from the discovery document of the issuer.
type openIDClient struct {
	openID
	environment
	fetches    singleflight.Group
	discovered atomic.Pointer[discovery]
	failed     atomic.Pointer[failure]
}

// discovery has the discovery document and the keys of an issuer.
type discovery struct {
	oidc.ProviderConfig
	AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
	PKCEMethods []string `json:"code_challenge_methods_supported"`
	keys        oidc.KeySet
}

// failure is a failed request for the discovery document.
type failure struct {
	at  time.Time
	err error
}

// openID returns the provider that o describes.
func (e environment) openID(o openID) provider {
	if o.scopes == nil {
		o.scopes = []string{oidc.ScopeOpenID, oidc.ScopeEmail, oidc.ScopeProfile}
	}
	c := &openIDClient{openID: o, environment: e}
	p := provider{
		name: o.name, address: o.issuer, isOpenID: true, unverified: o.unverified, scopes: o.scopes,
		authorization: c.authorization, profile: c.profile,
	}
	if len(o.ids) > 0 {
		p.clientID = o.ids[0]
	}
	return p
}

func (o *openIDClient) authorization(ctx context.Context) (address string, pkce bool, err error) {
	issuer, err := o.discover(ctx)
	if err != nil {
		return "", false, err
	}
	address = issuer.AuthURL
	if o.authorizationQuery != "" {
		address += "?" + o.authorizationQuery
	}
	return address, o.pkce || slices.Contains(issuer.PKCEMethods, "S256"), nil
}

func (o *openIDClient) profile(ctx context.Context, proof Proof) (Profile, error) {
	switch {
	case proof.Code != "" && o.secret == "" && o.newSecret == nil:
		return Profile{}, unsupported("code", "This service does not accept codes of this provider. Send id_token.")
	case proof.AccessToken != "" && o.tokenInfo == "":
		return Profile{}, unsupported("access_token", "Is not accepted for this provider, because the service cannot verify which app the token was issued to. Send id_token, or code with redirect_uri.")
	}
	issuer, err := o.discover(ctx)
	if err != nil {
		return Profile{}, err
	}
	if proof.Code != "" {
		if proof, err = o.exchange(ctx, issuer, proof); err != nil {
			return Profile{}, err
		}
	}
	var c claims
	if proof.IDToken != "" {
		c, err = o.ofIDToken(ctx, issuer, proof)
	} else {
		c, err = o.ofAccessToken(ctx, issuer, proof.AccessToken)
	}
	return Profile{Subject: c.Subject, Email: c.Email, EmailVerified: bool(c.EmailVerified) && !o.unverified, Name: c.Name, Picture: c.Picture}, err
}

// exchange exchanges the code of a proof for tokens, and returns a proof with the tokens.
func (o *openIDClient) exchange(ctx context.Context, issuer *discovery, proof Proof) (Proof, error) {
	a := app{id: o.ids[0], secret: o.secret, tokenURL: issuer.TokenURL, style: issuer.authStyle()}
	if o.newSecret != nil {
		var err error
		if a.secret, err = o.newSecret(); err != nil {
			return Proof{}, err
		}
	}
	token, err := o.calls.exchange(ctx, a, proof, openIDCallerError)
	if err != nil {
		return Proof{}, err
	}
	idToken, _ := token.Extra("id_token").(string) // set if the authorization request had the scope openid
	if idToken == "" && o.tokenInfo == "" {
		return Proof{}, o.reject(ctx, errors.New("the token response has no ID token; the authorization request needs the scope openid"))
	}
	return Proof{AccessToken: token.AccessToken, IDToken: idToken}, nil
}

// authStyle returns how a client authenticates: with client_secret_post if the issuer supports it, otherwise with
// client_secret_basic, which is the default of the standard (OpenID Connect Discovery section 3).
func (d *discovery) authStyle() oauth2.AuthStyle {
	if slices.Contains(d.AuthMethods, "client_secret_post") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// reject logs why a sign-in is rejected, and returns the error for the caller.
func (o *openIDClient) reject(ctx context.Context, reason error) error {
	o.log.WarnContext(ctx, "a sign-in was rejected", "provider", o.name, "reason", shorten(reason.Error()))
	return rejected()
}

// claims are the claims of an ID token or of a userinfo response (OpenID Connect Core section 5.1).
type claims struct {
	Subject       string `json:"sub"`
	Email         string
	EmailVerified flag `json:"email_verified"`
	Name          string
	Picture       string
	Tenant        string `json:"tid"` // Microsoft's ID of the tenant
}

// flag is a boolean that can be encoded as a string.
type flag bool

// UnmarshalJSON decodes true and "true" as true, and everything else as false.
func (f *flag) UnmarshalJSON(b []byte) error {
	*f = flag(strings.Trim(string(b), `"`) == "true")
	return nil
}

// ofIDToken returns the claims of the proof's ID token. If the ID token has no email address and the proof also has an access
// token, ofIDToken gets the claims from the userinfo endpoint (OpenID Connect Core section 5.4).
func (o *openIDClient) ofIDToken(ctx context.Context, issuer *discovery, proof Proof) (claims, error) {
	keys := &keyFetchRecorder{KeySet: issuer.keys}
	c, err := o.verify(ctx, issuer, keys, proof.IDToken)
	switch {
	case keys.fetchErr != nil:
		return claims{}, unavailable(keys.fetchErr)
	case err != nil:
		return claims{}, o.reject(ctx, err)
	case c.Email == "" && proof.AccessToken != "" && issuer.UserInfoURL != "":
		return o.userInfo(ctx, issuer, proof.AccessToken, c.Subject)
	}
	return c, nil
}

// verify returns the claims of an ID token. It verifies the signature, the issuer and the expiry, and that the audience contains
// only our client IDs (OpenID Connect Core section 3.1.3.7).
func (o *openIDClient) verify(ctx context.Context, issuer *discovery, keys oidc.KeySet, idToken string) (c claims, err error) {
	token, err := oidc.NewVerifier(issuer.IssuerURL, keys, &oidc.Config{
		SkipIssuerCheck:      o.tokenIssuer != nil, // checked below
		SkipClientIDCheck:    true,                 // checked below, with several IDs
		SupportedSigningAlgs: issuer.algorithms(), Now: o.now,
	}).Verify(ctx, idToken)
	if err != nil {
		return claims{}, err
	}
	if err := token.Claims(&c); err != nil {
		return claims{}, err
	}
	foreign := func(id string) bool { return !slices.Contains(o.ids, id) }
	switch {
	case o.tokenIssuer != nil && token.Issuer != o.tokenIssuer(issuer.IssuerURL, c):
		return claims{}, errors.New("the issuer does not belong to the tenant in tid")
	case len(token.Audience) == 0 || slices.ContainsFunc(token.Audience, foreign):
		return claims{}, errors.New("the audience is empty, or contains an ID that is not a client ID in the settings")
	case c.Subject == "":
		return claims{}, errors.New("sub is missing")
	}
	return c, nil
}

// algorithms returns the asymmetric algorithms with which the issuer signs. Public keys cannot verify signatures of other
// algorithms.
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

// keyFetchRecorder records the error if a KeySet cannot fetch its keys: then the provider is unavailable, and the token may be
// valid. The error that the verifier returns does not wrap the error of the KeySet. A remote KeySet wraps another error only if
// it failed to fetch its keys.
type keyFetchRecorder struct {
	oidc.KeySet
	fetchErr error
}

func (r *keyFetchRecorder) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := r.KeySet.VerifySignature(ctx, token)
	r.fetchErr = errors.Unwrap(err)
	return payload, err
}

// ofAccessToken checks at the tokeninfo endpoint that the token was issued for one of our clients. It gets the claims from the
// userinfo endpoint.
func (o *openIDClient) ofAccessToken(ctx context.Context, issuer *discovery, token string) (claims, error) {
	var info struct {
		Audience string `json:"aud"`
		Subject  string `json:"sub"`
	}
	status, err := o.calls.get(ctx, o.tokenInfo+"?"+url.Values{"access_token": {token}}.Encode(), "", &info)
	switch {
	case err != nil:
		return claims{}, err
	case status == http.StatusBadRequest || status == http.StatusUnauthorized:
		return claims{}, rejected()
	case status != http.StatusOK || info.Audience == "":
		return claims{}, unavailable(fmt.Errorf("tokeninfo: status %d, or the audience is missing", status))
	case !slices.Contains(o.ids, info.Audience):
		return claims{}, rejected()
	}
	return o.userInfo(ctx, issuer, token, info.Subject)
}

// userInfo gets the claims of an access token's subject from the userinfo endpoint (OpenID Connect Core section 5.3).
func (o *openIDClient) userInfo(ctx context.Context, issuer *discovery, token, subject string) (claims, error) {
	var c claims
	status, err := o.calls.get(ctx, issuer.UserInfoURL, token, &c)
	switch {
	case err != nil:
		return claims{}, err
	case status == http.StatusUnauthorized || status == http.StatusForbidden || subject == "": // revoked, or without the scope openid
		return claims{}, rejected()
	case status != http.StatusOK || c.Subject != subject:
		return claims{}, unavailable(fmt.Errorf("userinfo: status %d, or the subject is not the token's user", status))
	}
	return c, nil
}

// retryDiscovery is the minimum time between a failed request for the discovery document and the next request. The
// route GET /auth/providers causes such requests, and has no rate limit.
const retryDiscovery = 5 * time.Second

// discover returns the discovery document, and keeps the document for later calls. Concurrent calls share one request, which
// continues even if the context of the first caller ends.
func (o *openIDClient) discover(ctx context.Context) (*discovery, error) {
	if known := o.discovered.Load(); known != nil {
		return known, nil
	}
	if failed := o.failed.Load(); failed != nil && o.now().Sub(failed.at) < retryDiscovery {
		return nil, failed.err
	}
	fetched := o.fetches.DoChan("", func() (any, error) {
		found, err := o.fetch(context.WithoutCancel(ctx))
		if err != nil {
			o.log.Warn("a provider is unavailable, and is not listed", "provider", o.name, "error", err)
			o.failed.Store(&failure{o.now(), err})
			return nil, err
		}
		o.discovered.Store(found)
		return found, nil
	})
	select {
	case <-ctx.Done():
		return nil, unavailable(ctx.Err())
	case result := <-fetched:
		found, _ := result.Val.(*discovery)
		return found, result.Err
	}
}

// fetch fetches the discovery document (OpenID Connect Discovery section 4). The issuer in the document may end with an
// additional slash.
func (o *openIDClient) fetch(ctx context.Context) (*discovery, error) {
	var found discovery
	status, err := o.calls.get(ctx, o.issuer+"/.well-known/openid-configuration", "", &found)
	if err != nil {
		return nil, err
	}
	isIssuer := o.isIssuer
	if isIssuer == nil {
		isIssuer = func(discovered string) bool { return strings.TrimRight(discovered, "/") == o.issuer }
	}
	if status != http.StatusOK || !isIssuer(found.IssuerURL) || found.JWKSURL == "" || found.TokenURL == "" || found.AuthURL == "" {
		return nil, unavailable(fmt.Errorf("discovery: status %d, or the issuer is wrong, or an address is missing", status))
	}
	keysClient := *o.calls.http
	keysClient.Transport = knownKeys{keysClient.Transport}
	found.keys = oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), &keysClient), found.JWKSURL)
	return &found, nil
}

// knownKeys is the transport for key sets. It removes keys of unknown types and malformed keys (RFC 7517 section 5), because
// a single key of these kinds can make go-oidc reject the whole key set.
type knownKeys struct{ base http.RoundTripper }

func (t knownKeys) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(body, &set) == nil && set.Keys != nil {
		set.Keys = slices.DeleteFunc(set.Keys, func(raw json.RawMessage) bool { return json.Unmarshal(raw, new(jose.JSONWebKey)) != nil })
		if body, err = json.Marshal(set); err != nil {
			return nil, err
		}
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, nil
}

// openIDCallerError returns an error if the provider rejected the authorization code; see client.exchange. The error codes are
// from RFC 6749 section 5.2 and Google's documentation. invalid_request is not an error of the caller: it means that the client
// secret is missing.
func openIDCallerError(e *oauth2.RetrieveError) error {
	if e.ErrorCode == "invalid_grant" || e.ErrorCode == "redirect_uri_mismatch" {
		return rejected()
	}
	return nil
}
