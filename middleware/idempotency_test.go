package middleware

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

func TestSweep(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	now := time.Now()
	i := NewIdempotency(db, []string{"secret"}, func() time.Time { return now })
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for key, expires := range map[string]time.Time{"old": now, "new": now.Add(time.Second)} {
		a := storedResponse{Meta: store.NewMeta(store.NewID(), store.At(now)), Key: key, ExpiresAt: store.At(expires)}
		if err := i.responses.Insert(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if err := i.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := i.responses.List(t.Context(), store.Query{})
	if err != nil || len(left) != 1 || left[0].Key != "new" {
		t.Errorf("%+v, %v", left, err)
	}
}

// TestUnknownOutcome repeats failed requests. A rejected request runs again. A request that may have created its
// record does not run again.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	runs := 0
	var failure error
	i := NewIdempotency(db, []string{"secret"}, time.Now)
	i.Wait = time.Millisecond
	engine := gin.New()
	engine.POST("/things", i.Middleware(), rest.Handle(func(g *gin.Context) error {
		if runs++; failure != nil {
			return failure
		}
		return rest.Created(g, store.NewMeta(store.NewID(), store.At(time.Now())), "made")
	}))
	post := func(key string) int {
		r := httptest.NewRequest("POST", "/things", strings.NewReader("a=1"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Idempotency-Key", key)
		w := httptest.NewRecorder()
		engine.ServeHTTP(w, r)
		return w.Code
	}
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		failure error
		again   int // status of the second call
		runs    int
	}{
		"overloaded":  {apperr.New(apperr.Unavailable, "Too much.").AsOverload(), 201, 2},
		"too long":    {store.ErrTooLong, 201, 2},
		"invalid":     {apperr.Invalid(), 201, 2},
		"unavailable": {store.Unavailable(errors.New("cut off")), 409, 1},
		"internal":    {errors.New("internal"), 409, 1},
	} {
		key := strings.ReplaceAll(name, " ", "-")
		runs, failure = 0, test.failure
		first := post(key)
		failure = nil
		again := post(key)
		if first < 400 || again != test.again || runs != test.runs {
			t.Errorf("%s: %d, then %d after %d runs, want %d after %d", name, first, again, runs, test.again, test.runs)
		}
	}
}

// TestLargeReplay repeats a request with a large response while other responses use the budget, and afterwards.
func TestLargeReplay(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	i := NewIdempotency(db, []string{"secret"}, time.Now)
	budget := rest.NewBudget(1, 4*2*rest.LargeResponse, time.Millisecond)
	engine := gin.New()
	engine.Use(ResponseBudget(budget))
	engine.POST("/things", i.Middleware(), rest.Handle(func(g *gin.Context) error {
		return rest.OK(g, strings.Repeat("x", rest.LargeResponse))
	}))
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	post := func() int {
		r := httptest.NewRequest("POST", "/things", strings.NewReader("a=1"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Idempotency-Key", "k")
		w := httptest.NewRecorder()
		engine.ServeHTTP(w, r)
		return w.Code
	}
	first := post()
	ctx, release := budget.Context(t.Context(), func() string { return "192.0.2.1" })
	if err := rest.Reserve(ctx, rest.LargeResponse); err != nil {
		t.Fatal(err)
	}
	during := post()
	release()
	if after := post(); first != 200 || during != 503 || after != 200 {
		t.Errorf("status %d, then %d and %d", first, during, after)
	}
}

// TestOtherParent repeats a key with the same body under another parent.
func TestOtherParent(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	i := NewIdempotency(db, []string{"secret"}, time.Now)
	engine := gin.New()
	engine.POST("/orders/:id/lines", i.Middleware(), rest.Handle(func(g *gin.Context) error {
		return rest.Created(g, store.NewMeta(store.NewID(), store.At(time.Now())), g.Param("id"))
	}))
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path   string
		status int
	}{{"/orders/a/lines", 201}, {"/orders/b/lines", 422}, {"/orders/a/lines?fields=id", 201}} {
		r := httptest.NewRequest("POST", test.path, strings.NewReader("a=1"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Idempotency-Key", "k")
		w := httptest.NewRecorder()
		engine.ServeHTTP(w, r)
		if w.Code != test.status {
			t.Errorf("%s: status %d, want %d: %s", test.path, w.Code, test.status, w.Body)
		}
	}
}
