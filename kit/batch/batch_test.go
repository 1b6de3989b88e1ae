package batch

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
	"example.com/ginseng/testkit/testdb"
)

// TestResponseOfStored lets other responses use the whole budget before a batch with a large response is committed. The response
// must not be an error, because the writes are stored.
func TestResponseOfStored(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	const size = 200 << 10
	budget := rest.NewBudget(1, 4*size, time.Millisecond)
	h := &Handler{DB: db, Engine: gin.New()}
	h.Engine.Use(Use)
	h.Engine.POST("/things", rest.Handle(func(g *gin.Context) error { return rest.OK(g, strings.Repeat("x", size)) }))
	h.Authenticate = func(context.Context, *gin.Context) (access.Principal, error) { return access.Principal{}, nil }
	h.Keep = func(context.Context, *gin.Context, int, []byte) error {
		others, release := budget.Context(t.Context())
		t.Cleanup(release)
		for n := int64(1 << 10); rest.Reserve(others, n) == nil; n += 16 {
		}
		return nil
	}
	engine := gin.New()
	engine.POST("/batch", func(g *gin.Context) {
		ctx, release := budget.Context(g.Request.Context())
		defer release()
		g.Request = g.Request.WithContext(ctx)
		rest.Handle(h.Handle)(g)
	})
	r := httptest.NewRequest("POST", "/batch", strings.NewReader(`{"operations":[{"method":"POST","path":"/things"}]}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, r)
	if w.Code == http.StatusNotImplemented {
		t.Skip("the database has no transactions")
	}
	if w.Code != http.StatusOK || w.Body.Len() < size {
		t.Errorf("status %d, %.300s", w.Code, w.Body)
	}
}
