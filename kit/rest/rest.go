// Package rest reads requests and writes responses: parameters and their validation, JSON, ETags, and errors as problem
// details (RFC 9457). A handler returns an error; Handle writes it:
//
//	r.POST("/articles", rest.Handle(func(c *gin.Context) error {
//		in, err := rest.Bind[CreateInput](c)
//		if err != nil {
//			return err
//		}
//		…
//		return rest.Created(c, a.Meta, a.View())
//	}))
package rest

import (
	"encoding/base64"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Handle adapts a function that returns an error to Gin. It rejects a malformed query string, and writes the error with
// Fail.
func Handle(h func(*gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		_, err := ParseQuery(c)
		if err == nil {
			err = h(c)
		}
		if err != nil {
			Fail(c, err)
		}
	}
}

// request is what this package keeps of a request in its gin.Context.
type request struct {
	id     string
	caller access.Principal
	basic  bool // a credential is expected as HTTP Basic

	query     url.Values
	queryErr  error
	queryRead bool

	params     Params
	paramsErr  error
	paramsRead bool
}

const requestKey = "ginseng.request"

func of(c *gin.Context) *request {
	if v, ok := c.Get(requestKey); ok {
		return v.(*request)
	}
	r := &request{}
	c.Set(requestKey, r)
	return r
}

// RequestID returns the ID of the request, or "" if none was set.
func RequestID(c *gin.Context) string { return of(c).id }

// SetRequestID sets the ID of the request.
func SetRequestID(c *gin.Context, id string) { of(c).id = id }

// Caller returns the authenticated caller. It is the zero Principal if no middleware set one.
func Caller(c *gin.Context) access.Principal { return of(c).caller }

// SetCaller sets the authenticated caller.
func SetCaller(c *gin.Context, caller access.Principal) { of(c).caller = caller }

// Client returns where the request comes from.
func Client(c *gin.Context) access.Client {
	return access.Client{Address: c.ClientIP(), UserAgent: c.Request.UserAgent(), Trusted: Caller(c).Master}
}

// ID returns the path parameter "id". A malformed ID is NotFound, as an unknown one is.
func ID(c *gin.Context) (store.ID, error) {
	id, ok := store.ParseID(c.Param("id"))
	if !ok {
		return id, store.ErrNotFound
	}
	return id, nil
}

// Query returns the parameters of the query string, in a function that is called by Handle.
func Query(c *gin.Context) url.Values {
	query, _ := ParseQuery(c)
	return query
}

// ParseQuery parses the query string, once per request. A malformed one is ValidationFailed: a parameter that is dropped
// silently could be a filter.
func ParseQuery(c *gin.Context) (url.Values, error) {
	if c.Request.URL.RawQuery == "" {
		return nil, nil
	}
	r := of(c)
	if r.queryRead {
		return r.query, r.queryErr
	}
	r.queryRead = true
	query, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		r.queryErr = apperr.Invalid(apperr.Field{
			In: "query", Code: apperr.Format, Message: "Must be name=value pairs, percent-encoded and separated by &.",
		}).WithCause(err)
		return nil, r.queryErr
	}
	r.query = query
	return query, nil
}

// BasicAuth returns the email address and the password of an Authorization header with HTTP Basic (RFC 7617). A malformed
// one is given, with an empty address and password. A 401 response to this request asks for HTTP Basic.
func BasicAuth(c *gin.Context) (email, password string, given bool) {
	of(c).basic = true
	scheme, encoded, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil || !utf8.Valid(raw) { // the challenge asks for UTF-8
		return "", "", true
	}
	email, password, ok := strings.Cut(string(raw), ":")
	if !ok {
		return "", "", true
	}
	return email, password, true
}

// challenge returns the WWW-Authenticate header of a 401 response (RFC 9110 section 11.6.1).
func challenge(c *gin.Context) string {
	if of(c).basic {
		return `Basic realm="ginseng", charset="UTF-8"`
	}
	return `Bearer realm="ginseng"`
}
