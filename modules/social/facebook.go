package social

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
)

// FacebookSettings are the settings for Facebook. GraphURL can end with a version of the Graph API, such as /v23.0. Without a
// version, Facebook uses the version in the app's dashboard.
type FacebookSettings struct {
	ID       string `mapstructure:"FACEBOOK_CLIENT_ID" example:"1234567890123456"`
	Secret   string `mapstructure:"FACEBOOK_CLIENT_SECRET" validate:"required_with=ID" example:"0123456789abcdef0123456789abcdef"`
	GraphURL string `mapstructure:"FACEBOOK_GRAPH_URL" default:"https://graph.facebook.com"`
}

// Check implements settings.Checker.
func (c *FacebookSettings) Check(report func(name, reason string)) {
	checkBase("FACEBOOK_GRAPH_URL", &c.GraphURL, report)
}

type facebook struct {
	calls *client
	app   app
	graph string
}

func newFacebook(c FacebookSettings, calls *client) facebook {
	return facebook{calls: calls, app: app{id: c.ID, secret: c.Secret, tokenURL: c.GraphURL + "/oauth/access_token", style: oauth2.AuthStyleInParams}, graph: c.GraphURL}
}

// provider returns the provider for Facebook. The host of the sign-in dialog differs from the host of the Graph API.
func (f facebook) provider() provider {
	dialog := strings.Replace(f.graph, "https://graph.facebook.com", "https://www.facebook.com", 1) + "/dialog/oauth"
	return provider{
		name: "Facebook", clientID: f.app.id, address: f.graph, scopes: []string{"public_profile", "email"},
		authorization: fixedURL(dialog), profile: f.profile,
	}
}

// graphError is an error of the Graph API ("Handle Errors" in its documentation).
type graphError struct{ Code int }

// Error codes caused by the caller.
const (
	graphBadParameter = 100 // an invalid code, or a token of another app
	graphBadRedirect  = 191 // a redirect_uri that is not registered
	graphSession      = 102 // the session of the token has ended
	graphBadToken     = 190
)

// profile returns the profile of the account that the proof identifies; see provider.profile. Facebook returns only verified
// email addresses.
func (f facebook) profile(ctx context.Context, proof Proof) (Profile, error) {
	token, err := f.calls.accessToken(ctx, f.app, proof, graphCallerError)
	if err != nil {
		return Profile{}, err
	}
	userID, err := f.inspect(ctx, token)
	if err != nil {
		return Profile{}, err
	}
	var me struct {
		ID, Name, Email string
		Picture         struct{ Data struct{ URL string } }
		Error           graphError
	}
	status, err := f.get(ctx, "/me", url.Values{
		"fields": {"id,name,email,picture.type(large)"}, "access_token": {token}, "appsecret_proof": {f.proof(token)},
	}, &me)
	switch {
	case err != nil:
		return Profile{}, err
	case me.Error.Code == graphBadToken || me.Error.Code == graphSession:
		return Profile{}, rejected()
	case status != http.StatusOK || me.ID != userID:
		return Profile{}, unavailable(fmt.Errorf("/me: status %d, code %d, or the ID is not the token's user", status, me.Error.Code))
	}
	return Profile{Subject: me.ID, Email: me.Email, EmailVerified: me.Email != "", Name: me.Name, Picture: me.Picture.Data.URL}, nil
}

// inspect checks that the token was issued for our app, and returns the ID of the token's user. See "/debug_token" in the
// documentation of the Graph API; its access_token parameter is an app access token. For an invalid token, the response has data.
// For a token of another app, the response has an error with the code graphBadParameter. Other codes are errors of the request
// itself.
func (f facebook) inspect(ctx context.Context, token string) (userID string, err error) {
	var info struct {
		Data *struct {
			AppID   string `json:"app_id"`
			Type    string
			IsValid bool   `json:"is_valid"`
			UserID  string `json:"user_id"`
		}
		Error graphError
	}
	status, err := f.get(ctx, "/debug_token", url.Values{"input_token": {token}, "access_token": {f.app.id + "|" + f.app.secret}}, &info)
	switch {
	case err != nil:
		return "", err
	case info.Error.Code == graphBadParameter:
		return "", rejected()
	case status != http.StatusOK || info.Data == nil:
		return "", unavailable(fmt.Errorf("/debug_token: status %d, code %d", status, info.Error.Code))
	case !info.Data.IsValid || info.Data.AppID != f.app.id || info.Data.Type != "USER" || info.Data.UserID == "":
		return "", rejected()
	}
	return info.Data.UserID, nil
}

func (f facebook) get(ctx context.Context, path string, query url.Values, into any) (status int, err error) {
	return f.calls.get(ctx, f.graph+path+"?"+query.Encode(), "", into)
}

// proof returns the appsecret_proof of a token ("Securing Graph API Requests" in the documentation).
func (f facebook) proof(token string) string {
	mac := hmac.New(sha256.New, []byte(f.app.secret))
	mac.Write([]byte(token))
	return hex.EncodeToString(mac.Sum(nil))
}

// graphCallerError returns an error if Facebook rejected the authorization code; see client.exchange. The body of e has the error
// format of the Graph API, not the format of OAuth.
func graphCallerError(e *oauth2.RetrieveError) error {
	var response struct{ Error graphError }
	err := json.Unmarshal(e.Body, &response)
	if err == nil && (response.Error.Code == graphBadParameter || response.Error.Code == graphBadRedirect) {
		return rejected()
	}
	return nil
}
