package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
)

// Params are the parameters of a request body.
type Params struct {
	form url.Values                 // nil if the body is not a form
	json map[string]json.RawMessage // nil if the body is not JSON

	merge bool // the body is a JSON Merge Patch (RFC 7396)

	files   map[string]*received // the files of a multipart body, by field
	invalid []apperr.Field       // errors of files that are for no field
	late    error                // see AllowFiles.LateQuota
}

// Body returns the parameters of the request body. It reads the body once per request. A GET request has no parameters.
// MalformedBody: the body is incomplete, cannot be parsed, is not a JSON object, has a duplicate JSON name, or has more than 1000
// parameters. PayloadTooLarge: the body is too large (see middleware.BodyLimits). UnsupportedMediaType: the body is neither a form
// nor JSON, or is compressed. RequestTimeout: the body arrived too slowly. ValidationFailed: the body is a form with a file.
// Unavailable: other bodies are using the memory for large bodies. Another error is a mistake of the programmer: the route has
// route.Raw, so RawBody reads the body. After the call, reading g.Request.Body is an error.
//
// Of a multipart body with files, Body returns the parameters before the first file until the caller is authenticated; see
// SetAllowFiles. The next call reserves the caller's quota, reads the rest, and receives the files, which Bind decodes: a handler that
// must look at the record first does that before the call. PayloadTooLarge: a file or the parameters are too large, or the quota is
// used up. Conflict: there are more than files.MaxItems files for a list. Unauthorized: the credential follows a file, or has ended
// while the files were received. NotSupported: the service has no storage for files.
func Body(g *gin.Context) (Params, error) {
	if g.Request.Method == http.MethodGet || g.Request.ContentLength == 0 {
		return Params{}, nil
	}
	r := requestOf(g)
	switch {
	case r.raw != nil:
		return Params{}, errors.New("rest: a route with route.Raw has no parameters in the body: read the body with rest.RawBody")
	case !r.paramsRead:
		r.paramsRead = true
		if r.parts != nil {
			r.params, r.paramsErr = r.parts.begin(g)
		} else {
			r.params, r.paramsErr = readBody(g.Request)
			g.Request.Body = consumed{}
		}
	case r.upload.allowed != nil && !r.filesRead && r.paramsErr == nil && HasParts(g):
		r.filesRead = true
		r.paramsErr = r.receiveParts(g)
		r.params = r.parts.params
	}
	return r.params, r.paramsErr
}

// SkipBody reads a body that the handler ignores to its end. It fails like Body if the body is too large, arrives too slowly or is
// incomplete. Call it before a response without a time limit: net/http reads the rest of the body before it sends the header, and
// detects that the client has disconnected only after the end of the body.
func SkipBody(g *gin.Context) error {
	if g.Request.ContentLength == 0 || g.Request.Body == nil {
		return nil
	}
	if _, err := io.Copy(io.Discard, g.Request.Body); err != nil {
		return bodyError(err)
	}
	return nil
}

// Strings returns the values of a parameter: all values in a form, or the one JSON string. For JSON null, it returns one empty
// string. It returns nil for any other JSON value, or if the parameter is absent.
func (p Params) Strings(name string) []string {
	var text string
	if raw, ok := p.json[name]; ok && json.Unmarshal(raw, &text) == nil {
		return []string{text}
	}
	return p.form[name]
}

// Canonical encodes the parameters, except omit, so that two bodies can be compared. The results are equal if both bodies are
// forms or both are JSON, and all parameters, and the names and bytes of files, are equal. Spaces between JSON tokens are ignored.
func (p Params) Canonical(omit string) []byte {
	if p.json != nil {
		object := maps.Clone(p.json)
		delete(object, omit)
		data, _ := json.Marshal(object) // cannot fail: the values are valid JSON; Marshal sorts names and removes spaces
		return data
	}
	form := maps.Clone(p.form)
	form.Del(omit)
	out := []byte(form.Encode())
	for _, field := range slices.Sorted(maps.Keys(p.files)) {
		for _, f := range p.files[field].files {
			out = fmt.Appendf(out, "\n%q %q %s", field, f.Name, f.SHA256)
		}
		out = fmt.Appendf(out, "\n%d", len(p.files[field].fieldErrs)) // a form with an invalid file differs from one without
	}
	if p.invalid != nil {
		out = fmt.Appendf(out, "\n%d", len(p.invalid))
	}
	return out
}

