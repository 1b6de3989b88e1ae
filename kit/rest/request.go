// Package rest reads requests and writes responses: parameters and their validation, JSON, ETags, and errors as problem
// details (RFC 9457). A handler returns an error, which the route writes; see package route. In another Gin application, Handle
// does that.
//
//	func (c *controller) create(g *gin.Context) error {
//		in, err := rest.Bind[CreateInput](g)
//		if err != nil {
//			return err
//		}
//		…
//		return rest.Created(g, a.Meta, a.View())
//	}
package rest

import (
	"context"
	"encoding/base64"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/suggest"
)

// AnyQuery is an argument of Handle that allows all parameters in a query string.
const AnyQuery = "*"

// Handle returns a gin.HandlerFunc that calls h and passes the error, if any, to Fail. The function rejects a query string that
// is malformed, or that has a parameter other than params and access_token. Pass AnyQuery if h itself rejects unknown
// parameters, for example with listing.Lister.Parse.
func Handle(h func(*gin.Context) error, params ...string) gin.HandlerFunc {
	return func(g *gin.Context) {
		if err := checkQuery(g, params); err != nil {
			Fail(g, err)
			return
		}
		if err := h(g); err != nil {
			Fail(g, err)
		}
	}
}

// checkQuery fails with ValidationFailed if the query string is malformed or has a parameter that is not allowed.
func checkQuery(g *gin.Context, allowed []string) error {
	query, err := ParseQuery(g)
	if err != nil || len(query) == 0 || slices.Contains(allowed, AnyQuery) {
		return err
	}
	if fieldErrs := UnknownQuery(query, allowed); fieldErrs != nil {
		return apperr.Invalid(fieldErrs...)
	}
	return nil
}

// request is the state of a request that this package stores in the gin.Context.
type request struct {
	id     string
	caller access.Principal
	basic  bool // a 401 response asks for HTTP Basic
	onlyID bool // see OnlyID

	jsonOnly bool // see JSONOnly

	untimed   context.Context // see SetTimeLimit; nil: the request has no time limit
	timeLimit time.Duration

	failure error // see Failure

	stream *Stream // see SetStream
	events int     // number of events written to the stream

	exports *Exports // see SetExports

	query     url.Values
	queryErr  error
	queryRead bool

	params     Params
	paramsErr  error
	paramsRead bool
	filesRead  bool // the files of a multipart body were received, or are being received

	raw    *rawBody // see SetRaw
	parts  *parts   // see SetParts
	upload upload
}

const requestKey = "ginseng.request"

func requestOf(g *gin.Context) *request {
	if v, ok := g.Get(requestKey); ok {
		return v.(*request)
	}
	r := &request{}
	g.Set(requestKey, r)
	return r
}

// RequestID returns the ID of the request, or "" if none was set.
func RequestID(g *gin.Context) string { return requestOf(g).id }

// SetRequestID sets the ID of the request.
func SetRequestID(g *gin.Context, id string) { requestOf(g).id = id }

// Caller returns the authenticated caller, or the zero Principal if SetCaller was not called.
func Caller(g *gin.Context) access.Principal { return requestOf(g).caller }

// SetCaller sets the authenticated caller. The request reads the memberships of the caller at most once.
func SetCaller(g *gin.Context, caller access.Principal) { requestOf(g).caller = caller.ForRequest() }

// SetTimeLimit stores the time limit that the context of the request is going to have. Call it before the context has the limit.
func SetTimeLimit(g *gin.Context, limit time.Duration) {
	r := requestOf(g)
	r.untimed, r.timeLimit = g.Request.Context(), limit
}

// WithoutTimeLimit returns a context of the request that ends when the client disconnects, but not after the time limit, and the
// limit; 0 means that the request has no limit.
func WithoutTimeLimit(g *gin.Context) (context.Context, time.Duration) {
	r := requestOf(g)
	if r.untimed == nil {
		return g.Request.Context(), 0
	}
	return r.untimed, r.timeLimit
}

// Client returns the client that sent the request. Trusted is false before authentication.
func Client(g *gin.Context) access.Client {
	return access.Client{Address: g.ClientIP(), UserAgent: g.Request.UserAgent(), Trusted: Caller(g).Master}
}

// Sharer identifies the caller in slot.Shares: the user, the master key or, without a credential, the network of the client
// (ratelimit.Site).
func Sharer(g *gin.Context) string {
	switch caller := Caller(g); {
	case caller.IsUser():
		return caller.UserID.Hex()
	case caller.Master:
		return "master key"
	}
	return ratelimit.Site(g.ClientIP())
}

