package rest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// row counts how often it is encoded.
type row struct{ encoded *int }

func (r row) MarshalJSON() ([]byte, error) {
	*r.encoded++
	return []byte(`"` + strings.Repeat("x", 10_000) + `"`), nil
}

func nobody() string { return "" }

// TestEncodingReserves encodes views. The encoding ends early if a page is larger than a quarter of the budget, or a record larger
// than the budget.
func TestEncodingReserves(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	for _, test := range []struct {
		method string
		page   int64 // reserved before
		rows   int
		want   apperr.Code
	}{
		{"GET", 0, 10, ""},
		{"GET", 0, 100, ""},
		{"GET", 0, 300, ""}, // a record larger than a quarter
		{"GET", 0, 620, ""}, // a record of 98 percent of the budget
		{"GET", 0, 1000, apperr.Unavailable},
		{"GET", limit / 2, 100, ""},
		{"GET", limit / 2, 300, apperr.Unavailable},
		{"GET", limit / 2, 1000, apperr.Unavailable},
		{"POST", 0, 1000, ""}, // the response reports a change that has been made
		{"POST", limit / 2, 1000, apperr.Unavailable},
	} {
		encoded, view := 0, make([]row, test.rows)
		for i := range view {
			view[i].encoded = &encoded
		}
		budget := NewBudget(4*(limit+limit/2), 4*(limit+limit/2), time.Minute)
		ctx, release := budget.Context(t.Context(), nobody)
		if test.page > 0 {
			if err := ReservePage(ctx, test.page); err != nil {
				t.Fatal(err)
			}
		}
		recorder := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(recorder)
		c.Request = httptest.NewRequest(test.method, "/", nil).WithContext(ctx)
		err := OK(c, view)
		if apperr.CodeOf(err) != test.want || err != nil && (encoded > 700 || recorder.Body.Len() > 0) {
			t.Errorf("%+v: %v, %d rows encoded, %d bytes", test, err, encoded, recorder.Body.Len())
		}
		if err != nil && strings.Contains(err.Error(), "Try again") {
			t.Errorf("%+v: the response can never be sent: %v", test, err)
		}
		if err == nil && recorder.Body.Len() != test.rows*10_003+2 {
			t.Errorf("%+v: %d bytes", test, recorder.Body.Len())
		}
		release()
		ctx, release = budget.Context(t.Context(), nobody)
		if err := ReservePage(ctx, limit+limit/2); err != nil {
			t.Errorf("%+v: the share was not released: %v", test, err)
		}
		release()
	}
}

// TestNoTagWithoutShare checks that a response for which there is no memory has no ETag.
func TestNoTagWithoutShare(t *testing.T) {
	t.Parallel()
	ctx, release := NewBudget(1, 1, time.Millisecond).Context(t.Context(), nobody)
	defer release()
	recorder := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(recorder)
	c.Request = httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx)
	c.Header("ETag", `"x"`)
	if err := OK(c, strings.Repeat("x", LargeResponse)); !apperr.Is(err, apperr.Unavailable) || recorder.Header().Get("ETag") != "" {
		t.Errorf("%v, %v", err, recorder.Header())
	}
}

// TestSharer checks that the master key, users and networks are different callers.
func TestSharer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, caller := range []access.Principal{{}, {Master: true}, {UserID: store.NewID(), Role: access.RoleUser}} {
		g, _ := gin.CreateTestContext(httptest.NewRecorder())
		g.Request = httptest.NewRequest(http.MethodGet, "/", nil)
		SetCaller(g, caller)
		seen[Sharer(g)] = true
	}
	if len(seen) != 3 {
		t.Errorf("%v", seen)
	}
}