// Has reports whether the parameter is present and not JSON null.
func (p Params) Has(name string) bool {
	raw, inJSON := p.json[name]
	return inJSON && string(raw) != "null" || p.form.Has(name)
}

func readBody(r *http.Request) (Params, error) {
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return Params{}, nil
	}
	body, err := readAll(r.Body, r.ContentLength)
	if err != nil || len(body) == 0 {
		return Params{}, err
	}
	if err := checkCoding(r); err != nil {
		return Params{}, err
	}
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !slices.Contains(mediaTypes(r.Method), mediaType) {
		return Params{}, apperr.New(apperr.UnsupportedMediaType, "The Content-Type must be one of %s.",
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
	object, err := parseObject(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))) // a byte order mark; see RFC 8259, section 8.1
	return Params{json: object, merge: mediaType == typeMergePatch}, err
}

// checkCoding fails with UnsupportedMediaType if the body is compressed.
func checkCoding(r *http.Request) error {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return apperr.New(apperr.UnsupportedMediaType, "The body must not be compressed: send it without Content-Encoding.")
	}
	return nil
}

// mediaTypes returns the media types that requests with the method can have.
func mediaTypes(method string) []string {
	types := []string{typeJSON, typeForm, typeMultipart}
	if method == http.MethodPatch {
		types = append(types, typeMergePatch)
	}
	return types
}

// JSONOnly is middleware for a route whose body is JSON. It runs before authentication, which reads the body.
// UnsupportedMediaType: the body has another type.
func JSONOnly(g *gin.Context) {
	requestOf(g).jsonOnly = true
	if g.Request.ContentLength != 0 && !strings.EqualFold(g.ContentType(), typeJSON) {
		Fail(g, apperr.New(apperr.UnsupportedMediaType, "The Content-Type must be %s.", typeJSON))
	}
}

// maxParams is the maximum number of parameters in a body.
const maxParams = 1000

func tooManyParams() *apperr.Error {
	return apperr.New(apperr.MalformedBody, "The body has more than %d parameters.", maxParams)
}

// maxPreallocated is the maximum number of bytes that are allocated before the body arrives.
const maxPreallocated = 64 << 10

// readAll reads a body. length is the Content-Length, or -1 if it is unknown.
func readAll(body io.Reader, length int64) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(int(min(max(length, 0), maxPreallocated)) + bytes.MinRead)
	if _, err := buf.ReadFrom(body); err != nil {
		return nil, bodyError(err)
	}
	return buf.Bytes(), nil
}

// bodyError returns the error of a request whose body could not be read because of err.
func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	var failed *apperr.Error
	switch {
	case errors.As(err, &failed):
		return failed
	case errors.As(err, &tooLarge):
		return apperr.New(apperr.PayloadTooLarge, "The body is larger than %d bytes.", tooLarge.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return apperr.New(apperr.RequestTimeout, "The body arrived too slowly.").WithCause(err)
	}
	return malformed("The body is incomplete.").WithCause(err)
}

func malformed(message string) *apperr.Error { return apperr.New(apperr.MalformedBody, "%s", message) }

func parseForm(body []byte) (url.Values, error) {
	if bytes.Count(body, []byte("&")) >= maxParams {
		return nil, tooManyParams()
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, malformed("The body is not a valid form: its name=value pairs must be percent-encoded and separated by &.").WithCause(err)
	}
	return form, nil
}

// parseMultipart parses a multipart form. A file in the form is an error.
func parseMultipart(body []byte, boundary string) (url.Values, error) {
	if boundary == "" {
		return nil, malformed("The multipart body has no boundary.")
	}
	form, err := multipart.NewReader(bytes.NewReader(body), boundary).ReadForm(int64(len(body)))
	switch {
	case errors.Is(err, multipart.ErrMessageTooLarge): // more than 1000 parts, or 10,000 headers
		return nil, tooManyParams().WithCause(err)
	case err != nil:
		return nil, malformed("The body is not a valid multipart form.").WithCause(err)
	}
	for name := range form.File {
		_ = form.RemoveAll()
		return nil, apperr.Invalid(apperr.Field{In: "body", Param: name, Code: apperr.Type, Message: "Must be a string, not a file."})
	}
	return url.Values(form.Value), nil
}
