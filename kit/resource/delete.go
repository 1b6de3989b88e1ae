package resource

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// OnDelete is what happens to a record that refers to a deleted record.
type OnDelete int

// The values of OnDelete.
const (
	Restrict OnDelete = iota // the deletion fails with Conflict
	Cascade                  // the record is deleted too
	Clear                    // the reference is removed from the record
	Keep                     // nothing happens: the reference keeps the ID of the deleted record
)

// MaxReferring is the maximum number of records that a deletion can change or delete besides the record itself. The deletions of
// a batch share this limit (ShareLimit).
const MaxReferring = 1000

// ErrManyReferring is the cause of the Conflict of a deletion that would change more than MaxReferring records.
var ErrManyReferring = errors.New("resource: more referring records than MaxReferring")

// limitKey is the context key for the number of records that deletions with a shared limit have changed or deleted, an *int.
type limitKey struct{}

// ShareLimit returns a context whose deletions share the limit MaxReferring. They must not run concurrently.
func ShareLimit(ctx context.Context) context.Context {
	return context.WithValue(ctx, limitKey{}, new(int))
}

// Referrers are the references to the records of a Target. Each list has one function per reference.
type Referrers struct {
	plans     []planner   // for PlanDeletion
	removers  []remover   // for Removals
	restricts []restricts // for MayRemove
}

// planner plans a deletion for one reference. It adds to d what happens to the records that refer to one of the IDs.
type planner func(ctx context.Context, d *Deletion, ids []store.ID) error

func (r *Referrers) referredBy(plan planner, remove remover, check restricts) {
	r.plans, r.removers, r.restricts = append(r.plans, plan), append(r.removers, remove), append(r.restricts, check)
}

// PlanDeletion returns what happens to the referring records if a record is deleted. It does not change any records. Conflict:
// a reference restricts the deletion, or more than MaxReferring records would be changed or deleted; with a ctx from ShareLimit, the
// records of earlier plans count too.
func (r *Referrers) PlanDeletion(ctx context.Context, id store.ID) (*Deletion, error) {
	d := &Deletion{deleted: map[store.ID]bool{id: true}, affected: new(int)}
	if shared, ok := ctx.Value(limitKey{}).(*int); ok {
		d.affected = shared
	}
	if err := r.plan(ctx, d, []store.ID{id}); err != nil {
		return nil, err
	}
	for _, b := range d.blocked {
		if slices.ContainsFunc(b.ids, func(id store.ID) bool { return !d.deleted[id] }) {
			return nil, inUse(b.name, b.field)
		}
	}
	return d, nil
}

// inUse returns the Conflict for a record to which records of the collection refer in the field, with Restrict.
func inUse(collection, field string) error {
	return apperr.New(apperr.Conflict, "The record is in use: %[1]s refer to it. Delete these %[1]s first, or change their %[2]s.", collection, field)
}

func (r *Referrers) plan(ctx context.Context, d *Deletion, ids []store.ID) error {
	for _, plan := range r.plans {
		if err := plan(ctx, d, ids); err != nil {
			return err
		}
	}
	return nil
}

// Deletion is the plan of a deletion: what happens to the records that refer to the deleted records.
type Deletion struct {
	deleted        map[store.ID]bool // the record and the records that are deleted with it
	blocked        []blocked
	affected       *int                          // number of records that are changed or deleted, without the record itself; see ShareLimit
	clear, cascade []func(context.Context) error // cascade in the order of planning: a record before the records that refer to it
}

// blocked are records that restrict the deletion, unless they are deleted too.
type blocked struct {
	name, field string // the names of the collection and of the reference
	ids         []store.ID
}

