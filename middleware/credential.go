package middleware

import (
	"cmp"
	"context"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
)

// caller verifies the credential of the request. If the credential is an API key, caller also checks that the route accepts the
// key. given reports whether the request has a credential. For inBody, see optional. For a request of route.Table.Call, the caller
// is the one that was passed to Call; a credential in the body is then an error.
func (a Authenticator) caller(g *gin.Context, inBody bool) (p access.Principal, given bool, err error) {
	token, given, err := a.credential(g, inBody)
	if p, inProcess := route.CalledBy(g); inProcess && err == nil {
		if given {
			return p, true, invalidCredential("body", apperr.FieldConflict, "Must not be in the body of an operation.")
		}
		return p, p.Master || p.IsUser(), a.route.CheckKey(p)
	}
	if err != nil || !given {
		return p, given, err
	}
	p, err = a.verify(g, token)
	if err == nil {
		err = a.route.CheckKey(p)
	}
	return p, true, err
}

// Verify checks the user token or API key of an accepted request again. ctx can be the context of a transaction. Unauthorized:
// the credential is no longer valid. Verify also returns the error of a restriction that does not allow the request.
func (a Authenticator) Verify(ctx context.Context, g *gin.Context) (access.Principal, error) {
	a.route = cmp.Or(a.route, &route.Route{}) // without Handler, the route is unknown: check as for a route that does not accept restricted users
	token, _, err := a.credential(g, true)
	if err != nil {
		return access.Principal{}, err
	}
	caller, err := a.verifyUser(ctx, access.Client{}, token)
	if err == nil {
		err = (&route.Route{Method: g.Request.Method, Restricted: a.route.Restricted, Read: a.route.Read}).CheckRestriction(caller)
	}
	return caller, err
}

// verify returns the caller whose credential is token: the master key, a user token or an API key. Unauthorized: token is none of
// these.
func (a Authenticator) verify(g *gin.Context, token string) (access.Principal, error) {
	if a.Keys.Match(token) {
		return access.Principal{Master: true}, nil
	}
	return a.verifyUser(g.Request.Context(), rest.Client(g), token)
}

// verifyUser returns the caller whose credential is token: a user token or an API key. Unauthorized: token is neither.
func (a Authenticator) verifyUser(ctx context.Context, client access.Client, token string) (access.Principal, error) {
	switch {
	case a.APIKeys != nil && strings.HasPrefix(token, access.KeyPrefix):
		return a.APIKeys.VerifyKey(ctx, client, token)
	case a.Tokens != nil:
		return a.Tokens.VerifyToken(ctx, token)
	}
	return access.Principal{}, access.InvalidToken()
}

// credential returns the credential in the body, the query string or the header. given reports whether there is a credential.
// ValidationFailed: there are credentials with different values (RFC 6750 section 2), or access_token in the body is not exactly
// one string.
func (a Authenticator) credential(g *gin.Context, inBody bool) (token string, given bool, err error) {
	type sent struct{ in, token string }
	var all []sent
	if inBody && a.route.Raw == 0 {
		params, _ := rest.Body(g) // admit has already returned the error
		if params.Has(rest.Credential) {
			values := params.Strings(rest.Credential)
			if len(values) != 1 {
				return "", false, invalidCredential("body", apperr.Type, "Must be a string, given once.")
			}
			all = append(all, sent{"body", values[0]})
		}
	}
	if a.QueryTokens {
		for _, value := range rest.Query(g)[rest.Credential] {
			all = append(all, sent{"query", value})
		}
	}
	for _, value := range bearer(g) {
		all = append(all, sent{"header", value})
	}
	for i, s := range all {
		value := strings.TrimSpace(s.token)
		if i > 0 && value != token {
			return "", false, errTwoCredentials(s.in)
		}
		token = value
	}
	return token, len(all) > 0, nil
}

func errTwoCredentials(in string) error {
	param := rest.Credential
	if in == "header" {
		param = "Authorization"
	}
	return apperr.Invalid(apperr.Field{In: in, Param: param, Code: apperr.FieldConflict, Message: "Is given twice with different values. Send it once."})
}

func invalidCredential(in string, code apperr.FieldCode, message string) error {
	return apperr.Invalid(apperr.Field{In: in, Param: rest.Credential, Code: code, Message: message})
}

// bearer returns the tokens of the Authorization headers.
func bearer(g *gin.Context) (tokens []string) {
	for _, header := range g.Request.Header["Authorization"] {
		if scheme, token, _ := strings.Cut(header, " "); strings.EqualFold(scheme, "Bearer") {
			tokens = append(tokens, token)
		}
	}
	return tokens
}
