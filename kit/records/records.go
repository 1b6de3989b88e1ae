// Package records imports the records of a resource from a file, and exports them. An import creates records with the resource.Creator
// of the module, so the rules of the API apply to them. An export has all fields of the list. Use package exchange to read or write the
// formats only, package transfer to copy a whole database, and package batch to let clients of the API store several records together.
package records

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/suggest"
)

// Service imports and exports the records of a service.
type Service struct {
	db        store.DB
	table     *route.Table
	resources *kit.Resources
}

// NewService returns the Service for the resources of the modules that were created with d. The table of d.Routes must be mounted.
func NewService(d kit.Deps) *Service {
	return &Service{db: d.DB, table: d.Routes, resources: d.Resources}
}

// target is a resource whose records are imported or exported.
type target struct {
	*kit.Resource
	path    string          // path of the list below the root of the API, with a parameter, such as :id, for each parent
	parents []*kit.Resource // outermost first
	routes  []*route.Route
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
	t := &target{Resource: s.resources.Named(name)}
	for _, r := range s.table.Routes() {
		if r.Resource == name && (r.IsList() || r.IsRecord()) {
			t.routes = append(t.routes, r)
		}
		if r.Resource == name && r.IsList() {
			t.path = strings.TrimPrefix(r.Path, s.table.Root())
		}
	}
	segments := strings.Split(t.path, "/")
	for i, segment := range segments {
		if !strings.HasPrefix(segment, ":") {
			continue
		}
		parent := s.resources.Named(segments[i-1])
		if parent == nil {
			return nil, fmt.Errorf("the records of %s are under %s, which is not a collection", name, segments[i-1])
		}
		t.parents = append(t.parents, parent)
	}
	if t.Resource == nil || t.path == "" || len(t.parents) > 0 && t.Spec.Parent == "" {
		return nil, fmt.Errorf("the resource %s is not stored in a collection of this name, so its records cannot be imported or exported", name)
	}
	return t, nil
}

// has reports whether the resource has a route with the method: for a record if ofRecord is true, otherwise for the list.
func (t *target) has(method string, ofRecord bool) bool {
	return slices.ContainsFunc(t.routes, func(r *route.Route) bool {
		return r.Method == method && r.IsRecord() == ofRecord
	})
}

// list returns the path of the list of the records under the parents.
func (t *target) list(parents []store.ID) string {
	segments := strings.Split(t.path, "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, ":") {
			segments[i], parents = parents[0].Hex(), parents[1:]
		}
	}
	return strings.Join(segments, "/")
}

// ancestors returns the IDs of the parent of a record and of the ancestors of the parent, outermost first.
func (t *target) ancestors(ctx context.Context, doc store.Document) (ids []store.ID, err error) {
	child := t.Resource
	for _, parent := range slices.Backward(t.parents) {
		id := field(doc, child.Spec.Parent).Interface().(store.ID)
		ids = append([]store.ID{id}, ids...)
		child, doc = parent, parent.NewDocument()
		if len(ids) == len(t.parents) {
			break
		}
		if err := parent.Engine.First(ctx, store.Eq("id", id), doc); err != nil {
			return nil, apperr.Replace(err, apperr.NotFound, t.unknownParent())
		}
	}
	return ids, nil
}

// unknownParent returns the error for a record whose parent does not exist.
func (t *target) unknownParent() error {
	return apperr.Invalid(apperr.Field{In: "body", Param: t.Spec.Parent, Code: apperr.UnknownReference, Message: "There is no such record."})
}

// canCreate returns an error if the records of the resource cannot be imported.
func (t *target) canCreate() error {
	switch {
	case !t.has(http.MethodPost, false):
		return fmt.Errorf("records of %s cannot be imported, because no route creates them", t.Name)
	case t.Creator == nil:
		return fmt.Errorf("records of %s cannot be imported, because their module creates them without a resource.Creator; see resource.NewCreator", t.Name)
	}
	return nil
}
