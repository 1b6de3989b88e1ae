package middleware

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

// Authenticator authenticates requests. A credential is the master key, a user token or an API key. Clients send it as
// access_token in the body or the query string, or as Authorization: Bearer. Some routes also accept an email address and a
// password, sent as Authorization: Basic.
type Authenticator struct {
	Keys        access.Keys
	Tokens      access.TokenVerifier    // nil: user tokens are invalid
	APIKeys     access.KeyVerifier      // nil: API keys are invalid
	Passwords   access.PasswordVerifier // nil: passwords are invalid
	QueryTokens bool                    // access_token is accepted in the query string; otherwise, it is an error there
	Writes      *UserWrites             // nil: there is no limit
	Transfers   *Transfers              // nil: no route transfers files

	SecondFactors access.SecondFactorVerifier // nil: users have no second factor
	Now           func() time.Time

	route *route.Route // see Handler
}

// Handler returns the middleware that authenticates the requests to a route. It reads the query string and the body, which can
// contain the credential, and sets rest.Caller. It runs after BodyLimits.Handler of the route.
func (a Authenticator) Handler(r *route.Route) gin.HandlerFunc {
	a.route = r
	authenticate := a.authenticate()
	if r.Download {
		byCredential := authenticate
		authenticate = func(g *gin.Context) (access.Principal, error) {
			if files.IsLink(rest.Query(g)) {
				return access.Principal{}, nil // the handler verifies the link
			}
			return byCredential(g)
		}
	}
	return func(g *gin.Context) { a.handle(g, authenticate) }
}

// authenticate returns the function that returns the caller of a request, and fails if the route does not accept the caller.
func (a Authenticator) authenticate() func(*gin.Context) (access.Principal, error) {
	switch a.route.Kind {
	case route.KindPublic:
		return a.public
	case route.KindSignIn:
		return a.signIn
	case route.KindRefresh:
		return a.refresh
	case route.KindProvider:
		return a.provider
	case route.KindMaster:
		return a.master
	case route.KindUser, route.KindAdmin, route.KindRole:
		return a.user
	case route.KindStepUp, route.KindStepUpAdmin:
		return a.stepUp
	case route.KindStepUpOthers:
		return a.stepUpOthers
	}
	panic(fmt.Sprintf("middleware: the route %s %s has no caller", a.route.Method, a.route.Path))
}

// handle calls the handlers that follow if authenticate accepts the caller.
func (a Authenticator) handle(g *gin.Context, authenticate func(*gin.Context) (access.Principal, error)) {
	g.Writer.Header().Add("Vary", "Authorization")
	if _, err := rest.ParseQuery(g); err != nil {
		rest.Fail(g, err)
		return
	}
	caller, end, err := a.admit(g, authenticate)
	if err == nil && !a.QueryTokens && rest.Query(g).Has(rest.Credential) {
		err = invalidCredential("query", apperr.Unknown, "Is not accepted in a query string. Send it as Authorization: Bearer.")
	}
	withFiles := rest.HasParts(g)
	var endReceived *func() // see beginTransfer
	if err == nil && (a.route.Upload != nil || a.route.Download || withFiles) && a.Transfers != nil {
		var leave func()
		leave, endReceived, err = a.beginTransfer(g)
		defer leave()
	}
	if err == nil && end == nil && !withFiles {
		end, err = a.beginWrite(g, caller, 0)
	}
	ctx := g.Request.Context()
	if end != nil || withFiles {
		var rolledBack func() time.Duration
		ctx, rolledBack = store.WithRollbacks(ctx)
		defer func() {
			if endReceived != nil && *endReceived != nil {
				end = *endReceived
			}
			if end != nil {
				endAfter(rolledBack(), end)
			}
		}()
	}
	if err != nil {
		rest.Fail(g, err)
		return
	}
	if key := caller.Key; key != nil && !a.route.AnyKey && !a.route.AdminKey && !key.Has(a.route.Resource, access.ScopeRead) {
		rest.OnlyID(g)
	}
	if g.Request.Method != http.MethodGet {
		g.Request = g.Request.WithContext(store.WithAuthor(ctx, author(g, caller)))
	}
	if caller.Master || caller.IsUser() {
		g.Header("Cache-Control", "private, no-cache") // caches cannot tell that a URL contains a credential (RFC 6750 section 2.3)
	}
	g.Next() // end must be called after the handlers
}

