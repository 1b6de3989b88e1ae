package social

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"golang.org/x/oauth2"

	"example.com/ginseng/kit/apperr"
)

// GitHubSettings are the settings for GitHub. For GitHub Enterprise Server the URLs are https://HOST and
// https://HOST/api/v3.
type GitHubSettings struct {
	ID     string `mapstructure:"GITHUB_CLIENT_ID" example:"Iv1.0123456789abcdef"`
	Secret string `mapstructure:"GITHUB_CLIENT_SECRET" validate:"required_with=ID" example:"0123456789abcdef0123456789abcdef01234567"`
	URL    string `mapstructure:"GITHUB_URL" default:"https://github.com"`
	APIURL string `mapstructure:"GITHUB_API_URL" default:"https://api.github.com"`
}

// Check implements settings.Checker.
func (c *GitHubSettings) Check(report func(name, reason string)) {
	checkBase("GITHUB_URL", &c.URL, report)
	checkBase("GITHUB_API_URL", &c.APIURL, report)
}

// github is an OAuth app, or a GitHub App with permission to read email addresses.
type github struct {
	calls    *client
	app      app
	url, api string
}

func newGitHub(c GitHubSettings, calls *client) github {
	a := app{id: c.ID, secret: c.Secret, tokenURL: c.URL + "/login/oauth/access_token", style: oauth2.AuthStyleInParams}
	return github{calls: calls, app: a, url: c.URL, api: c.APIURL}
}

func (g github) provider() provider {
	return provider{
		name: "GitHub", clientID: g.app.id, address: g.api, scopes: []string{"read:user", "user:email"},
		authorization: fixedURL(g.url + "/login/oauth/authorize"), profile: g.profile,
	}
}

func (g github) profile(ctx context.Context, proof Proof) (Profile, error) {
	token, err := g.calls.accessToken(ctx, g.app, proof, githubCallerError)
	if err != nil {
		return Profile{}, err
	}
	if err := g.check(ctx, token); err != nil {
		return Profile{}, err
	}
	var user struct {
		ID        int64
		Login     string
		Name      string
		AvatarURL string `json:"avatar_url"`
	}
	status, err := g.calls.get(ctx, g.api+"/user", token, &user)
	switch {
	case err != nil:
		return Profile{}, err
	case status != http.StatusOK: // the token was revoked in the meantime, or the account is suspended
		return Profile{}, rejected()
	case user.ID == 0:
		return Profile{}, unavailable(errors.New("/user: the response has no user ID"))
	}
	email, verified, err := g.email(ctx, token)
	return Profile{
		Subject: strconv.FormatInt(user.ID, 10), Email: email, EmailVerified: verified,
		Name: cmp.Or(user.Name, user.Login), Picture: user.AvatarURL,
	}, err
}

// check checks that the token was issued for our app (see "Check a token" in the documentation of GitHub's REST API). GitHub
// responds with 404 to an invalid token or a token of another app, and with 401 to a wrong client ID or secret.
func (g github) check(ctx context.Context, token string) error {
	body, err := json.Marshal(map[string]string{"access_token": token})
	if err != nil {
		return err
	}
	address := g.api + "/applications/" + url.PathEscape(g.app.id) + "/token"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return unavailable(err)
	}
	r.SetBasicAuth(g.app.id, g.app.secret)
	r.Header.Set("Content-Type", "application/json")
	var grant struct {
		App struct {
			ClientID string `json:"client_id"`
		}
	}
	switch status, err := g.calls.do(r, &grant); {
	case err != nil:
		return err
	case status == http.StatusNotFound || status == http.StatusUnprocessableEntity:
		return rejected()
	case status != http.StatusOK:
		return unavailable(fmt.Errorf("the provider responded with status %d", status))
	case grant.App.ClientID == "":
		return unavailable(errors.New("/applications: the response has no client ID"))
	case grant.App.ClientID != g.app.id:
		return rejected()
	}
	return nil
}

// email returns the primary address, and whether GitHub has verified the address. address is "" if the user has not granted the
// scope "user:email".
func (g github) email(ctx context.Context, token string) (address string, verified bool, err error) {
	var emails []struct {
		Email             string
		Primary, Verified bool
	}
	status, err := g.calls.get(ctx, g.api+"/user/emails?per_page=100", token, &emails)
	if err != nil {
		return "", false, err
	}
	if status == http.StatusUnauthorized {
		return "", false, rejected()
	}
	for _, e := range emails {
		if e.Primary {
			return e.Email, e.Verified, nil
		}
	}
	return "", false, nil
}

// githubCallerError returns an error if GitHub rejected the authorization code or the account; see client.exchange. The error
// codes are from "Troubleshooting OAuth app access token request errors" in GitHub's documentation.
func githubCallerError(e *oauth2.RetrieveError) error {
	switch e.ErrorCode {
	case "bad_verification_code", "redirect_uri_mismatch":
		return rejected()
	case "unverified_user_email":
		return apperr.New(apperr.Conflict, "GitHub issues no token for an account whose primary email address is not verified. Verify the address at GitHub, and sign in again.")
	}
	return nil
}
