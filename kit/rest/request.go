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
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/suggest"
)

// AnyQuery as a parameter of Handle allows every name.
const AnyQuery = "*"

// Handle adapts a function that returns an error to Gin. It rejects a malformed query string, and one with a parameter
// other than params and access_token. It writes the error with Fail. A function that rejects unknown parameters itself, as
// a list does with listing.Lister, has AnyQuery.
func Handle(h func(*gin.Context) error, params ...string) gin.HandlerFunc {
	return func(c *gin.Context) {
		query, err := ParseQuery(c)
		if err == nil && len(query) > 0 && !slices.Contains(params, AnyQuery) {
			if faults := UnknownQuery(query, params); faults != nil {
				err = apperr.Invalid(faults...)
			}
		}
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
func ID(c *gin.Context) (store.ID, error) { return PathID(c, "id") }

// PathID is ID for a path parameter with another name.
func PathID(c *gin.Context, name string) (store.ID, error) {
	id, ok := store.ParseID(c.Param(name))
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

// Params are the parameters of a request body.
type Params struct {
	form url.Values                 // of a form
	json map[string]json.RawMessage // of a JSON object
}

// Body returns the parameters of the request body, which it reads once per request. The parameters of a GET are empty.
// MalformedBody: the body cannot be parsed, or is not an object. PayloadTooLarge: it is too large (see
// middleware.BodyLimit). UnsupportedMediaType: it is neither a form nor JSON, or compressed. RequestTimeout: it arrived too
// slowly.
func Body(c *gin.Context) (Params, error) {
	if c.Request.Method == http.MethodGet || c.Request.ContentLength == 0 {
		return Params{}, nil
	}
	r := of(c)
	if !r.paramsRead {
		r.paramsRead = true
		r.params, r.paramsErr = readBody(c.Request)
	}
	return r.params, r.paramsErr
}

// Strings returns the values of a parameter: none if it is absent or not a string.
func (p Params) Strings(name string) []string {
	var text string
	if raw, ok := p.json[name]; ok && json.Unmarshal(raw, &text) == nil {
		return []string{text}
	}
	return p.form[name]
}

// Canonical returns the same bytes for two bodies if both are forms or both are JSON, and they have the same parameters,
// without the omitted one.
func (p Params) Canonical(omit string) []byte {
	if p.json != nil {
		object := maps.Clone(p.json)
		delete(object, omit)
		text, _ := json.Marshal(object) // raw values that were just parsed; keys are sorted and spaces removed
		return text
	}
	form := maps.Clone(p.form)
	form.Del(omit)
	return []byte(form.Encode())
}

// Has reports whether the parameter is present and not JSON null.
func (p Params) Has(name string) bool {
	raw, inJSON := p.json[name]
	return inJSON && string(raw) != "null" || p.form.Has(name)
}

// Credential is the parameter with the master key or a user token, which every body and query string can have.
const Credential = "access_token"

// plainName matches the names that an error repeats. Others can be values, for example of JSON that was sent as a form.
var plainName = regexp.MustCompile(`^[\w$.\-\[\]]{1,64}$`)

// UnknownQuery returns an error for each parameter of a query string that is not known, except access_token.
func UnknownQuery(query url.Values, known []string) []apperr.Field {
	names := slices.DeleteFunc(slices.Collect(maps.Keys(query)), func(name string) bool { return name == Credential })
	return unknown("query", names, known, "")
}

// unknown returns an error for each name of a parameter that is not known, sorted; names that are not plain have one
// together, without a name. The message has the known name that is the most similar, or all of them, and the note.
func unknown(in string, names, known []string, note string) (faults []apperr.Field) {
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(known, name) })
	for i, name := range names {
		if !plainName.MatchString(name) {
			names[i] = ""
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		fault := apperr.Field{In: in, Param: name, Code: apperr.Unknown, Message: "Is not a parameter of this operation."}
		near := ""
		if len(faults) < maxErrors { // the others are not sent
			near = suggest.Nearest(name, known)
		}
		switch {
		case near != "":
			fault.Message += " Did you mean " + near + "?"
		case len(faults) == 0 && len(known) > 0:
			fault.Message += " Allowed: " + strings.Join(known, ", ") + "."
			fault.Expected = known
		}
		fault.Message += note
		faults = append(faults, fault)
	}
	return faults
}

// CheckString checks that a string can be stored.
func CheckString(s string) *apperr.Field {
	if strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
		return &apperr.Field{Code: apperr.Format, Message: "Must be valid UTF-8 without the character U+0000."}
	}
	return nil
}

func readBody(r *http.Request) (Params, error) {
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return Params{}, nil
	}
	body, err := readAll(r.Body, r.ContentLength)
	if err != nil || len(body) == 0 {
		return Params{}, err
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return Params{}, apperr.New(apperr.UnsupportedMediaType, "The body must not be compressed: send it without Content-Encoding.")
	}
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !slices.Contains(mediaTypes(r.Method), mediaType) {
		return Params{}, apperr.New(apperr.UnsupportedMediaType, "The body must be one of %s, and have that Content-Type.",
			strings.Join(mediaTypes(r.Method), ", "))
	}
	if !utf8.Valid(body) {
		return Params{}, malformed("The body is not valid UTF-8.")
	}
	switch mediaType {
	case typeForm:
		form, err := parseForm(body)
		return Params{form: form}, err
	case typeMultipart:
		form, err := parseMultipart(body, params["boundary"])
		return Params{form: form}, err
	}
	object, err := parseObject(body)
	return Params{json: object}, err
}

