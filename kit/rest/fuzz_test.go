package rest

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/password"
	"example.com/ginseng/kit/store"
)

// bounded has a parameter of each type with rules of each kind.
type bounded struct {
	Name  string      `json:"name" validate:"required,max=5"`
	Raw   string      `json:"raw" trim:"no" validate:"min=2,max=10,uncommon"`
	Email string      `json:"email" validate:"maxbytes=20,email,excludes=:"`
	URL   string      `json:"url" validate:"http_url"`
	Role  string      `json:"role" validate:"oneof=user admin"`
	Host  string      `json:"host" validate:"dnslabel"`
	Some  *string     `json:"some" validate:"max=3"`
	Age   int64       `json:"age" validate:"min=18,max=99"`
	Rate  float64     `json:"rate"`
	Yes   bool        `json:"yes"`
	When  *store.Time `json:"when"`
	List  []string    `json:"list"`
	ID    store.ID    `json:"id"`
	Maybe string      `json:"maybe" default:"no" validate:"max=3"`
}

var boundedNames = []string{"name", "raw", "email", "url", "role", "host", "some", "age", "rate", "yes", "when", "list", "id", "maybe"}

// FuzzBind looks for bodies that are bound to an invalid value, or rejected without a reason.
func FuzzBind(f *testing.F) {
	for _, body := range [][2]string{
		{form, "name=a&raw=+b+&email=a@example.com&url=https://example.com&role=user&host=a-b&some=x&age=20&rate=1.5&yes=true&when=2026-01-02T03:04:05Z&list=a,b&id=65f0c1d2e3a4b5c6d7e8f901&maybe="},
		{form, "name=%00&raw=%ff&some=+&maybe=abcd&id=x&age=1e1&rate=NaN&yes=1&list=,,&list=a"},
		{form + "; charset=utf-8", "name=\u2028a&age=-0&rate=1e400&when=9999-12-31T23:59:59-01:00"},
		{jsonType, `{"name":"a","raw":" b ","some":null,"age":20,"rate":1e3,"yes":true,"when":"2026-01-02T03:04:05.678Z","list":["a","b"],"id":"65f0c1d2e3a4b5c6d7e8f901","maybe":null}`},
		{jsonType, `{"name":{"$gt":""},"raw":["x"],"age":"20","rate":0x1,"yes":"true","list":[null],"some":[],"id":{"$oid":"65f0c1d2e3a4b5c6d7e8f901"},"maybe":[]}`},
		{jsonType, `{"name":"\ud800","raw":"\u0000","name":"b"}`},
		{jsonType, `{"name":"a","age":9007199254740993,"rate":-0,"list":[" ",""]}`},
		{"multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\na\r\n--b--\r\n"},
		{"multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"name\"; filename=\"x\"\r\n\r\na\r\n--b--\r\n"},
		{"text/plain", "name=a"},
	} {
		f.Add(body[0], body[1])
	}
	ofReading := []apperr.Code{apperr.MalformedBody, apperr.PayloadTooLarge, apperr.UnsupportedMediaType, apperr.ValidationFailed}
	f.Fuzz(func(t *testing.T, contentType, body string) {
		v, err := read(contentType, body)
		if err != nil {
			if !slices.Contains(ofReading, apperr.CodeOf(err)) {
				t.Errorf("%v", err)
			}
			return
		}
		if again, err := read(contentType, body); err != nil || string(again.Canonical("x")) != string(v.Canonical("x")) {
			t.Errorf("the same body has two canonical forms: %s and %s, %v", v.Canonical("x"), again.Canonical("x"), err)
		}
		var in bounded
		if _, err := v.decode(&in, false); err != nil {
			checkFaults(t, err)
			return
		}
		in.check(t)
		if !v.Has("name") {
			t.Error("a required parameter was not sent")
		}
	})
}

// checkFaults checks that an error has a reason for each parameter.
func checkFaults(t *testing.T, err error) {
	t.Helper()
	var e *apperr.Error
	if !errors.As(err, &e) || e.Code != apperr.ValidationFailed || len(e.Fields) == 0 {
		t.Fatalf("%v", err)
	}
	codes := []apperr.FieldCode{"required", "type", "format", "min", "max", "min_length", "max_length", "one_of", "too_common"}
	seen := make(map[string]bool)
	for _, fault := range e.Fields {
		if fault.Code == apperr.Unknown {
			continue
		}
		if fault.In != "body" || !slices.Contains(boundedNames, fault.Param) || !slices.Contains(codes, fault.Code) || fault.Message == "" || seen[fault.Param] {
			t.Errorf("%+v", fault)
		}
		seen[fault.Param] = true
	}
	if _, err := json.Marshal(e.Fields); err != nil {
		t.Error(err)
	}
}

// check validates the bound value without the validator.
func (in bounded) check(t *testing.T) {
	t.Helper()
	texts := map[string]string{"name": in.Name, "email": in.Email, "url": in.URL, "role": in.Role, "host": in.Host}
	if in.Some != nil {
		texts["some"] = *in.Some
	}
	texts["maybe"] = in.Maybe
	for _, item := range in.List {
		if texts["list"] = item; item == "" {
			t.Errorf("list holds an empty text")
		}
	}
	for name, text := range texts {
		if strings.TrimSpace(text) != text {
			t.Errorf("%s %q is not trimmed", name, text)
		}
	}
	texts["raw"] = in.Raw
	for name, text := range texts {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			t.Errorf("%s %q is no text", name, text)
		}
	}
	runes := utf8.RuneCountInString
	for name, wrong := range map[string]bool{
		"name":  in.Name == "" || runes(in.Name) > 5,
		"raw":   in.Raw != "" && (runes(in.Raw) < 2 || runes(in.Raw) > 10 || password.IsCommon(in.Raw)),
		"email": in.Email != "" && (len(in.Email) > 20 || strings.Count(in.Email, "@") < 1 || strings.ContainsAny(in.Email, ":\r\n")),
		"url":   in.URL != "" && !strings.HasPrefix(strings.ToLower(in.URL), "http://") && !strings.HasPrefix(strings.ToLower(in.URL), "https://"),
		"role":  in.Role != "" && in.Role != "user" && in.Role != "admin",
		"host":  strings.ContainsFunc(in.Host, func(r rune) bool { return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }),
		"some":  in.Some != nil && runes(*in.Some) > 3,
		"maybe": in.Maybe == "" || runes(in.Maybe) > 3,
		"age":   in.Age != 0 && (in.Age < 18 || in.Age > 99),
		"rate":  math.IsNaN(in.Rate) || math.IsInf(in.Rate, 0),
		"when":  in.When != nil && (in.When.Year() < 0 || in.When.Year() > 9999),
	} {
		if wrong {
			t.Errorf("%s breaks its rules: %+v", name, in)
		}
	}
	if _, err := json.Marshal(in); err != nil {
		t.Error(err)
	}
}
