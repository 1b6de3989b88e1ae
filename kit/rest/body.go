package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

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

func parseForm(body []byte) (url.Values, error) {
	if bytes.Count(body, []byte("&")) >= maxParams {
		return nil, tooManyParams()
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, malformed("The body is not a valid form: a name=value pair is not percent-encoded correctly.").WithCause(err)
	}
	return form, nil
}

// parseMultipart parses a form. Files are rejected.
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

func malformed(message string) *apperr.Error { return apperr.New(apperr.MalformedBody, "%s", message) }

// unknown returns an error for each parameter that is neither a field nor, with a name of a view, part of a record that
// the client sends back.
func (p Params) unknown(fields []field, views []any) []apperr.Field {
	var names []string
	add := func(name string) {
		if name != Credential && !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			names = append(names, name)
		}
	}
	for name := range p.json {
		add(name)
	}
	for name := range p.form {
		add(name)
	}
	if names == nil {
		return nil
	}
	for _, view := range views {
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(store.FieldNames(reflect.TypeOf(view)), name) })
	}
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.name
	}
	note := " The body was read as JSON."
	if p.json == nil {
		note = " The body was read as a form; JSON needs Content-Type: application/json."
	}
	return unknown("body", names, known, note)
}