// author returns the author of changes that the request makes. An operation of a batch has the request ID of the batch.
func author(g *gin.Context, caller access.Principal) store.Author {
	a := store.Author{RequestID: cmp.Or(rest.RequestID(g), store.AuthorOf(g.Request.Context()).RequestID)}
	if caller.IsUser() {
		a.By = &caller.UserID
	}
	if caller.Key != nil {
		a.Key = &caller.Key.ID
	}
	return a
}

// admit reads the body, except with route.Raw, and authenticates the request. If the request counts toward the limit of UserWrites,
// end is not nil, and must be called after the request, even if admit fails. A large body counts toward the memory limit of anonymous
// callers, unless the Authorization header or, with route.Raw, the request has a valid credential.
func (a Authenticator) admit(g *gin.Context, authenticate func(*gin.Context) (access.Principal, error)) (caller access.Principal, end func(), err error) {
	ctx := g.Request.Context()
	if sender := a.largeBodySender(g); sender.IsUser() {
		end, err = a.Writes.begin(ctx, a.writer(sender), a.writeSize(g), 0)
		if err != nil {
			return caller, nil, err
		}
	}
	if a.route.Raw == 0 { // of a form with files, Body reads what is before the first file
		if _, err := rest.Body(g); err != nil {
			return caller, end, err
		}
	}
	caller, err = authenticate(g)
	if err != nil {
		return caller, end, err
	}
	if err := a.route.CheckRestriction(caller); err != nil {
		return caller, end, err
	}
	if body := bodyOf(g); body != nil && (caller.IsUser() || caller.Master) {
		body.shares = body.limits.users // with route.Raw, the handler reads the body
	}
	rest.SetCaller(g, caller)
	return caller, end, nil
}

// beginWrite counts the request toward the limit of UserWrites, if it is a change by a user; for wait, see UserWrites.begin. The bytes
// of files do not count.
func (a Authenticator) beginWrite(g *gin.Context, caller access.Principal, wait time.Duration) (end func(), err error) {
	_, inProcess := route.CalledBy(g)
	if !caller.IsUser() || a.route.Method == http.MethodGet || a.route.Upload != nil || inProcess {
		return nil, nil
	}
	return a.Writes.begin(g.Request.Context(), a.writer(caller), a.writeSize(g), wait)
}

// beginTransfer begins the transfer of the request. leave must be called after the request, also after an error. end is set when the
// files of the request were received; see received.
func (a Authenticator) beginTransfer(g *gin.Context) (leave func(), end *func(), err error) {
	end = new(func())
	leave, err = a.Transfers.begin(g, a.route, func(took time.Duration) (err error) {
		*end, err = a.received(g, took)
		return err
	})
	return leave, end, err
}

// received is called when the files of a request were received. If that took long, it verifies the caller again. A form then counts
// toward the limit of UserWrites, for which it waits longer than other requests, because the client would have to send the files again.
func (a Authenticator) received(g *gin.Context, took time.Duration) (end func(), err error) {
	if took > a.Transfers.recheck {
		caller, err := a.same(g.Request.Context(), g)
		if err != nil {
			return nil, err
		}
		rest.SetCaller(g, caller) // without the memberships that have been read
	}
	return a.beginWrite(g, rest.Caller(g), afterFiles)
}

// writeSize returns the size of a request for the limit of UserWrites: the number of bytes read from the body. If no bytes have
// been read, the size is Content-Length or, if Content-Length is unknown, the limit of the route. If the response can contain a
// record that is larger than the body, the size is at least minChange. With route.Alone, the size exceeds every limit.
func (a Authenticator) writeSize(g *gin.Context) (size int64) {
	if a.route.Alone {
		return math.MaxInt64
	}
	if body := bodyOf(g); body != nil {
		switch {
		case body.closes:
			size = rest.TextBytes(g)
		case body.read > 0:
			size = body.read
		case body.announced >= 0:
			size = body.announced
		default:
			size = body.size
		}
	}
	if a.route.LargeBody && g.Request.Method != http.MethodPost {
		size = max(size, minChange)
	}
	return size
}

// largeBodySender returns the caller that the Authorization header authenticates, and counts the body toward the memory limit of
// users. It returns the zero Principal if the body is not large, or if the header has no valid credential.
func (a Authenticator) largeBodySender(g *gin.Context) access.Principal {
	body := bodyOf(g)
	if body == nil || !body.isLarge() {
		return access.Principal{}
	}
	for _, token := range bearer(g) {
		if sender, err := a.verify(g, token); err == nil {
			body.shares = body.limits.users
			if sender.IsUser() {
				body.user = sender.UserID.Hex()
			}
			return sender
		}
	}
	return access.Principal{}
}

