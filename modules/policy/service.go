package policy

import (
	"context"
	"slices"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
)

// Service holds the rules of policies.
type Service struct {
	policies *store.Collection[Policy]
	journal  *journal
	replicas *replicas
	now      func() time.Time
	newID    func() store.ID
}

func newService(o Options) *Service {
	s := &Service{policies: store.Open[Policy](o.DB, storeSpec()), journal: openJournal(o), now: o.Now, newID: o.NewID}
	s.replicas = newReplicas(s.policies, s.journal, maxReplicas)
	return s
}

// Create makes a policy. Conflict: the namespace has one of the name.
func (s *Service) Create(ctx context.Context, in CreateInput) (Policy, error) {
	p := Policy{
		Meta:      store.NewMeta(s.newID(), store.At(s.now())),
		Namespace: in.Namespace,
		Name:      in.Name,
		Selector:  in.Selector,
	}
	end, err := s.journal.turn(ctx, p.Namespace)
	if err != nil {
		return p, err
	}
	defer end()
	err = s.write(ctx, p, true, func(ctx context.Context, revision int64) error {
		p.Revision = revision
		return s.policies.Insert(ctx, p)
	})
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

// Update changes what was given. NotFound; ValidationFailed: another namespace; PreconditionFailed: the policy has none
// of the versions expected; Conflict: the namespace has another policy of the name.
func (s *Service) Update(
	ctx context.Context, id store.ID, expected store.Versions, in UpdateInput,
) (changed Policy, err error) {
	err = s.change(ctx, id, expected, func(ctx context.Context, p Policy) error {
		changes := in.changes()
		switch {
		case in.Namespace != nil && *in.Namespace != p.Namespace:
			return apperr.Invalid(apperr.Field{
				In: "body", Param: "namespace", Code: apperr.FieldConflict,
				Message: "A policy stays in its namespace. Delete it, and create one in the other namespace.",
			})
		case changes == nil:
			changed = p
			return nil
		}
		return s.write(ctx, p, false, func(ctx context.Context, revision int64) (err error) {
			changes = append(changes, store.Set("revision", revision), store.Set("updatedAt", store.At(s.now())))
			changed, err = s.policies.UpdateByID(ctx, id, store.Versions{p.Version}, changes...)
			return err
		})
	})
	return changed, err
}

// changes are those that the input asks for.
func (in UpdateInput) changes() (changes []store.Change) {
	if in.Name != nil {
		changes = append(changes, store.Set("name", *in.Name))
	}
	if in.Selector != nil && in.Selector.MatchLabels == nil {
		changes = append(changes, store.Unset("selector"))
	} else if in.Selector != nil {
		changes = append(changes, store.Set("selector", *in.Selector))
	}
	return changes
}

// Delete removes a policy. NotFound, PreconditionFailed: as Update.
func (s *Service) Delete(ctx context.Context, id store.ID, expected store.Versions) error {
	return s.change(ctx, id, expected, func(ctx context.Context, p Policy) error {
		return s.write(ctx, p, false, func(ctx context.Context, _ int64) error {
			return s.policies.DeleteByID(ctx, id, store.Versions{p.Version})
		})
	})
}

// change calls try with the policy as it is, in one of the versions expected, and again whenever a change by another
// copy of the service came between.
func (s *Service) change(
	ctx context.Context, id store.ID, expected store.Versions, try func(context.Context, Policy) error,
) error {
	p, err := s.policies.Get(ctx, id)
	if err != nil {
		return err
	}
	end, err := s.journal.turn(ctx, p.Namespace)
	if err != nil {
		return err
	}
	defer end()
	for {
		if p, err = s.policies.Get(ctx, id); err != nil {
			return err
		}
		if err := expected.Check(p.Version); err != nil {
			return err
		}
		if err := try(ctx, p); !apperr.Is(err, apperr.PreconditionFailed) {
			return err
		}
	}
}

// write makes a claim for the policy, and then the write. This must not succeed unless the policy is in the version
// given: so it has been written under no later claim, and whoever finds a claim's revision, or a later one, in the
// policy knows that nothing more will come of the claim. The caller has the namespace's turn.
func (s *Service) write(
	ctx context.Context, p Policy, creates bool, do func(ctx context.Context, revision int64) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	c, err := s.journal.claim(ctx, p, creates)
	if err != nil {
		return err
	}
	err = do(ctx, c.Revision)
	if refusal := []apperr.Code{apperr.Conflict, apperr.PreconditionFailed}; slices.Contains(refusal, apperr.CodeOf(err)) {
		_ = s.journal.void(ctx, c) // if this fails, readers look for the write until the claim is old
	}
	return err
}

// Evaluate finds the policies that apply to a proxy, each as it was at a moment since the call.
func (s *Service) Evaluate(ctx context.Context, in EvaluateInput) (Evaluation, error) {
	r, err := s.replicas.current(ctx, in.Namespace)
	if err != nil {
		return Evaluation{}, err
	}
	proxy := in.proxy()
	applying, considered := r.selected(proxy, in.Explain)
	e := Evaluation{Count: len(applying), Rows: make([]View, len(applying))}
	for i, p := range applying {
		e.Rows[i] = p.View()
	}
	if !in.Explain {
		return e, nil
	}
	labels := proxy.EffectiveLabels()
	slices.SortFunc(considered, older)
	e.Explain = make([]Explanation, len(considered))
	for i, p := range considered {
		if e.Explain[i], err = p.explain(labels); err != nil {
			return e, err
		}
	}
	return e, nil
}
