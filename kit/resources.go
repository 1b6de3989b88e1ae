package kit

import (
	"context"
	"encoding/json"
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/store"
)

// Resources are the resources of a service, in the order in which package resource has opened them. They are complete after all
// modules are created.
type Resources struct{ all []*Resource }

// Resource is a collection with rules, for code that handles the records of every module.
type Resource struct {
	Name       string // name of the collection, such as articles
	Record     string // name of a record in kebab-case, such as article
	Spec       store.Spec
	Engine     store.Engine // the records, without rules
	References []Reference
	Creator    Creator // nil: the module has no resource.Creator

	// NewDocument returns a pointer to a zero document.
	NewDocument func() store.Document
	// PublicView returns the view of a record for callers without a credential. NotFound: the record does not exist, or these
	// callers may not see the record.
	PublicView func(ctx context.Context, id store.ID) (any, error)
}

// Reference is a field that refers to records of a resource.
type Reference struct {
	Field    string
	Resource string // name of the resource that the field refers to
}

// Creator is a resource.Creator without its types, for imports.
type Creator interface {
	// New returns a pointer to the record that the caller creates with the parameters in a JSON object. The ID of the parent is
	// not set. ValidationFailed: parameters are invalid. New also returns the errors of the module's own rules.
	New(caller access.Principal, parameters json.RawMessage) (store.Document, error)
	// Parameters returns the names of the parameters.
	Parameters() []string
	// Create stores a record with the create function of resource.NewCreator, and returns its errors.
	Create(ctx context.Context, caller access.Principal, doc store.Document) error
	// Plain reports whether Create is resource.Collection.Create: the module has no create function.
	Plain() bool
	// RefersToOwn reports whether the record refers to a record of the same resource.
	RefersToOwn(doc store.Document) bool
	// Check returns, for each record, the error with which a plain Create would reject its references, or nil, with fewer
	// queries. The caller must act for all users.
	Check(ctx context.Context, caller access.Principal, docs []store.Document) ([]error, error)
}

// Add adds a resource. Package resource calls it while a module is created.
func (r *Resources) Add(resource *Resource) { r.all = append(r.all, resource) }

// Named returns the resource with the name, or nil.
func (r *Resources) Named(name string) *Resource {
	i := slices.IndexFunc(r.all, func(r *Resource) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return r.all[i]
}

// References returns the name of the resource that a field refers to, by resource and field: all["products"]["category"] is
// "categories".
func (r *Resources) References() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, resource := range r.all {
		for _, reference := range resource.References {
			if all[resource.Name] == nil {
				all[resource.Name] = map[string]string{}
			}
			all[resource.Name][reference.Field] = reference.Resource
		}
	}
	return all
}

// Recorded returns the resources whose changes are in the log.
func (r *Resources) Recorded() (recorded []*Resource) {
	for _, resource := range r.all {
		if resource.Spec.Changes {
			recorded = append(recorded, resource)
		}
	}
	return recorded
}
