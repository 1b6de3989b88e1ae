package policy

import (
	"context"
	"slices"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
)

// Service creates, reads, updates, deletes and evaluates policies.
type Service struct {
	policies *store.Collection[Policy]
	cache    *cache
	cursors  listing.Cursors
	now      func() time.Time
}

func newService(d kit.Deps) *Service {
	policies := store.Open[Policy](d.DB, storeSpec())
	return &Service{policies: policies, cache: newCache(d.DB, policies, d.Now), cursors: d.Cursors, now: d.Now}
}

// Create stores a new policy. ValidationFailed: the selector is invalid. Conflict: the namespace has a policy of this name.
func (s *Service) Create(ctx context.Context, in Input) (Policy, error) {
	if err := in.Selector.check(); err != nil {
		return Policy{}, err
	}
	p := Policy{
		Meta:      store.NewMeta(store.NewID(), store.At(s.now())),
		Namespace: in.Namespace,
		Name:      in.Name,
		Selector:  in.Selector,
	}
	err := s.cache.write(ctx, p.Namespace, func() error { return s.policies.Insert(ctx, p) })
	return p, err
}

// Get returns a policy, or NotFound.
func (s *Service) Get(ctx context.Context, id store.ID) (Policy, error) {
	return s.policies.Get(ctx, id)
}

// List returns a page of policies.
func (s *Service) List(ctx context.Context, q listing.Query) (listing.Page[View], error) {
	return listing.Run(ctx, s.policies, q, Policy.View)
}

// Update changes the given fields. NotFound: the policy does not exist. ValidationFailed: the namespace would change,
// or the selector is invalid.
// PreconditionFailed: the policy has none of the expected versions. Conflict: the namespace has another policy of this name.
func (s *Service) Update(ctx context.Context, id store.ID, expected store.Versions, in store.Patch[Input]) (Policy, error) {
	p, err := s.policies.Get(ctx, id)
	if err != nil {
		return p, err
	}
	if err := expected.Check(p.Version); err != nil {
		return p, err
	}
	if in.Has("namespace") && in.Fields.Namespace != p.Namespace {
		return p, apperr.Invalid(apperr.Field{
			In: "body", Param: "namespace", Code: apperr.FieldConflict,
			Message: "The namespace of a policy cannot change. Delete the policy and create one in the other namespace.",
		})
	}
	in.Given = slices.DeleteFunc(slices.Clone(in.Given), func(name string) bool { return name == "namespace" })
	if err := in.Fields.Selector.check(); err != nil {
		return p, err
	}
	changes := in.Changes()
	if changes == nil {
		return p, nil
	}
	var updated Policy
	err = s.cache.write(ctx, p.Namespace, func() error {
		var err error
		updated, err = s.policies.UpdateByID(ctx, id, expected, changes...)
		return err
	})
	return updated, err
}

// Delete removes a policy. NotFound, PreconditionFailed: see Update.
func (s *Service) Delete(ctx context.Context, id store.ID, expected store.Versions) error {
	p, err := s.policies.Get(ctx, id)
	if err != nil {
		return err
	}
	return s.cache.write(ctx, p.Namespace, func() error { return s.policies.DeleteByID(ctx, id, expected) })
}
