package policy

import (
	"context"
	"slices"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// maxOthers is the maximum number of explanations, per page, of policies that do not apply.
const maxOthers = 100

// Evaluate returns a page of the policies that apply to a proxy. Every write that was acknowledged before the call is visible. A
// page ends early if it would exceed listing.MaxPageBytes. The same limit applies to the explanations of policies that do not
// apply. ValidationFailed: in.After is not a cursor for this proxy. Unavailable: the response is large, and other large responses
// use the memory of rest.Budget.
func (s *Service) Evaluate(ctx context.Context, in EvaluateInput) (Evaluation, error) {
	c, err := s.choose(ctx, in)
	if err == nil && c.bytes > rest.LargeResponse {
		bytes := c.bytes
		c = choice{} // frees the memory while the request waits
		if err := rest.ReservePage(ctx, bytes); err != nil {
			return Evaluation{}, err
		}
		c, err = s.choose(ctx, in) // if the policies have grown since, rest.OK reserves more
	}
	if err != nil {
		return Evaluation{}, err
	}
	e := Evaluation{Rows: make([]View, len(c.rows))}
	if in.Count {
		e.Count = &c.count
	}
	for i, p := range c.rows {
		e.Rows[i] = p.View()
	}
	if c.more {
		last := c.rows[len(c.rows)-1]
		e.Next = s.cursors.Seal(in.scope(), []any{last.CreatedAt, last.Name, last.ID})
	}
	if !in.Explain {
		return e, nil
	}
	labels := in.proxy().EffectiveLabels()
	e.Explain = make([]Explanation, len(c.explain))
	for i, p := range c.explain {
		e.Explain[i], err = p.explain(labels)
		if err != nil {
			return e, err
		}
	}
	return e, nil
}

// choice has the policies of an Evaluation.
type choice struct {
	rows    []*Policy
	more    bool      // more policies apply, after rows
	count   int       // number of all policies that apply
	explain []*Policy // the policies to explain
	bytes   int64     // approximate size of the response
}

// choose returns the policies of the requested page.
func (s *Service) choose(ctx context.Context, in EvaluateInput) (c choice, err error) {
	namespace, err := s.cache.get(ctx, in.Namespace)
	if err != nil {
		return c, err
	}
	applying := namespace.index.Select(in.proxy(), nil)
	c.count = len(applying)
	policies := namespace.policies
	if in.After != "" {
		position, ok := s.cursors.Open(in.scope(), in.After, 2)
		if !ok {
			return c, apperr.Invalid(apperr.Field{In: "body", Param: "after", Code: apperr.Format, Message: "Must be the value of next in a page for the same proxy."})
		}
		last := Policy{Meta: store.Meta{CreatedAt: position[0].(store.Time)}, Name: position[1].(string)}
		applying = applying[firstAfter(last, applying, func(p *Policy) Policy { return *p }):]
		policies = policies[firstAfter(last, policies, func(p Policy) Policy { return p }):]
	}
	for _, p := range applying {
		bytes := int64(p.encoded())
		if len(c.rows) == int(in.Limit) || len(c.rows) > 0 && c.bytes+bytes > listing.MaxPageBytes {
			c.more = true
			break
		}
		c.rows, c.bytes = append(c.rows, p), c.bytes+bytes
	}
	if in.Explain {
		c.explainAll(policies)
	}
	return c, nil
}

// firstAfter returns the index of the first item after last, in the order of compareAge.
func firstAfter[T any](last Policy, items []T, policy func(T) Policy) int {
	i, _ := slices.BinarySearchFunc(items, last, func(item T, last Policy) int {
		if compareAge(policy(item), last) <= 0 {
			return -1
		}
		return 1
	})
	return i
}

// explainAll appends the rows of the page to c.explain. It also appends policies that do not apply, up to maxOthers of them and
// listing.MaxPageBytes bytes. policies are all policies after the previous page, sorted by compareAge.
func (c *choice) explainAll(policies []Policy) {
	rows, others, bytes := c.rows, 0, int64(0)
	for i := range policies {
		if len(rows) == 0 && (c.more || others == maxOthers) {
			return // the other policies belong to the next page, or are too many
		}
		p := &policies[i]
		size := int64(p.encoded())
		if len(rows) > 0 && rows[0] == p { // the index has pointers to these policies
			rows = rows[1:]
		} else if others == maxOthers || bytes+size > listing.MaxPageBytes {
			continue
		} else {
			others, bytes = others+1, bytes+size
		}
		c.explain, c.bytes = append(c.explain, p), c.bytes+size
	}
}
