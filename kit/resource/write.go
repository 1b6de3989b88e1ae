package resource

import (
	"context"
	"fmt"
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Create stores a new record after Check and, if it is under a parent, MayAdd. Errors: those of Check, MayAdd and Insert.
func (c *Collection[D]) Create(ctx context.Context, caller access.Principal, doc D) error {
	return c.inOneStep(ctx, func(ctx context.Context) error {
		if r := c.parent(); r != nil {
			if err := c.MayAdd(ctx, caller, idsOf(r.of(doc))[0]); err != nil {
				return err
			}
		}
		if err := c.Check(ctx, caller, doc); err != nil {
			return err
		}
		return c.Insert(ctx, doc)
	})
}

// Change changes a record after CheckChanges. Errors: those of CheckChanges and UpdateByID.
func (c *Collection[D]) Change(
	ctx context.Context, caller access.Principal, id store.ID, versions store.Versions, changes ...store.Change,
) (doc D, err error) {
	err = c.inOneStep(ctx, func(ctx context.Context) error {
		if err := c.CheckChanges(ctx, caller, id, changes); err != nil {
			return err
		}
		doc, err = c.UpdateByID(ctx, id, versions, changes...)
		return err
	})
	return doc, err
}

// inOneStep calls f so that no other write comes between its reads and writes, on a database where Atomic guarantees this.
func (c *Collection[D]) inOneStep(ctx context.Context, f func(context.Context) error) error {
	if c.db.Serializable() {
		return c.db.Atomic(ctx, f)
	}
	return f(ctx)
}

// Check fails with ValidationFailed unless the references of a new record refer to records that the caller may see. It
// makes one query per reference. It does not check the reference to a parent: call MayAdd.
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

// invalid returns ValidationFailed for the fields, or nil if there are none.
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
	found, _, err := r.target.Find(ctx, caller, ids, nil, "id")
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
