package social

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"

	"example.com/ginseng/kit/apperr"
)

// provider is an identity provider.
type provider interface {
	// profile tells whose account a proof is of. Unauthorized: the provider does not accept it, or gave it to somebody
	// else's client. ValidationFailed: the provider has no such kind of proof. Unavailable: the provider does not answer
	// as it should.
	profile(ctx context.Context, proof Proof) (Profile, error)
}

const (
	patience  = 5 * time.Second // for all calls of one sign-in
	maxAnswer = 1 << 20         // bytes
	maxHeader = 64 << 10        // bytes of an answer's header
	maxConns  = 64              // to one provider at a time; the idle ones are kept for the next sign-in
	maxCause  = 300             // bytes of a cause that go to the log
)

// client calls providers. It follows no redirect, which could carry a token elsewhere.
type client struct{ http *http.Client }

// newClient makes a client whose calls end after the timeout, also those that outlive a sign-in.
func newClient(timeout time.Duration) *client {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxConnsPerHost, base.MaxIdleConnsPerHost, base.MaxResponseHeaderBytes = maxConns, maxConns, maxHeader
	return &client{&http.Client{
		Transport:     transport{base},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       timeout,
	}}
}

// transport bounds what is answered, also where a library reads it.
type transport struct{ base http.RoundTripper }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.base.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
		answer.Header.Del("Location") // it is not followed, and where it cannot be read the error would quote it
	}
	return answer, err
}

// get asks an address, with a token in the header unless it is empty.
func (c *client) get(ctx context.Context, address, token string, into any) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, away(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return c.do(r, into)
}

// do makes a call and reads the JSON of its answer. The status is one of success, for which there was JSON, or of a
// refusal, for which there may have been. Unavailable: anything else.
func (c *client) do(r *http.Request, into any) (status int, err error) {
	answer, err := c.http.Do(r)
	if err != nil {
		return 0, away(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, away(err)
	}
	success, refusal := answer.StatusCode/100 == 2, answer.StatusCode/100 == 4
	if !success && !refusal || isBusy(answer) {
		return 0, awayWith(answer.StatusCode)
	}
	if err := json.Unmarshal(body, into); err != nil && success {
		return 0, away(err)
	}
	return answer.StatusCode, nil
}

// isBusy reports whether a provider asks to come again later. GitHub does so with 403, too ("Rate limits for the REST
// API" in its documentation).
func isBusy(answer *http.Response) bool {
	header := answer.Header
	return answer.StatusCode == http.StatusTooManyRequests ||
		answer.StatusCode == http.StatusForbidden && (header.Get("Retry-After") != "" || header.Get("X-RateLimit-Remaining") == "0")
}

// app is this service's client at a provider, for which the provider issues codes.
type app struct{ id, secret, tokenURL string }

// exchange trades a proof's code for a token (RFC 6749 section 4.1.3, RFC 7636 section 4.5). The function makes
// of an error of the provider that blames the code or the account what the caller is told; nil: it blames us.
func (c *client) exchange(ctx context.Context, a app, proof Proof, blames func(*oauth2.RetrieveError) error) (*oauth2.Token, error) {
	config := oauth2.Config{
		ClientID: a.id, ClientSecret: a.secret, RedirectURL: proof.RedirectURI,
		Endpoint: oauth2.Endpoint{TokenURL: a.tokenURL, AuthStyle: oauth2.AuthStyleInParams},
	}
	var options []oauth2.AuthCodeOption
	if proof.CodeVerifier != "" {
		options = append(options, oauth2.VerifierOption(proof.CodeVerifier))
	}
	token, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, c.http), proof.Code, options...)
	var refusal *oauth2.RetrieveError
	switch {
	case err == nil:
		return token, nil
	case !errors.As(err, &refusal):
		return nil, away(err)
	}
	if refusal.Response.StatusCode < http.StatusInternalServerError && !isBusy(refusal.Response) {
		if told := blames(refusal); told != nil {
			return nil, told
		}
	}
	return nil, away(fmt.Errorf("the code is not exchanged: status %d, %q", refusal.Response.StatusCode, refusal.ErrorCode))
}

// accessToken is the proof's, or the one that its code is exchanged for, at a provider without ID tokens.
func (c *client) accessToken(ctx context.Context, a app, proof Proof, blames func(*oauth2.RetrieveError) error) (string, error) {
	if proof.IDToken != "" {
		return "", apperr.Invalid(apperr.Field{In: "body", Param: "id_token", Code: apperr.Unknown, Message: "This provider has none. Send access_token, or code with redirect_uri."})
	}
	if proof.Code == "" {
		return proof.AccessToken, nil
	}
	token, err := c.exchange(ctx, a, proof, blames)
	if err != nil {
		return "", err
	}
	return token.AccessToken, nil
}

// refused is the Unauthorized of a proof that a provider does not accept. It does not say why.
func refused() error {
	return apperr.New(apperr.Unauthorized, "The provider's token or code was not accepted.")
}

// away is the Unavailable of a provider that does not answer as it should. The cause is for the log and must hold no
// token: the text of a *url.Error has the address with its query, and libraries quote what they could not read.
func away(cause error) error {
	var withAddress *url.Error
	if errors.As(cause, &withAddress) {
		cause = withAddress.Err
	}
	if text := cause.Error(); len(text) > maxCause {
		cause = errors.New(text[:maxCause])
	}
	return apperr.New(apperr.Unavailable, "The provider does not answer as it should at the moment. Try again in a few seconds.").WithCause(cause)
}

// awayWith is away for a status that was not to be expected.
func awayWith(status int) error {
	return away(fmt.Errorf("the provider answered with status %d", status))
}
