// Package records imports the records of a resource from a file, and exports them. Imports and exports call the routes of the
// API in process, with the master key. Therefore, the API validates imported records, and an export has all fields of the list.
package records

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/suggest"
)

// Service provides access to the resources of a service, for imports and exports.
type Service struct {
	db     *DB
	table  *route.Table
	engine *gin.Engine // has the routes of resources, with the middleware allow
}

// NewService returns the Service of the resources in the table. The collections were opened with db.
func NewService(db *DB, table *route.Table) *Service {
	s := &Service{db: db, table: table, engine: gin.New()}
	for _, r := range table.Routes() {
		if r.Resource != "" {
			s.engine.Handle(r.Method, r.Path, slices.Concat(r.With, []gin.HandlerFunc{allow, rest.Handle(r.Handler, r.Query...)})...)
		}
	}
	return s
}

// allow treats a request as a request with the master key, whatever callers the route accepts.
func allow(g *gin.Context) {
	rest.SetCaller(g, access.Principal{Master: true})
	call, ok := callOf(g.Request.Context())
	if !ok {
		return
	}
	call.g = g
	rest.SetExports(g, call.export)
	g.Next()
	call.err = rest.Failure(g)
}

// call is a request that is handled in process, and its response. The context of the request contains the call.
type call struct {
	g       *gin.Context // set by allow
	err     error        // error of the response
	header  http.Header
	body    func([]byte) error // nil: the body of the response is not used
	bodyErr error              // the error that body returned
	export  *rest.Exports      // nil: the request is not an export

	// The following fields are for an import.
	on     *Importer
	record *record
}

type callKey struct{}

func callOf(ctx context.Context) (*call, bool) {
	c, ok := ctx.Value(callKey{}).(*call)
	return c, ok
}

// Header implements http.ResponseWriter.
func (c *call) Header() http.Header { return c.header }

// WriteHeader implements http.ResponseWriter.
func (c *call) WriteHeader(int) {}

// Flush implements http.Flusher.
func (c *call) Flush() {}

// Write implements http.ResponseWriter.
func (c *call) Write(p []byte) (int, error) {
	if c.body == nil {
		return len(p), nil
	}
	if err := c.body(p); err != nil {
		c.bodyErr = err
		return 0, err
	}
	return len(p), nil
}

// send sends a request, and returns the error of the response.
func (s *Service) send(ctx context.Context, c *call, method, path string, query url.Values, body []byte) (err error) {
	target := s.table.Root() + path
	if query != nil {
		target += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(context.WithValue(ctx, callKey{}, c), method, target, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	c.header = http.Header{}
	defer func() {
		v := recover()
		if v != nil && v != http.ErrAbortHandler {
			panic(v)
		}
		if v != nil {
			err = cmp.Or(c.bodyErr, error(c.g.Errors.Last())) // the error that aborted an export
		}
	}()
	s.engine.ServeHTTP(c, request)
	return errors.Join(c.err, c.bodyErr)
}

// target is a resource whose records are imported or exported.
type target struct {
	name             string
	list, collection string // paths of the list, with a parameter, such as :id, for each parent; list has the root of the API
	engine           *engine
	parents          []*engine // outermost first
	routes           []*route.Route
}

// target returns the resource with the name.
func (s *Service) target(name string) (*target, error) {
	if !slices.Contains(s.table.Resources(), name) {
		hint := "the resources are " + strings.Join(s.table.Resources(), ", ")
		if near := suggest.Nearest(name, s.table.Resources()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return nil, fmt.Errorf("there is no resource %q; %s", name, hint)
	}
	t := &target{name: name, engine: s.db.engines[name]}
	for _, r := range s.table.Routes() {
		if r.Resource == name && (r.IsList() || r.IsRecord()) {
			t.routes = append(t.routes, r)
		}
		if r.Resource == name && r.IsList() {
			t.list, t.collection = r.Path, strings.TrimPrefix(r.Path, s.table.Root())
		}
	}
	segments := strings.Split(t.collection, "/")
	for i, segment := range segments {
		if !strings.HasPrefix(segment, ":") {
			continue
		}
		parent := s.db.engines[segments[i-1]]
		if parent == nil {
			return nil, fmt.Errorf("the records of %s are under %s, which is not a collection", name, segments[i-1])
		}
		t.parents = append(t.parents, parent)
	}
	if t.engine == nil || t.collection == "" || len(t.parents) > 0 && t.engine.spec.Parent == "" {
		return nil, fmt.Errorf("the resource %s is not stored in a collection of this name, so its records cannot be imported or exported", name)
	}
	return t, nil
}

// has reports whether the resource has a route with the method: for a record if ofRecord is true, otherwise for the collection.
func (t *target) has(method string, ofRecord bool) bool {
	return slices.ContainsFunc(t.routes, func(r *route.Route) bool {
		return r.Method == method && r.IsRecord() == ofRecord
	})
}

// path returns the path of the list of the records under the parents.
func (t *target) path(parents []store.ID) string {
	segments := strings.Split(t.collection, "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, ":") {
			segments[i], parents = parents[0].Hex(), parents[1:]
		}
	}
	return strings.Join(segments, "/")
}

// under returns the IDs of the parent and its ancestors, outermost first.
func (t *target) under(ctx context.Context, parent store.ID) ([]store.ID, error) {
	ids := []store.ID{parent}
	for i := len(t.parents) - 1; i > 0; i-- {
		e := t.parents[i]
		doc := e.spec.NewDocument()
		if err := e.Engine.First(ctx, store.Eq("id", ids[0]), doc); err != nil {
			return nil, apperr.Replace(err, apperr.NotFound, apperr.Invalid(unknownParent(t.engine.spec.Parent)))
		}
		ids = append([]store.ID{field(doc, e.spec.Parent).Interface().(store.ID)}, ids...)
	}
	return ids, nil
}

func unknownParent(param string) apperr.Field {
	return apperr.Field{In: "body", Param: param, Code: apperr.UnknownReference, Message: "There is no such record."}
}
