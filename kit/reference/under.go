package reference

import (
	"context"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
)

// Under returns a query for the records under a parent. NotFound: the caller may not see the parent.
func (c *Collection[D]) Under(ctx context.Context, caller access.Principal, parent store.ID, q listing.Query) (listing.Query, error) {
	q.Filter = store.And(q.Filter, store.Eq(c.parent().field, parent))
	return q, c.visible(ctx, caller, parent)
}

// GetUnder returns a record under a parent. NotFound: there is none, or the caller may not see the parent.
func (c *Collection[D]) GetUnder(ctx context.Context, caller access.Principal, parent, id store.ID) (D, error) {
	var doc D
	if err := c.visible(ctx, caller, parent); err != nil {
		return doc, err
	}
	return c.First(ctx, store.And(store.Eq("id", id), store.Eq(c.parent().field, parent)))
}

// MayAdd fails unless the caller may add records under a parent: with NotFound if they may not see it, with Forbidden if
// they may not change it.
func (c *Collection[D]) MayAdd(ctx context.Context, caller access.Principal, parent store.ID) error {
	return c.parent().parent.MayChange(ctx, caller, parent)
}

// MayChangeUnder fails unless the caller may change a record under a parent: with NotFound if there is none, otherwise as
// MayAdd.
func (c *Collection[D]) MayChangeUnder(ctx context.Context, caller access.Principal, parent, id store.ID) error {
	if err := c.MayAdd(ctx, caller, parent); err != nil {
		return err
	}
	_, err := c.First(ctx, store.And(store.Eq("id", id), store.Eq(c.parent().field, parent)))
	return err
}

// visible fails with NotFound unless the caller may see the parent.
func (c *Collection[D]) visible(ctx context.Context, caller access.Principal, parent store.ID) error {
	found, err := c.parent().target.Find(ctx, caller, []store.ID{parent}, "id")
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	return err
}
