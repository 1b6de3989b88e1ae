package resource

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/store"
)

// Removals delete the records that refer to a deleted record after the response, in portions, for records to which more records can
// refer than MaxReferring. Until then, records with an Owner or a Group reference with Cascade to the deleted record are visible only
// to admins, the master key and Unrestricted.
type Removals struct {
	stored *store.Collection[waiting]
	id     store.ID // of the document with the removals
	name   string   // of the collection
	now    func() time.Time
	exists func(ctx context.Context, id store.ID) (bool, error)
	remove func(ctx context.Context, ids []store.ID) (kept map[store.ID]bool, err error)
}

// waiting has the removals of a collection. Each read of a record that everyone sees needs them, so that they are one document: the
// embedded engine keeps it in memory.
type waiting struct {
	store.Meta `bson:",inline"`
	Resource   string    `json:"resource"`
	List       []removal `json:"list"`
}

// removal is a deleted record to which other records still refer.
type removal struct {
	RecordID store.ID   `json:"recordId"`
	Since    store.Time `json:"since"`
}

const (
	portion = 500 // maximum number of records that one transaction deletes
	// removalMargin is the time after a deletion in which writes that began before it can store further records.
	removalMargin = time.Minute
	// staleRemoval is the time after which a removal of a record that still exists is dropped: its deletion has failed.
	staleRemoval = time.Hour
)

// NewRemovals returns the Removals of a collection. Call it at most once for a collection, before the server starts, and run the Job.
func NewRemovals[D store.Document](d kit.Deps, c *Collection[D]) *Removals {
	sum := sha256.Sum256([]byte(c.name))
	c.removals = &Removals{
		stored: store.Open[waiting](d.DB, store.Spec{Name: "removals"}), id: store.ID(sum[:len(store.ID{})]),
		name: c.name, now: d.Now, remove: c.removeReferring,
		exists: func(ctx context.Context, id store.ID) (bool, error) { return c.all.Exists(ctx, store.Eq("id", id)) },
	}
	return c.removals
}

// Add declares that a record is deleted. Call it in the store.DB.Together of the deletion, before the deletion.
func (r *Removals) Add(ctx context.Context, id store.ID) error {
	return r.Around(ctx, id, func(context.Context) error { return nil })
}

// Around calls Add and then remove, which deletes the record. After store.ErrStale, which says that the record still exists, its
// records are visible again.
func (r *Removals) Around(ctx context.Context, id store.ID, remove func(context.Context) error) error {
	added := removal{id, store.At(r.now())}
	if err := r.change(ctx, func(list []removal) []removal { return append(list, added) }); err != nil {
		return err
	}
	err := remove(ctx)
	if errors.Is(err, store.ErrStale) {
		err = errors.Join(err, r.drop(ctx, added))
	}
	return err
}

// change changes the list of removals. change must not write to the list that it gets.
func (r *Removals) change(ctx context.Context, change func([]removal) []removal) error {
	for {
		_, err := r.stored.Modify(ctx, r.id, func(w *waiting) error {
			w.List = change(slices.Clip(w.List))
			return nil
		})
		if !apperr.Is(err, apperr.NotFound) {
			return err
		}
		err = r.stored.Insert(ctx, waiting{store.NewMeta(r.id, store.At(r.now())), r.name, change(nil)})
		if !apperr.Is(err, apperr.Conflict) { // another caller has just inserted it
			return err
		}
	}
}

// drop removes a removal from the list.
func (r *Removals) drop(ctx context.Context, p removal) error {
	return r.change(ctx, func(list []removal) []removal {
		return slices.DeleteFunc(slices.Clone(list), func(other removal) bool { return other == p })
	})
}

// pending returns the deleted records to which records can still refer. A nil Removals has none.
func (r *Removals) pending(ctx context.Context) ([]removal, error) {
	if r == nil {
		return nil, nil
	}
	w, err := r.stored.Get(ctx, r.id)
	return w.List, apperr.Replace(err, apperr.NotFound, nil)
}

// Job returns the job that deletes the records. References from other records do what they declare; if one restricts the deletion of
// a record, the record is kept until the referring record is deleted. References between records of the deleted group are ignored.
func (r *Removals) Job() job.Job {
	return job.Job{Name: "removals-" + r.name, Interval: time.Minute, Run: r.run}
}

