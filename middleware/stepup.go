package middleware

import (
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

// stepUp accepts the callers that both tokenOrBasic and checkSignIn accept. On routes for admins, the user must be an admin.
func (a Authenticator) stepUp(g *gin.Context) (access.Principal, error) {
	p, err := a.tokenOrBasic(g)
	if err == nil {
		err = a.route.CheckKind(p)
	}
	if err == nil {
		err = a.checkSignIn(g, p)
	}
	return p, err
}

// stepUpOthers is like stepUp, but omits checkSignIn for a user token if the path has the ID of the caller, or if the caller is
// not an admin. The handler rejects callers who are neither the user in the path nor an admin.
func (a Authenticator) stepUpOthers(g *gin.Context) (access.Principal, error) {
	p, err := a.tokenOrBasic(g)
	if err != nil {
		return p, err
	}
	id, _ := store.ParseID(g.Param("id")) // the zero ID if the parameter is malformed or "me"
	own := g.Param("id") == "me" || p.Is(id)
	if withPassword := p.SessionID.IsZero(); withPassword || !own && p.IsAdmin() {
		err = a.checkSignIn(g, p)
	}
	return p, err
}

// tokenOrBasic accepts a user token or, if the Authorization header has the scheme Basic, an email address and a password.
func (a Authenticator) tokenOrBasic(g *gin.Context) (access.Principal, error) {
	scheme, _, _ := strings.Cut(g.GetHeader("Authorization"), " ")
	_, inProcess := route.CalledBy(g)
	_, given, err := a.credential(g, true)
	switch {
	case err != nil:
		return access.Principal{}, err
	case inProcess:
		return a.user(g)
	case strings.EqualFold(scheme, "Basic"):
		p, err := a.basic(g)
		p.AuthTime = a.Now()
		return p, err
	case given:
		return a.user(g)
	}
	rest.BasicAuth(g) // the response asks for HTTP Basic
	return access.Principal{}, apperr.New(apperr.Unauthorized,
		`A user token is missing. Sign in, and send the token as access_token, or in the header "Authorization: Bearer …". Or send email and password as Authorization: Basic.`)
}

// checkSignIn checks that the user has signed in recently or with this request. If the user has a second factor, the sign-in or
// this request must include the second factor. ReauthenticationRequired: the sign-in is too old. SecondFactorRequired,
// ValidationFailed, TooManyRequests: see access.SecondFactorVerifier. checkSignIn also returns the errors of CheckRestriction. It
// accepts access.Operator.
func (a Authenticator) checkSignIn(g *gin.Context, p access.Principal) error {
	if p.IsOperator() {
		return nil
	}
	if err := a.checkRecent(g, p); err != nil || p.MultiFactor || a.SecondFactors == nil {
		return err
	}
	var proof access.Proof
	var invalid error
	if a.route.Raw == 0 {
		proof, invalid = rest.BindSome[access.Proof](g)
	}
	if invalid != nil {
		proof = access.Proof{}
	}
	limits, err := a.SecondFactors.VerifySecondFactor(g.Request.Context(), p.UserID, rest.Client(g), proof)
	rest.SetRateLimit(g, limits)
	if invalid != nil { // if the user has no second factor, err is nil, and the handler fails with invalid
		err = apperr.Replace(err, apperr.SecondFactorRequired, invalid)
	}
	return err
}

// checkRecent returns the errors of access.Principal.CheckRecent and of CheckRestriction.
func (a Authenticator) checkRecent(g *gin.Context, p access.Principal) error {
	if err := a.route.CheckRestriction(p); err != nil {
		return err
	}
	return p.CheckRecent(a.Now())
}
