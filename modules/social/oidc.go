package social

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
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
	// tokenIssuer returns the issuer that an ID token must have, or "" if the ID token is invalid. nil: an ID token must have the
	// issuer in the discovery document.
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
	exchanged := proof.Code != ""
	if exchanged {
		if proof, err = o.exchange(ctx, issuer, proof); err != nil {
			return Profile{}, err
		}
	}
	var c claims
	var token idToken
	if proof.IDToken != "" {
		c, token, err = o.ofIDToken(ctx, issuer, proof)
	} else {
		c, err = o.ofAccessToken(ctx, issuer, proof.AccessToken)
	}
	if err != nil {
		return Profile{}, err
	}
	p := Profile{Subject: c.Subject, Email: c.Email, EmailVerified: bool(c.EmailVerified) && !o.unverified, Name: c.Name, Picture: c.Picture}
	if !exchanged { // an ID token from an exchange is known only to this service
		p.token = token
	}
	return p, nil
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
	if idToken == "" && (o.tokenInfo == "" || proof.Nonce != "") {
		return Proof{}, o.reject(ctx, errors.New("the token response has no ID token; the authorization request needs the scope openid"))
	}
	return Proof{AccessToken: token.AccessToken, IDToken: idToken, Nonce: proof.Nonce}, nil
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

// ofAccessToken checks at the tokeninfo endpoint that the token was issued for one of our clients. It gets the claims from the
// userinfo endpoint.
func (o *openIDClient) ofAccessToken(ctx context.Context, issuer *discovery, token string) (claims, error) {
	var info struct {
		Audience   string `json:"aud"`
		Authorized string `json:"azp"`
		Subject    string `json:"sub"`
	}
	status, err := o.calls.get(ctx, o.tokenInfo+"?"+url.Values{"access_token": {token}}.Encode(), "", &info)
	switch {
	case err != nil:
		return claims{}, err
	case status == http.StatusBadRequest || status == http.StatusUnauthorized:
		return claims{}, rejected()
	case status != http.StatusOK || info.Audience == "":
		return claims{}, unavailable(fmt.Errorf("tokeninfo: status %d, or the audience is missing", status))
	case !slices.Contains(o.ids, info.Audience) || info.Authorized != "" && !slices.Contains(o.ids, info.Authorized):
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
// additional slash. All URLs in the document must have the scheme of the issuer: a document must not lead pages to a javascript:
// URL, nor requests to an unencrypted one.
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
	for _, endpoint := range []string{found.AuthURL, found.TokenURL, found.JWKSURL, cmp.Or(found.UserInfoURL, o.issuer)} {
		if !hasSchemeOf(endpoint, o.issuer) {
			return nil, unavailable(fmt.Errorf("discovery: an address does not have the scheme of the issuer: %s", shorten(endpoint)))
		}
	}
	keysClient := *o.calls.http
	keysClient.Transport = &keySets{base: keysClient.Transport, now: o.now}
	found.keys = oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), &keysClient), found.JWKSURL)
	return &found, nil
}

// hasSchemeOf reports whether both URLs have a host and the same scheme.
func hasSchemeOf(address, issuer string) bool {
	a, err := url.Parse(address)
	b, issuerErr := url.Parse(issuer)
	return err == nil && issuerErr == nil && a.Host != "" && b.Host != "" && a.Scheme == b.Scheme
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