func (r *Removals) run(ctx context.Context) error {
	err := r.change(ctx, func(list []removal) []removal { return list }) // the embedded engine keeps only documents that exist in memory
	if err != nil {
		return err
	}
	pending, err := r.pending(ctx)
	for _, p := range pending {
		err = errors.Join(err, r.finish(ctx, p))
	}
	return err
}

// finish deletes what refers to a deleted record, and then the removal.
func (r *Removals) finish(ctx context.Context, p removal) error {
	age := r.now().Sub(p.Since.Time)
	exists, err := r.exists(ctx, p.RecordID)
	if err != nil || exists && age < staleRemoval { // the deletion may be in progress
		return err
	}
	if !exists {
		if kept, err := r.remove(ctx, []store.ID{p.RecordID}); err != nil || len(kept) > 0 || age < removalMargin {
			return err
		}
	}
	return r.drop(ctx, p)
}

// remover deletes the records that refer to one of the IDs, of records that are being deleted. It returns those of the IDs whose
// records must be kept.
type remover func(ctx context.Context, ids []store.ID, r removing) (kept map[store.ID]bool, err error)

// removing are the records that are being deleted.
type removing struct {
	ids     map[store.ID]bool
	inGroup bool // the last of them, because of the deletion of the group that they belong to
}

func (r *Referrers) removeReferring(ctx context.Context, ids []store.ID) (map[store.ID]bool, error) {
	return r.removeAll(ctx, ids, removing{ids: map[store.ID]bool{}})
}

func (r *Referrers) removeAll(ctx context.Context, ids []store.ID, now removing) (map[store.ID]bool, error) {
	kept := map[store.ID]bool{}
	for _, id := range ids {
		now.ids[id] = true
		defer delete(now.ids, id)
	}
	for _, remove := range r.removers {
		part, err := remove(ctx, ids, now)
		if err != nil {
			return nil, err
		}
		for id := range part {
			kept[id] = true
		}
	}
	return kept, nil
}

// removeReferring is the remover of the reference.
func (r referrer[D]) removeReferring(ctx context.Context, ids []store.ID, now removing) (map[store.ID]bool, error) {
	kept := map[store.ID]bool{}
	if r.onDelete == Keep || now.inGroup && r.ignored() {
		return kept, nil
	}
	q := store.Query{Filter: r.refersTo(ids), Limit: portion}
	for {
		docs, err := r.collection.all.List(ctx, q)
		if err != nil || len(docs) == 0 {
			return kept, err
		}
		q.After = []any{store.IDOf(docs[len(docs)-1])} // records that are kept are not read again
		docs = slices.DeleteFunc(docs, func(doc D) bool { return now.ids[store.IDOf(doc)] })
		var referring []store.ID
		for _, doc := range docs {
			referring = append(referring, store.IDOf(doc))
		}
		switch r.onDelete {
		case Clear:
			err = r.clear(ctx, &Deletion{}, referring, ids)
		case Cascade:
			err = r.removePortion(ctx, docs, referring, ids, now, kept)
		case Restrict:
			r.keep(docs, ids, kept)
		}
		if err != nil {
			return nil, err
		}
	}
}

// ignored reports whether the deletion of the group deletes the records of the reference because of another reference.
func (r referrer[D]) ignored() bool {
	return r.members == nil && r.parent == nil && r.staysInGroup()
}

// staysInGroup reports whether the records of the reference belong to the same group as the records that they refer to.
func (r referrer[D]) staysInGroup() bool { return r.collection.hasGroup() && r.target.hasGroup() }

// keep adds to kept those of the IDs to which the documents refer.
func (r referrer[D]) keep(docs []D, ids []store.ID, kept map[store.ID]bool) {
	for _, doc := range docs {
		for _, id := range idsOf(r.value(doc)) {
			if slices.Contains(ids, id) {
				kept[id] = true
			}
		}
	}
}

