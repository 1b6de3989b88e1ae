package batch

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// newModule returns a Module with one route, which belongs to a resource.
func newModule(db store.DB, method, path string, handler route.Handler) *Module {
	engine, table := gin.New(), &route.Table{}
	table.Serve(engine, "", nil)
	table.Router().Resource(listing.Spec{Name: "things"}).Handle(method, path, route.Public, handler)
	engine.Handle(method, path, rest.Handle(handler))
	return &Module{
		DB: db, Table: table,
		Authenticate: func(context.Context, *gin.Context) (access.Principal, error) { return access.Principal{}, nil },
		Keep:         func(context.Context, *gin.Context, int, []byte) error { return nil },
	}
}

// TestRawOperation has an operation whose route reads the body itself. It is rejected before another operation runs.
func TestRawOperation(t *testing.T) {
	t.Parallel()
	table := &route.Table{}
	table.Router().Resource(listing.Spec{Name: "things"}).PUT("/things/:id/cover", route.User, rest.NoContent, route.Raw(1<<20))
	h := &Module{Table: table}
	err := h.checkRoutes(Operations{{Method: "PUT", Path: "/things/1/cover"}})
	var invalid *apperr.Error
	if !errors.As(err, &invalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Code != apperr.NotAllowed {
		t.Errorf("%v", err)
	}
}

// TestResponseOfStored lets other responses use the whole budget before a batch with a large response is committed. The response
// must not be an error, because the writes are stored.
func TestResponseOfStored(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	const size = 200 << 10
	budget := rest.NewBudget(1, 4*4*size, time.Millisecond)
	h := newModule(db, http.MethodPost, "/things", func(g *gin.Context) error { return rest.OK(g, strings.Repeat("x", size)) })
	h.Keep = func(context.Context, *gin.Context, int, []byte) error {
		others, release := budget.Context(t.Context(), func() string { return "" })
		t.Cleanup(release)
		for n := int64(1 << 10); rest.Reserve(others, n) == nil; n += 16 {
		}
		return nil
	}
	engine := gin.New()
	engine.POST("/batch", func(g *gin.Context) {
		ctx, release := budget.Context(g.Request.Context(), func() string { return "" })
		defer release()
		g.Request = g.Request.WithContext(ctx)
		rest.Handle(h.run)(g)
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

// record is a document that can refer to another one.
type record struct {
	store.Meta `bson:",inline"`
	To         *store.ID `json:"to"`
}

// TestSharedLimit deletes two records in one batch. Each deletion stays below the limit of a deletion, but both exceed it.
func TestSharedLimit(t *testing.T) {
	t.Parallel()
	deps := kit.Deps{DB: testdb.Open(t), Now: time.Now, Resources: &kit.Resources{}}
	open := func(name string, references ...resource.Reference) *resource.Collection[record] {
		spec := store.Spec{Name: name, Indexes: []store.Index{{Fields: []string{"to"}}}}
		return resource.Open(deps, spec, func(r record) record { return r }, resource.Public, resource.Public, references...)
	}
	targets := open("targets")
	referring := open("referring", resource.To("to", targets, resource.Cascade)).Unrestricted()
	if err := deps.DB.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	ids := []store.ID{store.NewID(), store.NewID()}
	err := deps.DB.Atomic(t.Context(), func(ctx context.Context) (err error) {
		add := func(c *store.Collection[record], id store.ID, to *store.ID) {
			err = errors.Join(err, c.Insert(ctx, record{store.NewMeta(id, store.At(time.Unix(1, 0))), to}))
		}
		for _, id := range ids {
			add(targets.Unrestricted(), id, nil)
			for range resource.MaxReferring/2 + 1 {
				add(referring, store.NewID(), &id)
			}
		}
		return err
	})
	if errors.Is(err, store.ErrNoTransactions) {
		t.Skip("the database has no transactions")
	} else if err != nil {
		t.Fatal(err)
	}
	h := newModule(deps.DB, http.MethodDelete, "/targets/:id", func(g *gin.Context) error {
		id, _ := store.ParseID(g.Param("id"))
		if err := targets.Delete(g.Request.Context(), access.Principal{Master: true}, id, nil); err != nil {
			return err
		}
		return rest.NoContent(g)
	})
	engine := gin.New()
	engine.POST("/batch", rest.Handle(h.run))
	remove := func(id store.ID) string { return `{"method":"DELETE","path":"/targets/` + id.Hex() + `"}` }
	for _, test := range []struct {
		operations string
		want       int
		body       string
	}{
		{remove(ids[0]) + "," + remove(ids[1]), http.StatusConflict, `"operation":1`},
		{remove(ids[0]), http.StatusOK, ""},
		{remove(ids[1]), http.StatusOK, ""},
	} {
		r := httptest.NewRequest("POST", "/batch", strings.NewReader(`{"operations":[`+test.operations+`]}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if engine.ServeHTTP(w, r); w.Code != test.want || !strings.Contains(w.Body.String(), test.body) {
			t.Errorf("%s: status %d, %.300s", test.operations, w.Code, w.Body)
		}
	}
}