func (a Authenticator) public(g *gin.Context) (access.Principal, error) {
	return a.optional(g, true)
}

// signIn accepts the same callers as public, but ignores Authorization: Basic, which the handler reads.
func (a Authenticator) signIn(g *gin.Context) (access.Principal, error) {
	p, _, err := a.caller(g, true)
	return p, err
}

// optional verifies the credential, if the request has one. If inBody is true, access_token in the body is a credential too.
// Unauthorized: the credential is invalid, or the request has an Authorization header but no credential. optional also returns
// the errors of caller.
func (a Authenticator) optional(g *gin.Context, inBody bool) (access.Principal, error) {
	p, given, err := a.caller(g, inBody)
	if err == nil && !given && g.GetHeader("Authorization") != "" {
		err = apperr.New(apperr.Unauthorized, `The Authorization header has no user token. Send "Authorization: Bearer …", or omit the header.`)
	}
	return p, err
}

// provider accepts the same callers as public, but access_token in the body is a token of an identity provider, not the
// credential of the caller. A user must have signed in recently, because the handler links the account at the provider to the
// user.
func (a Authenticator) provider(g *gin.Context) (access.Principal, error) {
	params, _ := rest.Body(g) // admit has already returned this error
	for _, token := range params.Strings(rest.Credential) {
		if _, err := a.verify(g, strings.TrimSpace(token)); err == nil { // a token of this service must not be sent to the provider
			return access.Principal{}, apperr.New(apperr.Unauthorized, "access_token must be the provider's token here. Send your own token in the Authorization header.")
		}
	}
	p, err := a.optional(g, false)
	if err == nil && p.IsUser() {
		err = a.checkRecent(g, p)
	}
	return p, err
}

// refresh accepts the same callers as public, but ignores an Authorization header without the master key.
func (a Authenticator) refresh(g *gin.Context) (access.Principal, error) {
	if !slices.ContainsFunc(bearer(g), a.Keys.Match) {
		g.Request.Header.Del("Authorization")
	}
	return a.public(g)
}

func (a Authenticator) master(g *gin.Context) (access.Principal, error) {
	p, given, err := a.caller(g, true)
	switch {
	case apperr.Is(err, apperr.Unauthorized):
		return p, apperr.New(apperr.Unauthorized, "The master key is wrong.")
	case err != nil:
		return p, err
	case !given:
		how := "as access_token in the body"
		if a.route.Raw > 0 {
			how = "in the header Authorization: Bearer"
		}
		return p, apperr.New(apperr.Unauthorized, "The master key is missing. Send it from a server, %s; a page or an app must not contain it.", how)
	}
	return p, a.route.CheckKind(p)
}

// user accepts a user token. On routes for admins or for roles, the user must have the role.
func (a Authenticator) user(g *gin.Context) (access.Principal, error) {
	p, given, err := a.caller(g, true)
	switch {
	case err != nil:
		return p, err
	case !given && rest.HasParts(g):
		return p, apperr.New(apperr.Unauthorized, `A user token is missing. Send it in the header "Authorization: Bearer …", or as access_token before the first file.`)
	case !given:
		return p, apperr.New(apperr.Unauthorized, `A user token is missing. Sign in, and send the token as access_token, or in the header "Authorization: Bearer …".`)
	}
	return p, a.route.CheckKind(p)
}

func (a Authenticator) basic(g *gin.Context) (access.Principal, error) {
	email, password, given := rest.BasicAuth(g)
	if !given {
		return access.Principal{}, apperr.New(apperr.Unauthorized, "Email and password are missing. Send them as Authorization: Basic.")
	}
	if a.Passwords == nil {
		return access.Principal{}, apperr.New(apperr.Unauthorized, "Email or password is wrong.")
	}
	// A server that sends the passwords of its users can also send the master key.
	server, given, err := a.caller(g, true)
	if err == nil && given && !server.Master {
		err = apperr.New(apperr.Unauthorized, "With email and password, access_token must be the master key.")
	}
	if err != nil {
		return access.Principal{}, err
	}
	client := rest.Client(g)
	client.Trusted = server.Master
	p, limits, err := a.Passwords.VerifyPassword(g.Request.Context(), client, email, password)
	rest.SetRateLimit(g, limits)
	return p, err
}