// removePortion deletes the documents, which refer to the IDs, and what refers to them.
func (r referrer[D]) removePortion(ctx context.Context, docs []D, referring, ids []store.ID, now removing, kept map[store.ID]bool) error {
	now.inGroup = r.members != nil || now.inGroup && r.staysInGroup()
	below, err := r.collection.removeAll(ctx, referring, now)
	if err != nil {
		return err
	}
	r.keep(slices.DeleteFunc(docs, func(doc D) bool { return !below[store.IDOf(doc)] }), ids, kept)
	deleted := store.And(store.In("id", store.Values(slices.DeleteFunc(referring, func(id store.ID) bool { return below[id] }))...), r.refersTo(ids))
	return r.collection.db.Together(ctx, func(ctx context.Context) error {
		if err := r.collection.beforeDelete(ctx, deleted); err != nil {
			return err
		}
		_, err := r.collection.all.Delete(ctx, deleted)
		return err
	})
}

// restricts returns an error if a reference with Restrict refers to the record.
type restricts func(ctx context.Context, id store.ID) error

// MayRemove fails with Conflict if a record refers to the record with Restrict. It does not look at what refers to those records.
func (r *Referrers) MayRemove(ctx context.Context, id store.ID) error {
	for _, check := range r.restricts {
		if err := check(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// restrict is the restricts of the reference.
func (r referrer[D]) restrict(ctx context.Context, id store.ID) error {
	if r.onDelete != Restrict {
		return nil
	}
	exists, err := r.collection.all.Exists(ctx, r.refersTo([]store.ID{id}))
	if err == nil && exists {
		err = inUse(r.collection.name, r.field)
	}
	return err
}

// notRemoved returns the filter that excludes records whose owner or group is deleted, for callers who do not act for all users; nil
// excludes none. seen is what the rule selects: a filter for one owner needs no other.
func (c *core) notRemoved(ctx context.Context, seen store.Filter) (store.Filter, error) {
	var excluded []store.Filter
	for _, r := range c.references {
		if r.onDelete != Cascade || !r.isOwner && r.members == nil || bounds(seen, r.field) {
			continue
		}
		pending, err := r.target.removed(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range pending {
			excluded = append(excluded, store.Ne(r.field, p.RecordID))
		}
	}
	if excluded == nil {
		return nil, nil
	}
	return allOf(excluded), nil
}

// allOf is store.And for any number of filters. SQLite limits the depth of an expression to 1,000.
func allOf(filters []store.Filter) store.Filter {
	const wide = 100
	if len(filters) <= wide {
		return store.And(filters...)
	}
	half := len(filters) / 2
	return store.And(allOf(filters[:half]), allOf(filters[half:]))
}

// removed implements Target.
func (c *core) removed(ctx context.Context) ([]removal, error) {
	return c.removals.pending(ctx)
}

// hasGroup implements Target.
func (c *core) hasGroup() bool {
	r := c.parent()
	return c.group() != nil || r != nil && r.target.hasGroup()
}

// exists implements Target.
func (c *Collection[D]) exists(ctx context.Context, id store.ID) error {
	_, err := c.existing(ctx, id)
	return err
}

// existing returns a record, visible or not. NotFound: its owner or group, or that of its parent, is deleted.
func (c *Collection[D]) existing(ctx context.Context, id store.ID) (none D, err error) {
	existing, err := c.notRemoved(ctx, nil)
	if err != nil {
		return none, err
	}
	if c.within != nil {
		existing = store.And(existing, store.Eq(c.parent().field, *c.within))
	}
	doc, err := c.all.First(ctx, store.And(store.Eq("id", id), existing))
	if r := c.parent(); err == nil && r != nil {
		err = r.target.exists(ctx, idsOf(r.value(doc))[0])
	}
	return doc, err
}

// bounds reports whether a filter selects only records with given values of a field.
func bounds(f store.Filter, field string) bool {
	switch f := f.(type) {
	case store.Comparison:
		return f.Op == store.OpEq && f.Field == field
	case store.Membership:
		return f.Field == field
	case store.Connective:
		some, all := false, len(f.Filters) > 0 || f.Op == store.OpOr // an empty Or selects nothing
		for _, part := range f.Filters {
			bound := bounds(part, field)
			some, all = some || bound, all && bound
		}
		return f.Op == store.OpAnd && some || f.Op == store.OpOr && all
	}
	return false
}
