// Package input turns the parameters of a request, form-encoded or JSON, into a struct, and says all that is wrong
// with them at once. The names and the rules stand on the struct's fields:
//
//	type CreateInput struct {
//		Title string `json:"title" validate:"required,max=200"`
//	}
//
// A form value is text and must read as the field's type. A JSON value must be of the field's type: a number where text
// is declared is refused, and so is an object, which keeps operators such as {"$gt":""} out of queries. JSON null is
// "not given". Unknown parameters are ignored.
package input

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

	"example.com/ginseng/kit/apperr"
)

// Values are the parameters of one body, as they came. The zero value has none.
type Values struct {
	form url.Values                 // of a form: text
	json map[string]json.RawMessage // of a JSON object
}

// Read reads the body of a request, at most limit bytes of it. MalformedBody: it does not parse, or is no object.
// PayloadTooLarge: it is longer. UnsupportedMediaType: it is neither a form nor JSON. RequestTimeout: it came too slowly.
func Read(r *http.Request, limit int64) (Values, error) {
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return Values{}, nil
	}
	if r.ContentLength > limit {
		return Values{}, tooLarge(limit)
	}
	body, err := readAll(r.Body, r.ContentLength, limit)
	if err != nil {
		return Values{}, err
	}
	if len(body) == 0 {
		return Values{}, nil
	}
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		mediaType = ""
	}
	if !utf8.Valid(body) {
		return Values{}, malformed("The body is not valid UTF-8.")
	}
	switch mediaType {
	case "application/json":
		object, err := parseObject(body)
		return Values{json: object}, err
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return Values{}, malformed("The body is not a well-formed form: a pair of name=value is not percent-encoded right.").WithCause(err)
		}
		return Values{form: form}, nil
	case "multipart/form-data":
		form, err := parseMultipart(body, params["boundary"])
		return Values{form: form}, err
	}
	return Values{}, apperr.New(apperr.UnsupportedMediaType,
		"The body must be application/x-www-form-urlencoded, multipart/form-data or application/json, and Content-Type must say which.")
}

// Texts returns the texts of one parameter, for credentials in a body; none if it is absent or no text.
func (v Values) Texts(name string) []string {
	var text string
	if raw, ok := v.json[name]; ok && json.Unmarshal(raw, &text) == nil {
		return []string{text}
	}
	return v.form[name]
}

// Canonical is a text that two bodies share if and only if they are of one kind, form or JSON, and have the same
// parameters, but for the one left out.
func (v Values) Canonical(leaveOut string) []byte {
	if v.json != nil {
		object := maps.Clone(v.json)
		delete(object, leaveOut)
		text, _ := json.Marshal(object) // raw values that were just parsed; keys are sorted, blanks dropped
		return text
	}
	form := maps.Clone(v.form)
	form.Del(leaveOut)
	return []byte(form.Encode())
}

// Has reports whether the parameter was sent, whatever its value; JSON null is not sent.
func (v Values) Has(name string) bool {
	raw, inJSON := v.json[name]
	return inJSON && string(raw) != "null" || v.form.Has(name)
}

// maxParams is how many parameters a JSON body may have; forms are bounded by the libraries that read them.
const maxParams = 1000

// trusted is how much memory an announced length gets before the bytes are there.
const trusted = 64 << 10

func readAll(body io.Reader, length, limit int64) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(int(min(max(length, 0), trusted)) + bytes.MinRead)
	n, err := buf.ReadFrom(io.LimitReader(body, limit+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, apperr.New(apperr.RequestTimeout, "The body came too slowly.").WithCause(err)
	case err != nil:
		return nil, malformed("The body ended too early.").WithCause(err)
	case n > limit:
		return nil, tooLarge(limit)
	}
	return buf.Bytes(), nil
}

// parseObject reads a JSON object key by key, so that a key given twice is an error and not a silent choice (RFC 8259
// section 4 leaves it open, and two readers may choose differently).
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
		key := tok.(string) // a decoder gives nothing else between { and a value
		if len(object) == maxParams {
			return nil, malformed("The body has more than 1000 parameters.")
		}
		if _, twice := object[key]; twice {
			return nil, malformed("The body names a parameter twice.")
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
		return nil, malformed("The body has something after the JSON object.")
	}
	return object, nil
}

// notJSON says where the mistake is, as far as it was understood.
func notJSON(dec *json.Decoder, err error) *apperr.Error {
	return apperr.New(apperr.MalformedBody, "The body is not well-formed JSON; the mistake is after byte %d.", dec.InputOffset()).WithCause(err)
}

// parseMultipart reads the text parts of a form; files are none of this service's parameters and are refused.
func parseMultipart(body []byte, boundary string) (url.Values, error) {
	if boundary == "" {
		return nil, malformed("The multipart body has no boundary.")
	}
	form, err := multipart.NewReader(bytes.NewReader(body), boundary).ReadForm(int64(len(body)))
	if err != nil {
		return nil, malformed("The body is not a well-formed multipart form.").WithCause(err)
	}
	for name := range form.File {
		_ = form.RemoveAll()
		return nil, apperr.Invalid(apperr.Field{In: "body", Param: name, Code: apperr.Type, Message: "Must be text, not a file."})
	}
	return url.Values(form.Value), nil
}

func malformed(message string) *apperr.Error { return apperr.New(apperr.MalformedBody, "%s", message) }

func tooLarge(limit int64) *apperr.Error {
	return apperr.New(apperr.PayloadTooLarge, "The body is larger than %d bytes.", limit)
}