// ID returns the path parameter "id". NotFound: the parameter is not an ID; the response is the same as for an unknown ID.
func ID(g *gin.Context) (store.ID, error) { return PathID(g, "id") }

// PathID is like ID, for a path parameter with another name.
func PathID(g *gin.Context, name string) (store.ID, error) {
	id, ok := store.ParseID(g.Param(name))
	if !ok {
		return id, store.ErrNotFound
	}
	return id, nil
}

// Query returns the parameters of the query string, or nil if the query string is malformed. Call Query only in a function that
// Handle calls, or after ParseQuery has succeeded.
func Query(g *gin.Context) url.Values {
	query, _ := ParseQuery(g)
	return query
}

// ParseQuery returns the parameters of the query string. It parses the query string once per request. ValidationFailed: the query
// string is malformed.
func ParseQuery(g *gin.Context) (url.Values, error) {
	if g.Request.URL.RawQuery == "" {
		return nil, nil
	}
	r := requestOf(g)
	if r.queryRead {
		return r.query, r.queryErr
	}
	r.queryRead = true
	query, err := url.ParseQuery(g.Request.URL.RawQuery)
	if err != nil {
		r.queryErr = apperr.Invalid(apperr.Field{
			In: "query", Code: apperr.Format, Message: "Must be name=value pairs, percent-encoded and separated by &.",
		}).WithCause(err)
		return nil, r.queryErr
	}
	r.query = query
	return query, nil
}

// BasicAuth returns the email address and the password of an Authorization header with HTTP Basic (RFC 7617). given reports
// whether the request has such a header. If the header is malformed, the address and the password are empty. After the call, a
// 401 response to this request asks for HTTP Basic.
func BasicAuth(g *gin.Context) (email, password string, given bool) {
	requestOf(g).basic = true
	scheme, encoded, _ := strings.Cut(g.GetHeader("Authorization"), " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil || !utf8.Valid(raw) { // the WWW-Authenticate header asks for UTF-8
		return "", "", true
	}
	email, password, ok := strings.Cut(string(raw), ":")
	if !ok {
		return "", "", true
	}
	return email, password, true
}

// Credential is the name of the parameter with the credential of the caller. Every body and query string can have this parameter.
const Credential = "access_token"

// plainName matches the parameter names that an error may contain. Other names can contain values, for example if JSON was sent
// as a form.
var plainName = regexp.MustCompile(`^[\w$.\-\[\]]{1,64}$`)

// UnknownQuery returns an error for each parameter of a query string that is neither known nor access_token. It returns nil if
// there are no errors.
func UnknownQuery(query url.Values, known []string) []apperr.Field {
	names := slices.DeleteFunc(slices.Collect(maps.Keys(query)), func(name string) bool { return name == Credential })
	return unknown("query", names, known, "")
}

// unknown returns an error for each of the names that is not in known, sorted by name. All names that plainName does not match
// share one error without a name. A message suggests the most similar known name. If the first message has no suggestion, it
// lists all known names. Each message ends with note.
func unknown(in string, names, known []string, note string) (fieldErrs []apperr.Field) {
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(known, name) })
	for i, name := range names {
		if !plainName.MatchString(name) {
			names[i] = ""
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		fieldErr := apperr.Field{In: in, Param: name, Code: apperr.Unknown, Message: "Is not a parameter of this operation."}
		near := ""
		if len(fieldErrs) < maxErrors { // later errors are not sent
			near = suggest.Nearest(name, known)
		}
		switch {
		case near != "":
			fieldErr.Message += " Did you mean " + near + "?"
		case len(fieldErrs) == 0 && len(known) > 0:
			fieldErr.Message += " Allowed: " + strings.Join(known, ", ") + "."
			fieldErr.Expected = known
		}
		fieldErr.Message += note
		fieldErrs = append(fieldErrs, fieldErr)
	}
	return fieldErrs
}

// CheckString returns nil if the string can be stored. Otherwise the error has Code and Message, and the caller sets In and
// Param.
func CheckString(s string) *apperr.Field {
	if strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
		return &apperr.Field{Code: apperr.Format, Message: "Must be valid UTF-8 without the character U+0000."}
	}
	return nil
}

// The media types of bodies.
const (
	typeJSON       = "application/json"
	typeForm       = "application/x-www-form-urlencoded"
	typeMultipart  = "multipart/form-data"
	typeMergePatch = "application/merge-patch+json" // RFC 7396
)
