package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
)

// Params are the parameters of a request body.
type Params struct {
	form url.Values                 // of a form
	json map[string]json.RawMessage // of a JSON object
}

// Body returns the parameters of the request body, which it reads once per request. The parameters of a GET are empty.
// MalformedBody: the body cannot be parsed, or is not an object. PayloadTooLarge: it is too large (see
// middleware.BodyLimit). UnsupportedMediaType: it is neither a form nor JSON. RequestTimeout: it arrived too slowly.
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

func readBody(r *http.Request) (Params, error) {
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return Params{}, nil
	}
	body, err := readAll(r.Body, r.ContentLength)
	if err != nil || len(body) == 0 {
		return Params{}, err
	}
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		mediaType = ""
	}
	if !utf8.Valid(body) {
		return Params{}, malformed("The body is not valid UTF-8.")
	}
	switch mediaType {
	case "application/json":
		object, err := parseObject(body)
		return Params{json: object}, err
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return Params{}, malformed("The body is not a valid form: a name=value pair is not percent-encoded correctly.").WithCause(err)
		}
		return Params{form: form}, nil
	case "multipart/form-data":
		form, err := parseMultipart(body, params["boundary"])
		return Params{form: form}, err
	}
	return Params{}, apperr.New(apperr.UnsupportedMediaType,
		"The body must be application/x-www-form-urlencoded, multipart/form-data or application/json, and have that Content-Type.")
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

// maxParams bounds the parameters of a JSON body. The libraries that read forms have their own bounds.
const maxParams = 1000

// maxPreallocated bounds the memory that is allocated for Content-Length before the bytes arrive.
const maxPreallocated = 64 << 10

func readAll(body io.Reader, length int64) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(int(min(max(length, 0), maxPreallocated)) + bytes.MinRead)
	_, err := buf.ReadFrom(body)
	var tooLarge *http.MaxBytesError
	switch {
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
			return nil, malformed("The body has more than 1000 parameters.")
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

// parseMultipart parses a form. Files are rejected.
func parseMultipart(body []byte, boundary string) (url.Values, error) {
	if boundary == "" {
		return nil, malformed("The multipart body has no boundary.")
	}
	form, err := multipart.NewReader(bytes.NewReader(body), boundary).ReadForm(int64(len(body)))
	if err != nil {
		return nil, malformed("The body is not a valid multipart form.").WithCause(err)
	}
	for name := range form.File {
		_ = form.RemoveAll()
		return nil, apperr.Invalid(apperr.Field{In: "body", Param: name, Code: apperr.Type, Message: "Must be a string, not a file."})
	}
	return url.Values(form.Value), nil
}

func malformed(message string) *apperr.Error { return apperr.New(apperr.MalformedBody, "%s", message) }
