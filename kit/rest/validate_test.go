package rest

import (
	"encoding/json"
	"errors"
	"testing"

	"example.com/ginseng/kit/apperr"
)

// TestDescription checks that the messages of a field end with its description.
func TestDescription(t *testing.T) {
	t.Parallel()
	var in struct {
		Room string `json:"room" validate:"required,max=4" doc:"The room, such as 2.14"`
		Name string `json:"name" validate:"required"`
	}
	for body, want := range map[string]string{
		`{"name": "a"}`: "Must be given. The room, such as 2.14.", `{"name": "a", "room": 2}`: "Must be a string. The room, such as 2.14.",
		`{"name": "a", "room": "2.145"}`: "Must have at most 4 characters. The room, such as 2.14.", `{"room": "2.14"}`: "Must be given.",
	} {
		var params Params
		if err := json.Unmarshal([]byte(body), &params.json); err != nil {
			t.Fatal(err)
		}
		var e *apperr.Error
		if _, err := params.decode(&in, false); !errors.As(err, &e) || len(e.Fields) != 1 || e.Fields[0].Message != want {
			t.Errorf("%s: %v, want %s", body, e, want)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	type input struct {
		Email string `json:"email" validate:"required,email,normalizable"`
		Name  string `json:"name" validate:"max=3"`
	}
	for in, want := range map[input]string{
		{}:                                             "", // nothing to check
		{Email: "ada@example.com", Name: "Ada"}:        "",
		{Email: "ada@BÜCHER.example"}:                  "",
		{Email: "ada@bu\u0308cher.example"}:            "",
		{Email: "ada@xn--bcher-kva.example"}:           "",
		{Email: "ada@XN--zz.example"}:                  "email",
		{Email: "ada@ｅｘａｍｐｌｅ.com"}:                     "email",
		{Email: "ada@ex\u00ADample.com"}:               "email", // soft hyphen
		{Email: "\u212Aate@example.com"}:               "email", // Kelvin sign
		{Email: "kate@example.com", Name: "Ada Byron"}: "name",
	} {
		var e *apperr.Error
		got := ""
		if errors.As(Validate(in), &e) {
			got = e.Fields[0].Param
		}
		if got != want || want != "" && (e.Code != apperr.ValidationFailed || len(e.Fields) != 1) {
			t.Errorf("%+q: %q %v, want %q", in, got, e, want)
		}
	}
}