// Run changes and deletes the referring records. It deletes referring records before the records that they refer to. After an
// error, the caller can plan and run the deletion again.
func (d *Deletion) Run(ctx context.Context) error {
	for _, step := range d.steps() {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// steps returns the changes in order, references to clear first.
func (d *Deletion) steps() []func(context.Context) error {
	steps := slices.Clone(d.clear)
	for _, step := range slices.Backward(d.cascade) {
		steps = append(steps, step)
	}
	return steps
}

// Delete deletes a record that has one of the versions. It calls the rules of the method OnDelete, and does what each reference
// to the record declares: Restrict, Cascade, Clear or Keep. NotFound: the record does not exist, or the caller may not see the
// record. Forbidden: the caller may not change the record. Conflict: see PlanDeletion. store.ErrStale: the record has none of the
// versions. Delete also returns the errors of the rules.
func (c *Collection[D]) Delete(ctx context.Context, caller access.Principal, id store.ID, versions store.Versions) error {
	if caller.Restriction != nil {
		return caller.Restriction.Err
	}
	remove := func(ctx context.Context) error {
		writable, err := c.writable(ctx, caller, id, versions, Delete)
		if err != nil {
			return err
		}
		n, err := c.all.Delete(ctx, writable)
		if err == nil && n == 0 {
			err = store.ErrNotFound
		}
		return c.explain(ctx, caller, id, versions, Delete, err)
	}
	if len(c.plans) == 0 && c.parent() == nil && len(c.onDelete) == 0 && c.fileFields == nil {
		return remove(ctx)
	}
	return c.db.Together(ctx, func(ctx context.Context) error {
		if _, err := c.mayWrite(ctx, caller, id, versions, Delete); err != nil {
			return err
		}
		d, err := c.PlanDeletion(ctx, id)
		if err != nil {
			return err
		}
		if err := c.beforeDelete(ctx, store.Eq("id", id)); err != nil {
			return err
		}
		if err := d.Run(ctx); err != nil {
			return err
		}
		return remove(ctx)
	})
}

// OnDelete registers a rule. Delete, a Cascade and the job of Removals call it with each record before they delete the record. If
// the rule fails, the deletion fails. The rules run in the Together of the deletion. On a server without transactions, the
// deletions of a Cascade before a failure are not undone, and the deletion can be repeated, so rules must be idempotent. Rules are
// called in the order of registration. Deletions with Unrestricted call none. Call OnDelete before the server starts.
func (c *Collection[D]) OnDelete(rule func(ctx context.Context, doc D) error) {
	c.onDelete = append(c.onDelete, rule)
}

// beforeDelete calls the rules from OnDelete for each record that f selects, and releases the files of these records.
func (c *Collection[D]) beforeDelete(ctx context.Context, f store.Filter) error {
	if len(c.onDelete) == 0 && c.fileFields == nil {
		return nil
	}
	docs, err := c.all.List(ctx, store.Query{Filter: f})
	if err != nil {
		return err
	}
	for _, doc := range docs {
		for _, rule := range c.onDelete {
			if err := rule(ctx, doc); err != nil {
				return err
			}
		}
	}
	return c.releaseFiles(ctx, docs)
}

// referrer is a reference, and the collection whose records have the reference.
type referrer[D store.Document] struct {
	collection *Collection[D]
	*Reference
}

// plan is the planner of the reference.
func (r referrer[D]) plan(ctx context.Context, d *Deletion, ids []store.ID) error {
	refers := r.refersTo(ids)
	docs, err := r.collection.all.List(ctx, store.Query{Filter: refers, Limit: MaxReferring + 1, Fields: []string{"id"}})
	if err != nil {
		return err
	}
	var referring []store.ID
	for _, doc := range docs {
		if id := store.IDOf(doc); !d.deleted[id] {
			referring = append(referring, id)
		}
	}
	if len(referring) == 0 {
		return nil
	}
	if r.onDelete == Restrict {
		d.blocked = append(d.blocked, blocked{r.collection.name, r.field, referring})
		return nil
	}
	*d.affected += len(referring)
	if *d.affected > MaxReferring {
		return apperr.New(apperr.Conflict, "The deletion would change more than %d other records, among them %s. Delete some of them first. The deletions of a batch share this limit.",
			MaxReferring, r.collection.name).WithCause(ErrManyReferring)
	}
	if r.onDelete == Clear {
		d.clear = append(d.clear, func(ctx context.Context) error { return r.clear(ctx, d, referring, ids) })
		return nil
	}
	for _, id := range referring {
		d.deleted[id] = true
	}
	d.cascade = append(d.cascade, func(ctx context.Context) error {
		cascaded := store.And(store.In("id", store.Values(referring)...), refers) // with refers again, because references may have changed since the plan
		if err := r.collection.beforeDelete(ctx, cascaded); err != nil {
			return err
		}
		_, err := r.collection.all.Delete(ctx, cascaded)
		return err
	})
	return r.collection.Referrers.plan(ctx, d, referring)
}

// clear removes the IDs from the reference in the referring records. It skips records that are deleted too.
func (r referrer[D]) clear(ctx context.Context, d *Deletion, referring, ids []store.ID) error {
	for _, id := range referring {
		if d.deleted[id] {
			continue
		}
		_, err := r.collection.all.Modify(ctx, id, func(doc *D) error {
			r.remove(doc, ids)
			return nil
		})
		if err := apperr.Replace(err, apperr.NotFound, nil); err != nil { // not found: the record was deleted in the meantime
			return err
		}
	}
	return nil
}

// remove removes the IDs from the reference of doc, but does not store doc.
func (r referrer[D]) remove(doc *D, ids []store.ID) {
	removed := func(id store.ID) bool { return slices.Contains(ids, id) }
	field := reflect.ValueOf(doc).Elem().FieldByIndex(r.index)
	before := idsOf(field.Interface())
	if !slices.ContainsFunc(before, removed) {
		return
	}
	if r.isList {
		field.Set(reflect.ValueOf(slices.DeleteFunc(slices.Clone(before), removed)))
	} else {
		field.SetZero()
	}
}
