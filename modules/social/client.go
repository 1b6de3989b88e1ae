package social

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"example.com/ginseng/kit/apperr"
)

// provider is an identity provider.
type provider struct {
	name       string   // display name
	clientID   string   // client ID of web apps; "" if the provider is not configured
	address    string   // base URL of the provider's API
	isOpenID   bool     // an OpenID provider, not only an OAuth 2.0 server
	unverified bool     // the provider does not verify email addresses: a new user has an unverified address
	scopes     []string // scopes of an authorization request
	// authorization returns the authorization URL, and whether the provider supports PKCE. Unavailable: the provider failed.
	authorization func(ctx context.Context) (address string, pkce bool, err error)
	// profile returns the profile of the account that the proof identifies. Unauthorized: the provider rejects the proof, or
	// issued the proof to another client. ValidationFailed: the provider does not support this kind of proof. Conflict: the
	// provider issues no token for the account. Unavailable: the provider failed.
	profile func(ctx context.Context, proof Proof) (Profile, error)
}

// environment has the dependencies of providers.
type environment struct {
	calls *client
	log   *slog.Logger
	now   func() time.Time
}

const (
	providerTimeout = 5 * time.Second // time limit for each request, and for all requests of a sign-in together
	maxBody         = 1 << 20         // maximum bytes of a response
	maxCause        = 300             // maximum bytes of an error in the log
)

// client sends requests to providers. It does not follow redirects, which could send a token elsewhere.
type client struct{ http *http.Client }

// newClient returns a client with a timeout per request.
func newClient(base http.RoundTripper, timeout time.Duration) *client {
	return &client{&http.Client{
		Transport:     transport{base},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       timeout,
	}}
}

// transport limits the size of all responses, including responses that a library reads.
type transport struct{ base http.RoundTripper }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.base.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxBody)
		response.Header.Del("Location") // redirects are not followed; an error about a malformed Location would quote the URL
	}
	return response, err
}

// get sends a GET request with do. If token is not "", the Authorization header has the token.
func (c *client) get(ctx context.Context, address, token string, into any) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, unavailable(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return c.do(r, into)
}

// do sends a request and decodes the JSON of the response into the value that into points to. The returned status is 2xx or 4xx.
// A 4xx response need not contain JSON. Unavailable: the provider did not respond, asked to try again later, or responded with
// another status, or a 2xx response has no valid JSON.
func (c *client) do(r *http.Request, into any) (status int, err error) {
	response, err := c.http.Do(r)
	if err != nil {
		return 0, unavailable(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, unavailable(err)
	}
	success, rejection := response.StatusCode/100 == 2, response.StatusCode/100 == 4
	if !success && !rejection || isBusy(response) {
		return 0, unavailable(fmt.Errorf("the provider responded with status %d", response.StatusCode))
	}
	if err := json.Unmarshal(body, into); err != nil && success {
		return 0, unavailable(err)
	}
	return response.StatusCode, nil
}

// isBusy reports whether a provider asks to try again later. GitHub also uses the status 403 ("Rate limits for the REST API" in
// GitHub's documentation).
func isBusy(response *http.Response) bool {
	header := response.Header
	return response.StatusCode == http.StatusTooManyRequests ||
		response.StatusCode == http.StatusForbidden && (header.Get("Retry-After") != "" || header.Get("X-RateLimit-Remaining") == "0")
}

// app is this service's registration at a provider.
type app struct {
	id, secret, tokenURL string
	style                oauth2.AuthStyle
}

// exchange exchanges a code for a token (RFC 6749 section 4.1.3, RFC 7636 section 4.5). If the provider rejects the request with
// a status below 500 (GitHub uses 200) and is not busy, exchange calls callerError. callerError returns nil if neither the code
// nor the account is the cause. Otherwise, exchange returns the error of callerError. All other errors are Unavailable.
func (c *client) exchange(ctx context.Context, a app, proof Proof, callerError func(*oauth2.RetrieveError) error) (*oauth2.Token, error) {
	config := oauth2.Config{
		ClientID: a.id, ClientSecret: a.secret, RedirectURL: proof.RedirectURI,
		Endpoint: oauth2.Endpoint{TokenURL: a.tokenURL, AuthStyle: a.style},
	}
	var options []oauth2.AuthCodeOption
	if proof.CodeVerifier != "" {
		options = append(options, oauth2.VerifierOption(proof.CodeVerifier))
	}
	token, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, c.http), proof.Code, options...)
	var rejection *oauth2.RetrieveError
	switch {
	case err == nil:
		return token, nil
	case !errors.As(err, &rejection):
		return nil, unavailable(err)
	}
	if rejection.Response.StatusCode < http.StatusInternalServerError && !isBusy(rejection.Response) {
		if err := callerError(rejection); err != nil {
			return nil, err
		}
	}
	return nil, unavailable(fmt.Errorf("the code was not exchanged: status %d, %q", rejection.Response.StatusCode, rejection.ErrorCode))
}

// accessToken returns the access token of a proof for a provider without ID tokens. If the proof has a code, accessToken
// exchanges the code for a token. For callerError, see exchange.
func (c *client) accessToken(ctx context.Context, a app, proof Proof, callerError func(*oauth2.RetrieveError) error) (string, error) {
	if proof.IDToken != "" {
		return "", unsupported("id_token", "This provider has no ID tokens. Send access_token, or code with redirect_uri.")
	}
	if proof.Nonce != "" {
		return "", unsupported("nonce", "This provider has no ID tokens. Omit nonce.")
	}
	if proof.Code == "" {
		return proof.AccessToken, nil
	}
	token, err := c.exchange(ctx, a, proof, callerError)
	if err != nil {
		return "", err
	}
	return token.AccessToken, nil
}

func unsupported(param, message string) error {
	return apperr.Invalid(apperr.Field{In: "body", Param: param, Code: apperr.Unknown, Message: message})
}

// rejected returns the error for a proof that a provider rejects. The error does not reveal the reason.
func rejected() error {
	return apperr.New(apperr.Unauthorized, "The provider rejected the token or code.")
}

// unavailable returns the error for a provider that fails. The cause is logged, so the cause must not contain a token.
// unavailable removes the URL of a *url.Error. It also shortens a long message, because the message may quote a response.
func unavailable(cause error) error {
	var withAddress *url.Error
	if errors.As(cause, &withAddress) {
		cause = withAddress.Err
	}
	if message := cause.Error(); len(message) > maxCause {
		cause = errors.New(shorten(message))
	}
	return apperr.New(apperr.Unavailable, "The provider is unavailable or failed. Try again in a few seconds.").WithCause(cause)
}

// shorten returns the first maxCause bytes of a message for the log.
func shorten(message string) string {
	return strings.ToValidUTF8(message[:min(len(message), maxCause)], "")
}

// fixedURL returns provider.authorization for a provider that supports PKCE and has a fixed authorization URL.
func fixedURL(address string) func(context.Context) (string, bool, error) {
	return func(context.Context) (string, bool, error) { return address, true, nil }
}
