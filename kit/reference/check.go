package reference

import (
	"context"
	"fmt"
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Check fails with ValidationFailed unless the references of a new record refer to records that the caller may see. It
// makes one query per reference. The reference to a parent is not checked: see Parent.
func (c *Collection[D]) Check(ctx context.Context, caller access.Principal, doc D) error {
	var unknown []apperr.Field
	for _, r := range c.references {
		fields, err := r.check(ctx, caller, r.of(doc))
		if err != nil {
			return err
		}
		unknown = append(unknown, fields...)
	}
	return invalid(unknown)
}

// CheckChanges fails as Check does, for the references among the changes of the record with the ID. A change to the same
// value is not checked: its record may be deleted, or invisible to the caller. NotFound: the record does not exist, and a
// reference is among the changes.
func (c *Collection[D]) CheckChanges(ctx context.Context, caller access.Principal, id store.ID, changes []store.Change) error {
	var unknown []apperr.Field
	var stored *D
	for _, r := range c.references {
		for _, change := range changes {
			if change.Field != r.field {
				continue
			}
			if stored == nil {
				doc, err := c.Get(ctx, id)
				if err != nil {
					return err
				}
				stored = &doc
			}
			if slices.Equal(idsOf(change.Value), idsOf(r.of(*stored))) {
				continue
			}
			fields, err := r.check(ctx, caller, change.Value)
			if err != nil {
				return err
			}
			unknown = append(unknown, fields...)
		}
	}
	return invalid(unknown)
}

func invalid(unknown []apperr.Field) error {
	if unknown == nil {
		return nil
	}
	return apperr.Invalid(unknown...)
}

// check returns an error for each ID in value that does not refer to a record that the caller may see.
func (r Reference) check(ctx context.Context, caller access.Principal, value any) (unknown []apperr.Field, err error) {
	ids := idsOf(value)
	if len(ids) == 0 || r.parent != nil {
		return nil, nil
	}
	found, err := r.target.Find(ctx, caller, ids, "id")
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if _, ok := found[id]; ok {
			continue
		}
		param := r.field
		if r.isList {
			param = fmt.Sprintf("%s[%d]", r.field, i)
		}
		unknown = append(unknown, apperr.Field{In: "body", Param: param, Code: apperr.UnknownReference, Message: "There is no such record."})
	}
	return unknown, nil
}
