package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"example.com/ginseng/kit/apperr"
)

// DecodeObject decodes a JSON object, such as an item of a list in a body, into the struct that dst points to, with the rules of
// Bind. It ignores the fields of views. Param of each error is the name of a field of the object, or "" if raw is not an object or has a duplicate name.
func DecodeObject(raw json.RawMessage, dst any, views ...any) []apperr.Field {
	object, err := parseObject(raw)
	if err != nil {
		return []apperr.Field{{In: "body", Code: apperr.Type, Message: "Must be a JSON object without duplicate names."}}
	}
	_, err = Params{json: object}.decode(dst, false, views...)
	var invalid *apperr.Error
	if errors.As(err, &invalid) {
		return invalid.Fields
	}
	return nil
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
			return nil, malformed("The body contains a duplicate parameter.")
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
