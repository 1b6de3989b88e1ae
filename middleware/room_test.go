package middleware

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

const roomResponse = 100 << 10 // bytes of a response of roomHandler

// roomHandler returns a handler whose caller is in the header Caller. POST /plain counts its calls in ran; POST /atomic stores its
// response in a transaction.
func roomHandler(i *Idempotency, db store.DB, ran *int) http.Handler {
	engine := gin.New()
	engine.Use(func(g *gin.Context) {
		caller := access.Principal{Master: g.GetHeader("Caller") == "master"}
		caller.UserID, _ = store.ParseID(g.GetHeader("Caller"))
		rest.SetCaller(g, caller)
	})
	engine.POST("/plain", i.Middleware(), rest.Handle(func(g *gin.Context) error {
		*ran++
		return rest.OK(g, strings.Repeat("x", roomResponse))
	}))
	engine.POST("/atomic", i.Middleware(), rest.Handle(func(g *gin.Context) error {
		body := []byte(strings.Repeat("x", roomResponse))
		err := db.Together(g.Request.Context(), func(ctx context.Context) error { return KeepResponse(ctx, g, 200, body) })
		if err == nil {
			g.Data(200, rest.ContentType, body)
		}
		return err
	}))
	return engine
}

// sendAs sends a POST request of the caller, with a key if it is not empty.
func sendAs(instance http.Handler, path, caller, key string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", path, strings.NewReader("a=1"))
	r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Caller": {caller}}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	instance.ServeHTTP(w, r)
	return w
}

// TestRoom checks that an owner can store responses up to maxStored bytes, that all instances count them, and that expired
// responses do not count.
func TestRoom(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	now, ran := time.Now(), 0
	var i *Idempotency // the newest instance
	newInstance := func() http.Handler {
		i = NewIdempotency(db, []string{"secret"}, func() time.Time { return now })
		return roomHandler(i, db, &ran)
	}
	one, two := newInstance(), newInstance()
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	ada, eve := store.NewID().Hex(), store.NewID().Hex()
	// Room for three and a half responses: a response in a transaction must fit, another may exceed the limit. The master key has
	// no limit.
	for _, owner := range []string{ada, ""} {
		stored := storedResponse{
			Meta: store.NewMeta(store.NewID(), store.At(now)), Key: "stored by " + owner, Owner: owner, ExpiresAt: store.At(now.Add(responseTTL)),
			Size: maxStored - 3*roomResponse - roomResponse/2,
		}
		if err := i.responses.Insert(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name     string
		instance http.Handler
		path     string
		caller   string
		key      string
		status   int
	}{
		{"first", one, "/plain", ada, "1", 200},
		{"second", one, "/atomic", ada, "2", 200},
		{"third, on another instance", two, "/plain", ada, "3", 200},
		{"fourth, in a transaction: does not fit", two, "/atomic", ada, "4", 429},
		{"fourth, in a transaction: does not fit, again", two, "/atomic", ada, "4", 429},
		{"crosses the limit", two, "/plain", ada, "5", 200},
		{"no room", two, "/plain", ada, "6", 429},
		{"no room on a third instance", newInstance(), "/plain", ada, "6", 429},
		{"replay", one, "/plain", ada, "1", 200},
		{"without a key", one, "/plain", ada, "", 200},
		{"another user", one, "/plain", eve, "1", 200},
		{"no user", one, "/plain", "", "1", 200},
		{"master key, 1", one, "/plain", "master", "1", 200},
		{"master key, 2", one, "/plain", "master", "2", 200},
		{"master key, 3", one, "/plain", "master", "3", 200},
		{"master key, 4", one, "/plain", "master", "4", 200},
	} {
		before := ran
		w := sendAs(test.instance, test.path, test.caller, test.key)
		if w.Code != test.status {
			t.Errorf("%s: status %d, want %d: %.200s", test.name, w.Code, test.status, w.Body)
		}
		if w.Code == 429 && (w.Header().Get("Retry-After") != "86400" || ran != before) {
			t.Errorf("%s: Retry-After %q, %d handlers ran", test.name, w.Header().Get("Retry-After"), ran-before)
		}
		if replayed := w.Header().Get("Idempotency-Replayed") == "true"; replayed != (test.name == "replay") {
			t.Errorf("%s: replayed is %t", test.name, replayed)
		}
	}
	now = now.Add(responseTTL)
	if w := sendAs(two, "/plain", ada, "7"); w.Code != 200 { // two has no room in memory
		t.Errorf("after a day: status %d", w.Code)
	}
}

// TestOwnerOfSite checks that the /64 networks of a /48, which one customer can have, share the room for stored responses.
func TestOwnerOfSite(t *testing.T) {
	t.Parallel()
	owner := func(address string) string { return ownerOf(from(address, store.ID{})) }
	if one := owner("2001:db8:0:1::1"); one != owner("2001:db8:0:2::1") || one == owner("2001:db8:1:1::1") || one == owner("192.0.2.1") {
		t.Errorf("%s is the owner of another site, or not of the whole site", one)
	}
}
