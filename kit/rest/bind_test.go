package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

const (
	form      = "application/x-www-form-urlencoded"
	jsonType  = "application/json"
	bodyLimit = 1024
)

func read(contentType, body string) (Params, error) {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	r.Body = http.MaxBytesReader(nil, r.Body, bodyLimit)
	return readBody(r)
}

// decode decodes a body into the struct that dst points to. It returns the names of the parameters in the body, and the errors of the fields.
func decode(t *testing.T, contentType, body string, dst any, partial bool) (given []string, fieldErrs []apperr.Field) {
	t.Helper()
	v, err := read(contentType, body)
	if err != nil {
		t.Fatal(err)
	}
	given, err = v.decode(dst, partial)
	if e := (*apperr.Error)(nil); errors.As(err, &e) && e.Code == apperr.ValidationFailed {
		return given, e.Fields
	} else if err != nil {
		t.Fatal(err)
	}
	return given, nil
}

// codes returns the parameter and the code of each error.
func codes(fieldErrs []apperr.Field) string {
	var out []string
	for _, f := range fieldErrs {
		out = append(out, f.Param+" "+string(f.Code))
	}
	return strings.Join(out, "; ")
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, contentType, body string
		want                    apperr.Code
	}{
		{"form", form, "a=1&b=2", ""},
		{"form with charset", form + "; charset=utf-8", "a=1", ""},
		{"JSON", jsonType, `{"a":1}`, ""},
		{"JSON with spaces", jsonType, " {\n} ", ""},
		{"JSON with a byte order mark", jsonType, "\ufeff{\"a\":1}", ""},
		{"two byte order marks", jsonType, "\ufeff\ufeff{\"a\":1}", apperr.MalformedBody},
		{"UTF-16", jsonType, "\xff\xfe{\x00}\x00", apperr.MalformedBody},
		{"nothing", "", "", ""},
		{"text", "text/plain", "a=1", apperr.UnsupportedMediaType},
		{"no type", "", "a=1", apperr.UnsupportedMediaType},
		{"broken type", "a/b/c;;", "a=1", apperr.UnsupportedMediaType},
		{"broken form", form, "a=%zz", apperr.MalformedBody},
		{"semicolons", form, "a=1;b=2", apperr.MalformedBody},
		{"not UTF-8", jsonType, "{\"a\":\"\xff\"}", apperr.MalformedBody},
		{"array", jsonType, `[1]`, apperr.MalformedBody},
		{"JSON string", jsonType, `"a"`, apperr.MalformedBody},
		{"null", jsonType, `null`, apperr.MalformedBody},
		{"half", jsonType, `{"a":`, apperr.MalformedBody},
		{"half object", jsonType, `{"a":1`, apperr.MalformedBody},
		{"no comma", jsonType, `{"a":1 "b":2}`, apperr.MalformedBody},
		{"trailing comma", jsonType, `{"a":1,}`, apperr.MalformedBody},
		{"data after the object", jsonType, `{"a":1} {}`, apperr.MalformedBody},
		{"duplicate name", jsonType, `{"a":1,"a":2}`, apperr.MalformedBody},
		{"too large", jsonType, `{"a":"` + strings.Repeat("x", bodyLimit) + `"}`, apperr.PayloadTooLarge},
		{"merge patch, not for PATCH", typeMergePatch, `{"a":1}`, apperr.UnsupportedMediaType},
		{"no boundary", "multipart/form-data", "x", apperr.MalformedBody},
		{"broken parts", "multipart/form-data; boundary=b", "--b\r\nbroken\r\n", apperr.MalformedBody},
	} {
		if _, err := read(test.contentType, test.body); apperr.CodeOf(err) != test.want {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestReadManyParameters(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]apperr.Code{maxParams: "", maxParams + 1: apperr.MalformedBody} {
		object := make(map[string]int)
		for i := range n {
			object[fmt.Sprint(i)] = i
		}
		body, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		values := url.Values{}
		var parts bytes.Buffer
		w := multipart.NewWriter(&parts)
		for name := range object {
			values.Set(name, "")
			if err := w.WriteField(name, ""); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for contentType, body := range map[string]string{jsonType: string(body), form: values.Encode(), w.FormDataContentType(): parts.String()} {
			r := httptest.NewRequest("POST", "/", strings.NewReader(body))
			r.Header.Set("Content-Type", contentType)
			_, err := readBody(r)
			if apperr.CodeOf(err) != want || err != nil && !strings.Contains(err.Error(), "more than 1000 parameters") {
				t.Errorf("%d as %s: %v", n, contentType, err)
			}
		}
	}
}

// TestReadHeaders checks the media type of a merge patch (RFC 7396), and that compressed bodies are rejected.
func TestReadHeaders(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		method, contentType, coding string
		want                        apperr.Code
	}{
		{"PATCH", typeMergePatch, "", ""},
		{"PUT", typeMergePatch, "", apperr.UnsupportedMediaType},
		{"PATCH", jsonType, "identity", ""},
		{"PATCH", jsonType, "gzip", apperr.UnsupportedMediaType},
		{"POST", jsonType, "identity, br", apperr.UnsupportedMediaType},
	} {
		r := httptest.NewRequest(test.method, "/", strings.NewReader(`{"a":1}`))
		r.Header.Set("Content-Type", test.contentType)
		if test.coding != "" {
			r.Header.Set("Content-Encoding", test.coding)
		}
		if _, err := readBody(r); apperr.CodeOf(err) != test.want {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// TestJSONOnly checks that the header Accept of a 415 has only JSON, also if the type is right and the coding is not.
func TestJSONOnly(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		contentType, coding string
		want                int
	}{
		{jsonType, "", 200}, {"application/json; charset=utf-8", "", 200}, {"Application/JSON", "", 200}, {form, "", 415}, {"text/plain", "", 415}, {jsonType, "gzip", 415},
	} {
		w := httptest.NewRecorder()
		g, _ := gin.CreateTestContext(w)
		g.Request = httptest.NewRequest("POST", "/", strings.NewReader("{}"))
		g.Request.Header.Set("Content-Type", test.contentType)
		g.Request.Header.Set("Content-Encoding", test.coding)
		if JSONOnly(g); !g.IsAborted() {
			if _, err := Body(g); err != nil {
				Fail(g, err)
			}
		}
		if got := w.Header().Get("Accept"); w.Code != test.want || w.Code == 415 && got != jsonType {
			t.Errorf("%+v: status %d, Accept %q", test, w.Code, got)
		}
	}
}

// TestMergePatch reads the same change as JSON and as a merge patch, which keeps the null properties of objects.
func TestMergePatch(t *testing.T) {
	t.Parallel()
	type input struct {
		Data  *store.Object `json:"data"`
		Other store.Object  `json:"other"`
	}
	for contentType, merge := range map[string]bool{jsonType: false, typeMergePatch: true} {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest("PATCH", "/", strings.NewReader(`{"data":{"a":{"b":null}},"other":null}`))
		c.Request.Header.Set("Content-Type", contentType)
		p, err := BindPatch[input](c)
		if err != nil {
			t.Fatal(err)
		}
		_, kept := (*p.Fields.Data)["a"].(map[string]any)["b"]
		if p.Merge != merge || kept != merge || p.Fields.Other != nil || !slices.Equal(p.Given, []string{"data", "other"}) {
			t.Errorf("%s: %+v with %v", contentType, p, *p.Fields.Data)
		}
	}
}

func TestReadBrokenOff(t *testing.T) {
	t.Parallel()
	for want, cause := range map[apperr.Code]error{apperr.RequestTimeout: os.ErrDeadlineExceeded, apperr.MalformedBody: io.ErrUnexpectedEOF} {
		r := httptest.NewRequest("POST", "/", io.MultiReader(strings.NewReader("a="), failing{cause}))
		r.Header.Set("Content-Type", form)
		if _, err := readBody(r); !apperr.Is(err, want) || !errors.Is(err, cause) {
			t.Errorf("%v: %v", cause, err)
		}
	}
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

func TestMultipart(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.WriteField("text", " plain "); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	v, err := read(w.FormDataContentType(), b.String())
	if err != nil || v.Strings("text")[0] != " plain " {
		t.Fatalf("%v %v", v, err)
	}
	b.Reset()
	w = multipart.NewWriter(&b)
	part, err := w.CreateFormFile("text", "a.txt")
	if err == nil {
		_, err = fmt.Fprint(part, "x")
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := read(w.FormDataContentType(), b.String()); !apperr.Is(err, apperr.ValidationFailed) {
		t.Errorf("a file: %v", err)
	}
}

type allTypes struct {
	Text  string      `json:"text"`
	Raw   string      `json:"raw" trim:"no" unicode:"NFC"`
	Bool  bool        `json:"bool"`
	Int   int64       `json:"int"`
	Float float64     `json:"float"`
	Time  store.Time  `json:"time"`
	List  []string    `json:"list"`
	Some  *string     `json:"some"`
	Other *string     `json:"other"`
	When  *store.Time `json:"when"`
}

func TestDecode(t *testing.T) {
	t.Parallel()
	when, err := store.ParseTime("2026-01-02T03:04:05.678Z")
	if err != nil {
		t.Fatal(err)
	}
	text := "x"
	want := allTypes{Text: "a b", Raw: " \u00e9 ", Bool: true, Int: -5, Float: 1.5, Time: when, List: []string{"p", "q"}, Some: &text, Other: &text, When: &when}
	for name, test := range map[string]struct{ contentType, body string }{
		"form":                {form, "text=+a+b+&raw=+e%CC%81+&bool=true&int=-5&float=1.5&time=2026-01-02T04:04:05.6789%2B01:00&list=p,+q,&some=x&other=x&when=2026-01-02T03:04:05.678Z&access_token=x"},
		"form, JSON list":     {form, "text=a+b&raw=+e%CC%81+&bool=true&int=-5.0&float=15e-1&time=2026-01-02T03:04:05.678Z&list=+[\"p\",+\"\",\"q+\"]+&some=x&other=x&when=2026-01-02T03:04:05.678Z"},
		"form, repeated list": {form, "text=a+b&raw=+e%CC%81+&bool=true&int=-5&float=1.5&time=2026-01-02T03:04:05.678Z&list=p&list=q&some=x&other=x&when=2026-01-02T03:04:05.678Z"},
		"JSON":                {jsonType, `{"text":" a b ","raw":" e\u0301 ","bool":true,"int":-5,"float":1.5,"time":"2026-01-02T03:04:05.678Z","list":["p","q"],"some":"x","other":"x","when":"2026-01-02T03:04:05.678Z","access_token":"x"}`},
	} {
		var got allTypes
		if _, fieldErrs := decode(t, test.contentType, test.body, &got, false); fieldErrs != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", name, got, fieldErrs)
		}
	}
}

// TestDecodeUnknown sends parameters that are not fields.
func TestDecodeUnknown(t *testing.T) {
	t.Parallel()
	type view struct {
		ID string `json:"id"`
		bounded
	}
	const secret = "a secret"
	for _, test := range []struct {
		contentType, body, param string   // param "none": no parameter is unknown
		messages                 []string // parts of the message
	}{
		{jsonType, `{"Name":"a","name":"a"}`, "Name", []string{"Did you mean name?", "read as JSON"}},
		{jsonType, `{"nmae":"a","name":"a"}`, "nmae", []string{"Did you mean name?"}},
		{form, "name=a&title=x", "title", []string{"Allowed: name, raw, email", "read as a form"}},
		{form, `{"name":"` + secret + `"}`, "", []string{"read as a form; JSON needs Content-Type: application/json"}},
		{jsonType, `{"name":"a","` + secret + `":1,"` + secret + `2":1}`, "", nil},
		{jsonType, `{"name":"a","updatedAt":"x"}`, "updatedAt", nil},
		{jsonType, `{"name":"a","id":{},"access_token":1}`, "none", nil},
	} {
		v, err := read(test.contentType, test.body)
		if err != nil {
			t.Fatal(err)
		}
		var in bounded // in fuzz_test.go
		_, err = v.decode(&in, false, view{})
		var e *apperr.Error
		if errors.As(err, &e) {
			e.Fields = slices.DeleteFunc(e.Fields, func(f apperr.Field) bool { return f.Code != apperr.Unknown })
		}
		if test.param == "none" {
			if e != nil && len(e.Fields) > 0 {
				t.Errorf("%s: %+v", test.body, e)
			}
			continue
		}
		if e == nil || len(e.Fields) != 1 || e.Fields[0].In != "body" || e.Fields[0].Param != test.param {
			t.Errorf("%s: %+v", test.body, e)
			continue
		}
		for _, want := range append(test.messages, "Is not a parameter of this operation.") {
			if message := e.Fields[0].Message; !strings.Contains(message, want) || strings.Contains(message, secret) {
				t.Errorf("%s: %s, want %s", test.body, message, want)
			}
		}
	}
}

func TestDecodeTypes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ contentType, body string }{
		"bytes":          {form, "text=%ff&raw=%c3%28&bool=1&int=x&float=Inf&time=x&list=%ff&some=%ff"},
		"form":           {form, "text=a&text=b&raw=%00&bool=1&int=1.5&float=NaN&time=yesterday&list=%00&some=a&some=b"},
		"JSON":           {jsonType, `{"text":1,"raw":{"$gt":""},"bool":"true","int":"5","float":"1","time":5,"list":[null],"some":["a"]}`},
		"Go syntax":      {form, "text=%00&raw=%00&bool=TRUE&int=0x10&float=0x10p0&time=2026-01-02T03:04:05%2B24:00&list=[1]&some=%ff"},
		"more Go syntax": {form, "text=%00&raw=%00&bool=t&int=1_000&float=1_000&time=2026-01-02T3:04:05Z&list=[\"%ff\"]&some=%ff"},
		"more":           {jsonType, `{"text":true,"raw":[],"bool":0,"int":9007199254740992,"float":1e999,"time":"x","list":"a","some":{}}`},
	} {
		var got allTypes
		_, fieldErrs := decode(t, test.contentType, test.body, &got, false)
		var params []string
		for _, f := range fieldErrs {
			params = append(params, f.Param)
			if f.In != "body" || f.Message == "" || (f.Code != "type" && f.Code != "format") {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if want := []string{"text", "raw", "bool", "int", "float", "time", "list", "some"}; !reflect.DeepEqual(params, want) {
			t.Errorf("%s: %v are invalid, want %v", name, params, want)
		}
	}
}

type ruled struct {
	Name   string  `json:"name" validate:"required,max=3"`
	Change *string `json:"change" validate:"max=3"`
	Pass   string  `json:"pass" trim:"no" validate:"min=8,uncommon"`
	Email  string  `json:"email" validate:"maxbytes=20,email"`
	URL    string  `json:"url" validate:"http_url"`
	Role   string  `json:"role" validate:"oneof=user admin"`
	Age    int64   `json:"age" validate:"required,min=0,max=99"`
	Host   string  `json:"host" validate:"max=5,dnslabel"`
}

func TestRules(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"name=abc&age=5":                           "",
		"name=äöü&email=a@example.com&age=5":       "",
		"age=5":                                    "name required",
		"name=++&age=5":                            "name required",
		"name=abcd&age=5":                          "name max_length 3",
		"name=a&change=&age=5":                     "",
		"name=a&change=abcd&age=5":                 "change max_length 3",
		"name=a&pass=1234567&age=5":                "pass min_length 8",
		"name=a&pass=Password1&age=5":              "pass too_common",
		"name=a&email=nobody&age=5":                "email format",
		"name=a&email=a@x.example.co&age=5":        "",
		"name=a&email=aaaaaaaaa@xample.com&age=5":  "",
		"name=a&email=aaaaaaaaaa@xample.com&age=5": "email max_length 20",
		"name=a&age=5&url=javascript:alert(1)":     "url format",
		"name=a&age=5&url=https://example.com":     "",
		"name=a&role=root&age=5":                   "role one_of [user admin]",
		"name=a&age=-1":                            "age min 0",
		"name=a&age=0":                             "",
		"name=a&age=":                              "age required",
		"name=a&age=100":                           "age max 99",
		"name=a&host=0-a&age=5":                    "",
		"name=a&host=a-&age=5":                     "host format",
		"name=a&host=-a&age=5":                     "host format",
		"name=a&host=A&age=5":                      "host format",
		"name=a&host=a.b&age=5":                    "host format",
		"name=a&host=a%0a&age=5":                   "",
		"name=a&host=a%0ab&age=5":                  "host format",
		"name=a&host=aaaaaa&age=5":                 "host max_length 5",
		"role=root&age=-1":                         "name required; role one_of [user admin]; age min 0",
	} {
		var in ruled
		var got []string
		_, fieldErrs := decode(t, form, body, &in, false)
		for _, f := range fieldErrs {
			line := f.Param + " " + string(f.Code)
			if f.Expected != nil {
				line += fmt.Sprint(" ", f.Expected)
			}
			got = append(got, line)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %v, want %s", body, got, want)
		}
	}
}

// pair is a Parser: a JSON array of two strings.
type pair [2]string

func (p *pair) ParseInput(name string, value json.RawMessage) (fieldErrs []apperr.Field) {
	var texts []any
	if json.Unmarshal(value, &texts) != nil || len(texts) != len(p) {
		return []apperr.Field{{Param: name, Code: "type"}}
	}
	for i := range p {
		var ok bool
		if p[i], ok = texts[i].(string); !ok {
			fieldErrs = append(fieldErrs, apperr.Field{Param: fmt.Sprintf("%s[%d]", name, i), Code: "format"})
		}
	}
	return fieldErrs
}

// words is a Parser whose kind is slice.
type words []struct{ Text string }

func (w *words) ParseInput(name string, value json.RawMessage) []apperr.Field {
	if json.Unmarshal(value, w) != nil {
		return []apperr.Field{{Param: name, Code: "type"}}
	}
	return nil
}

// TestParserOfList checks that a form cannot repeat a parameter whose type is a list that implements Parser.
func TestParserOfList(t *testing.T) {
	t.Parallel()
	type listed struct {
		Words words `json:"words"`
	}
	for body, want := range map[string]string{`words=[{"Text":"a"}]`: "", `words=[]&words=[]`: "Must be given once."} {
		var in listed
		got := ""
		if _, fieldErrs := decode(t, form, body, &in, false); fieldErrs != nil {
			got = fieldErrs[0].Message
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestRuleRequired checks that other rules whose name begins with required do not require a parameter.
func TestRuleRequired(t *testing.T) {
	t.Parallel()
	type input struct {
		One   string `validate:"required"`
		Two   string `validate:"required,max=1"`
		Three string `validate:"required_if=One x"`
	}
	got := ""
	for _, f := range fieldsOf(reflect.TypeFor[input]()) {
		got += fmt.Sprintf("%t %q; ", f.required, f.rules)
	}
	if want := `true ""; true "max=1"; false "required_if=One x"; `; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestParser(t *testing.T) {
	t.Parallel()
	type paired struct {
		Name  string `json:"name" validate:"required"`
		Plain pair   `json:"plain"`
		Maybe *pair  `json:"maybe"`
		Last  string `json:"last" validate:"required"`
	}
	for _, test := range []struct {
		contentType, body string
		want              paired
		fieldErrs         string
	}{
		{jsonType, `{"name":"n","last":"l"}`, paired{Name: "n", Last: "l"}, ""},
		{jsonType, `{"name":"n","last":"l","plain":["a","b"],"maybe":["c","d"]}`, paired{Name: "n", Last: "l", Plain: pair{"a", "b"}, Maybe: &pair{"c", "d"}}, ""},
		{form, `name=n&last=l&plain=["a","b"]&maybe=+["c","d"]+`, paired{Name: "n", Last: "l", Plain: pair{"a", "b"}, Maybe: &pair{"c", "d"}}, ""},
		{jsonType, `{"name":"n","last":"l","plain":null,"maybe":null}`, paired{Name: "n", Last: "l"}, ""},
		{form, `name=n&last=l&plain=null&maybe=+null`, paired{Name: "n", Last: "l"}, ""},
		{jsonType, `{"plain":[1,2],"maybe":"x"}`, paired{}, "name required; plain[0] format; plain[1] format; maybe type; last required"},
		{form, `plain=&maybe=["a","b"]&maybe=["a","b"]`, paired{}, "name required; plain type; maybe type; last required"},
	} {
		var in paired
		_, fieldErrs := decode(t, test.contentType, test.body, &in, false)
		if got := codes(fieldErrs); got != test.fieldErrs || got == "" && !reflect.DeepEqual(in, test.want) {
			t.Errorf("%s: %+v, %q", test.body, in, got)
		}
		for _, f := range fieldErrs {
			if f.In != "body" {
				t.Errorf("%s: %+v", test.body, f)
			}
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		body string
		want []string
		has  bool
	}{
		{`{"a":"x"}`, []string{"x"}, true},
		{`{"a":1}`, nil, true},
		{`{"a":["x"]}`, nil, true},
		{`{}`, nil, false},
		{`{"a":null}`, []string{""}, false},
	} {
		v, err := read(jsonType, test.body)
		if err != nil || !slices.Equal(v.Strings("a"), test.want) || v.Has("a") != test.has {
			t.Errorf("%s: %q, %t, %v", test.body, v.Strings("a"), v.Has("a"), err)
		}
	}
	if v, err := read(form, "a=x&a=y"); err != nil || len(v.Strings("a")) != 2 || !v.Has("a") || v.Has("b") {
		t.Errorf("twice: %v", err)
	}
}

// TestDecodePatch checks absent, empty and other parameters. Empty parameters get their default. Rules apply only to
// parameters that are not empty.
func TestDecodePatch(t *testing.T) {
	t.Parallel()
	type embedded struct {
		Text string `json:"text" default:"none" validate:"max=4"`
	}
	type change struct {
		embedded
		Int   *int64      `json:"int" validate:"min=1,max=9"`
		Zero  int64       `json:"zero" validate:"required,min=0"`
		Float float64     `json:"float" default:"1.5"`
		Bool  *bool       `json:"bool"`
		Time  *store.Time `json:"time"`
		Enum  *string     `json:"enum" validate:"oneof=a b"`
		Ref   *store.ID   `json:"ref"`
		List  []string    `json:"list" validate:"max=2,dive,max=3"`
		Must  []string    `json:"must" validate:"required"`
	}
	when, err := store.ParseTime("2026-01-02T03:04:05.678Z")
	if err != nil {
		t.Fatal(err)
	}
	id := store.NewID()
	none := change{embedded: embedded{"none"}, Float: 1.5, List: []string{}, Must: []string{}}
	complete := change{
		embedded{"x"}, new(int64(5)), 0, 0, new(false), &when, new("a"), &id, []string{"abc"}, []string{"x"},
	}
	for _, test := range []struct {
		contentType, body string
		want              change
		given             int
		fieldErrs         string
	}{
		{jsonType, `{}`, none, 0, ""},
		{jsonType, `{"text":"x","int":5,"zero":0,"float":0,"bool":false,"time":"2026-01-02T03:04:05.678Z","enum":"a","ref":"` + id.Hex() + `","list":["abc"],"must":["x"]}`, complete, 10, ""},
		{form, "text=x&int=5&zero=0&float=0&bool=false&time=2026-01-02T03:04:05.678Z&enum=a&ref=" + id.Hex() + "&list=abc&must=x", complete, 10, ""},
		{jsonType, `{"text":null,"int":null,"float":null,"bool":null,"time":null,"enum":null,"ref":null,"list":null}`, none, 8, ""},
		{jsonType, `{"text":" ","enum":"","list":[]}`, none, 3, ""},
		{form, "text=&int=&float=+&bool=&time=&enum=&ref=&list=", none, 8, ""},
		{form, "list=[a,b]&must=[", change{embedded: embedded{"none"}, Float: 1.5, List: []string{"[a", "b]"}, Must: []string{"["}}, 2, ""},
		{form, "list=[]&must=[\"\"]", none, 0, "must required"},
		{jsonType, `{"int":0,"zero":null,"float":"","bool":"","time":"","list":["abcd","","abcd"],"must":[]}`, none, 0,
			"int min; zero required; float type; bool type; time type; list[0] max_length; list[2] max_length; must required"},
		{form, "zero=1&must=x&list=,abcd", none, 0, "list[1] max_length"},
		{jsonType, `{"int":10,"ref":5,"list":["a","b","c"]}`, none, 0, "int max; ref type; list max_length"},
		{form, "text=abcde&int=10&int=&zero=&ref=x&enum=c&must=", none, 0, "text max_length; int type; zero required; enum one_of; ref format; must required"},
	} {
		var in change
		given, fieldErrs := decode(t, test.contentType, test.body, &in, true)
		if got := codes(fieldErrs); got != test.fieldErrs || got == "" && !reflect.DeepEqual(in, test.want) || len(given) != test.given {
			t.Errorf("%s: %+v, %d given, %q", test.body, in, len(given), got)
		}
	}
}

// TestDecodeStoreTypes checks valid and invalid values of the types of package store, and of lists.
func TestDecodeStoreTypes(t *testing.T) {
	t.Parallel()
	type input struct {
		Price  store.Decimal   `json:"price" validate:"decmin=-0.5,decmax=10.25"`
		Prices []store.Decimal `json:"prices"`
		Day    *store.Date     `json:"day"`
		Key    store.UUID      `json:"key"`
		Refs   []store.ID      `json:"refs"`
		Sizes  []int64         `json:"sizes" validate:"max=3"`
		Data   *store.Object   `json:"data"`
	}
	id := store.NewID()
	key := "123e4567-e89b-42d3-a456-426614174000"
	deep := strings.Repeat(`{"a":`, 10) + "1" + strings.Repeat("}", 10)
	for _, test := range []struct{ contentType, body, want string }{
		{jsonType, `{"price":"10.250","prices":[1,"2.50"],"day":"2026-01-02","key":"` + strings.ToUpper(key) + `","refs":["` + id.Hex() + `"],"sizes":[1,-2],"data":{"a":null,"b":{"c":[null]}}}`,
			`{"price":"10.25","prices":["1","2.5"],"day":"2026-01-02","key":"` + key + `","refs":["` + id.Hex() + `"],"sizes":[1,-2],"data":{"b":{"c":[null]}}}`},
		{form, `price=-0.5&prices=1,+2.50&day=2026-01-02&key=` + key + `&refs=` + id.Hex() + `&sizes=1&sizes=-2&data={"b":1}`,
			`{"price":"-0.5","prices":["1","2.5"],"day":"2026-01-02","key":"` + key + `","refs":["` + id.Hex() + `"],"sizes":[1,-2],"data":{"b":1}}`},
		{form, `prices=[1e-05,"2.50"]&refs=["` + id.Hex() + `"]&sizes=[1.0,-2e0]`,
			`{"price":"0","prices":["0.00001","2.5"],"day":null,"key":"","refs":["` + id.Hex() + `"],"sizes":[1,-2],"data":null}`},
		{jsonType, `{"price":1e1,"sizes":[1.0,9007199254740991.0,1E+3]}`,
			`{"price":"10","prices":[],"day":null,"key":"","refs":[],"sizes":[1,9007199254740991,1000],"data":null}`},
		{jsonType, `{"data":` + deep + `}`, `{"price":"0","prices":[],"day":null,"key":"","refs":[],"sizes":[],"data":` + deep + `}`},
		{jsonType, `{"price":10.250001}`, "price max"},
		{jsonType, `{"price":-0.500001}`, "price min"},
		{jsonType, `{"price":1e-7,"sizes":[4503599627370497.1]}`, "price type; sizes type"},
		{jsonType, `{"sizes":[9007199254740992.0]}`, "sizes type"},
		{jsonType, `{"sizes":[1e16]}`, "sizes type"},
		{form, `sizes=["1"]&prices=[[1]]&refs=[null]`, "prices type; refs type; sizes type"},
		{jsonType, `{"price":"1.0000001"}`, "price type"},
		{jsonType, `{"price":true,"prices":[null],"day":"2026-02-30","key":"x","refs":["x"],"sizes":[1.5],"data":[]}`,
			"price type; prices type; day type; key format; refs format; sizes type; data type"},
		{jsonType, `{"day":5,"key":5,"refs":[5],"sizes":["1"],"data":"{}"}`, "day type; key type; refs type; sizes type; data type"},
		{jsonType, `{"sizes":[1,2,3,4],"data":{"a":` + deep + `}}`, "sizes max_length; data max"},
		{jsonType, `{"data":{"a":"\u0000"}}`, "data type"},
		{jsonType, `{"data":{"\u0000":1}}`, "data type"},
		{jsonType, `{"data":{"a":1,"a":2}}`, "data type"},
		{jsonType, `{"data":{"a":1e400}}`, "data type"},
		{form, `data={"a":"` + strings.Repeat("x", 600) + `"}&price=x`, "price type"},
	} {
		var in input
		_, fieldErrs := decode(t, test.contentType, test.body, &in, false)
		got := codes(fieldErrs)
		if fieldErrs == nil {
			view, err := json.Marshal(in)
			if err != nil {
				t.Error(err)
			}
			got = string(view)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %s", test.body, got, test.want)
		}
	}
}
