package rest

import (
	"errors"
	"testing"

	"example.com/ginseng/kit/apperr"
)

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
