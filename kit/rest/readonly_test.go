package rest

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// TestCheckReadOnly sends fields that only the service sets, with the current and with other values.
func TestCheckReadOnly(t *testing.T) {
	t.Parallel()
	type readOnly struct {
		State  string        `json:"state" default:"open"`
		PaidAt *store.Time   `json:"paidAt"`
		Total  store.Decimal `json:"total"`
		Tags   []string      `json:"tags"`
		Data   *store.Object `json:"data"`
	}
	paidAt, _ := store.ParseTime("2026-01-02T03:04:05Z")
	total, _ := store.ParseDecimal("12.5")
	paid := readOnly{State: "paid", PaidAt: &paidAt, Total: total, Tags: []string{"a", "b"}, Data: &store.Object{"b": 1.0, "a": map[string]any{}}}
	for _, test := range []struct {
		name, contentType, body string
		current                 readOnly
		want                    string
	}{
		{"no field", jsonType, `{"title":"x"}`, paid, ""},
		{"no body", jsonType, ``, paid, ""},
		{"the current values", jsonType, `{"state":"paid","paidAt":"2026-01-02T04:04:05+01:00","total":"12.50","tags":["a","b"],"data":{"a":{},"b":1}}`, paid, ""},
		{"the current values in a form", form, "state=paid&paidAt=2026-01-02T03:04:05Z&total=12.5&tags=a&tags=b", paid, ""},
		{"other values", jsonType, `{"state":"open","paidAt":"2026-01-02T03:04:06Z","total":12,"tags":["b","a"],"data":{"b":1}}`, paid,
			"state read_only; paidAt read_only; total read_only; tags read_only; data read_only"},
		{"null", jsonType, `{"state":null,"paidAt":null,"tags":null,"data":null}`, paid, "state read_only; paidAt read_only; tags read_only; data read_only"},
		{"empty values", form, "state=&paidAt=&tags=", readOnly{State: "open"}, ""},
		{"null of absent values", jsonType, `{"state":null,"paidAt":null,"tags":[],"data":null}`, readOnly{State: "open"}, ""},
		{"wrong types", jsonType, `{"state":1,"paidAt":"today","tags":"a"}`, paid, "state read_only; paidAt read_only; tags read_only"},
		{"malformed", jsonType, `{`, paid, "malformed_body"},
	} {
		g := &gin.Context{}
		g.Request = httptest.NewRequest("PATCH", "/", strings.NewReader(test.body))
		g.Request.Header.Set("Content-Type", test.contentType)
		err := CheckReadOnly(g, test.current)
		var failed *apperr.Error
		got := ""
		if errors.As(err, &failed) {
			if got = codes(failed.Fields); failed.Fields == nil {
				got = string(failed.Code)
			}
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
