package resource

import (
	"context"
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// TestCreator creates records with the functions of a module, under a parent.
func TestCreator(t *testing.T) {
	w := newWorld(t)
	parents := w.open("parents", Public, Public)
	children := w.open("children", nil, nil, Under("to", parents))
	parent := w.add(parents, node{})
	type input struct{ Name string }
	build := func(_ access.Principal, in input) (node, error) {
		if in.Name == "invalid" {
			return node{}, apperr.New(apperr.Forbidden, "It is invalid.")
		}
		return node{Meta: store.NewMeta(store.NewID(), store.At(time.Unix(1, 0))), Name: in.Name}, nil
	}
	rename := func(ctx context.Context, caller access.Principal, n node) (node, error) {
		n.Name += " child"
		return n, children.Create(ctx, caller, n)
	}
	for _, test := range []struct {
		creator *Creator[node, input]
		parent  store.ID
		in      string
		name    string
		err     apperr.Code
	}{
		{NewCreator(children, build, nil), parent, "a", "a", ""},
		{NewCreator(children, build, nil), parent, "invalid", "", apperr.Forbidden},
		{NewCreator(children, build, nil), store.NewID(), "a", "", apperr.NotFound},
		{NewCreator(children, build, rename), parent, "a", "a child", ""},
	} {
		got, err := test.creator.Under(test.parent).Create(t.Context(), server, input{test.in})
		if w.want(err, test.err); test.err != "" {
			continue
		}
		stored, err := children.all.Get(t.Context(), got.ID)
		w.want(err, "")
		if stored.Name != test.name || got.Name != test.name || stored.To != parent {
			t.Errorf("%+v, stored as %+v", got, stored)
		}
	}
}