// The media types of bodies.
const (
	typeJSON       = "application/json"
	typeForm       = "application/x-www-form-urlencoded"
	typeMultipart  = "multipart/form-data"
	typeMergePatch = "application/merge-patch+json" // RFC 7396
)

// mediaTypes returns the media types of the bodies of a method.
func mediaTypes(method string) []string {
	types := []string{typeJSON, typeForm, typeMultipart}
	if method == http.MethodPatch {
		types = append(types, typeMergePatch)
	}
	return types
}

// maxParams bounds the parameters of a body.
const maxParams = 1000

func tooManyParams() *apperr.Error {
	return apperr.New(apperr.MalformedBody, "The body has more than %d parameters.", maxParams)
}

// maxPreallocated bounds the memory that is allocated for Content-Length before the bytes arrive.
const maxPreallocated = 64 << 10

func readAll(body io.Reader, length int64) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(int(min(max(length, 0), maxPreallocated)) + bytes.MinRead)
	_, err := buf.ReadFrom(body)
	var tooLarge *http.MaxBytesError
	var failed *apperr.Error
	switch {
	case errors.As(err, &failed):
		return nil, failed
	case errors.As(err, &tooLarge):
		return nil, apperr.New(apperr.PayloadTooLarge, "The body is larger than %d bytes.", tooLarge.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, apperr.New(apperr.RequestTimeout, "The body arrived too slowly.").WithCause(err)
	case err != nil:
		return nil, malformed("The body is incomplete.").WithCause(err)
	}
	return buf.Bytes(), nil
}

// parseObject parses a JSON object. A duplicate name is an error: RFC 8259 section 4 does not define which value counts.
func parseObject(body []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, malformed("The body is not a JSON object.").WithCause(err)
	}
	object := make(map[string]json.RawMessage)
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, notJSON(dec, err)
		}
		key := tok.(string) // the decoder returns only strings here
		if len(object) == maxParams {
			return nil, tooManyParams()
		}
		if _, twice := object[key]; twice {
			return nil, malformed("The body has a parameter twice.")
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, notJSON(dec, err)
		}
		object[key] = raw
	}
	if _, err := dec.Token(); err != nil {
		return nil, notJSON(dec, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, malformed("The body has data after the JSON object.")
	}
	return object, nil
}

// notJSON returns the error of a body with invalid JSON.
func notJSON(dec *json.Decoder, err error) *apperr.Error {
	return apperr.New(apperr.MalformedBody, "The body is not valid JSON; the error is after byte %d.", dec.InputOffset()).WithCause(err)
}

func malformed(message string) *apperr.Error { return apperr.New(apperr.MalformedBody, "%s", message) }
