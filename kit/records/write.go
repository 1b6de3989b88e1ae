package records

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

// writers is the maximum number of records that sideBySide stores concurrently.
const writers = 16

// write creates or updates records without Load; in a dry run, it checks them. It sets the err of records that are rejected.
func (im *importing) write(ctx context.Context, records []*record) error {
	switch {
	case im.checksOnly():
		return im.check(ctx, records)
	case im.DryRun || im.db.Serializable(): // with one writer at a time, few large transactions are faster than concurrent writes
		return im.inTransactions(ctx, records)
	}
	for _, wave := range im.waves(records) {
		if err := im.sideBySide(ctx, wave); err != nil {
			return err
		}
	}
	return nil
}

// check is a dry run of records that are created.
func (im *importing) check(ctx context.Context, records []*record) error {
	if err := im.checkAll(ctx, records); err != nil {
		return err
	}
	return each(ctx, records, writers, func(ctx context.Context, r *record) error { return im.checkUnique(ctx, r.doc) })
}

// sideBySide stores records concurrently. A record may refer to another record that is not stored yet. Therefore, if a record
// fails with ValidationFailed before anything is written, sideBySide tries again after the others.
func (im *importing) sideBySide(ctx context.Context, records []*record) error {
	if err := each(ctx, records, writers, im.one); err != nil {
		return err
	}
	var again []*record
	for _, r := range records {
		if apperr.Is(r.err, apperr.ValidationFailed) && im.wroteNothing(r) {
			r.err = nil
			again = append(again, r)
		}
	}
	return each(ctx, again, 1, im.one)
}

// wroteNothing reports whether a record that was rejected before it was stored has left nothing in the database: it was not updated,
// and the module has no create function.
func (im *importing) wroteNothing(r *record) bool { return !r.updated && im.target.Creator.Plain() }

// waves divides the records into parts that are stored one after the other. Records with the same value in the UpdateBy field are
// in different parts, because the second record updates the first.
func (im *importing) waves(records []*record) (waves [][]*record) {
	if im.UpdateBy == "" {
		return [][]*record{records}
	}
	begin, seen := 0, map[string]bool{}
	for i, r := range records {
		key := string(r.fields[im.UpdateBy])
		if seen[key] {
			waves = append(waves, records[begin:i])
			begin, seen = i, map[string]bool{}
		}
		seen[key] = true
	}
	return append(waves, records[begin:])
}

// each sets the err of each record whose err is nil to the result of do. It calls do for at most n records at a time.
func each(ctx context.Context, records []*record, n int, do func(context.Context, *record) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(n, len(records)) {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(records)); i = next.Add(1) - 1 {
				if r := records[i]; r.err == nil {
					if r.err = do(ctx, r); isFatal(r.err) {
						return r.err
					}
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// errDryRun rolls back the transaction of a dry run.
var errDryRun = errors.New("records: a dry run stores nothing")

// inTransactions stores records in as few transactions as possible, and in a dry run rolls them back. If a record fails that may
// have written something, the transaction is aborted. The records before that record are then stored again.
func (im *importing) inTransactions(ctx context.Context, records []*record) error {
	for len(records) > 0 {
		failed := -1
		err := im.db.Atomic(ctx, func(ctx context.Context) error {
			failed = -1
			for i, r := range records {
				if r.err = im.one(ctx, r); r.err == nil {
					continue
				}
				healthy := im.db.Atomic(ctx, func(context.Context) error { return nil }) == nil // joins this one: no operation has failed
				if !healthy || !im.wroteNothing(r) || isFatal(r.err) {
					failed = i
					return r.err
				}
			}
			if im.DryRun {
				return errDryRun
			}
			return nil
		})
		switch {
		case err == nil, errors.Is(err, errDryRun):
			return nil
		case ctx.Err() != nil, isFatal(err) && len(records) == 1:
			return err
		case isFatal(err): // perhaps the transaction exceeded its time limit: store each half separately
			half := len(records) / 2
			reset(records)
			if err := im.inTransactions(ctx, records[:half]); err != nil {
				return err
			}
			records = records[half:]
		case failed < 0:
			return err
		default:
			reset(records[:failed])
			if err := im.inTransactions(ctx, records[:failed]); err != nil {
				return err
			}
			records = records[failed+1:]
		}
	}
	return nil
}

func reset(records []*record) {
	for _, r := range records {
		r.err = nil
	}
}

// one creates or updates a record.
func (im *importing) one(ctx context.Context, r *record) error {
	r.updated = false
	if im.UpdateBy != "" {
		stored, err := im.find(ctx, r)
		if err != nil {
			return err
		}
		if stored != nil {
			r.updated = true
			return im.update(ctx, r, stored)
		}
		if err := im.build(r); err != nil {
			return err
		}
	}
	return im.creationError(im.target.Creator.Create(ctx, operator, r.doc))
}

// creationError replaces NotFound by the error that names the parent.
func (im *importing) creationError(err error) error {
	if im.target.Spec.Parent == "" {
		return err
	}
	return apperr.Replace(err, apperr.NotFound, im.target.unknownParent())
}

// update calls the route that changes a stored record, so that the rules of the module for updates apply.
func (im *importing) update(ctx context.Context, r *record, stored store.Document) error {
	parents, err := im.target.ancestors(ctx, stored)
	if err != nil {
		return err
	}
	_, err = im.table.Call(ctx, operator, route.Request{
		Method: http.MethodPatch, Path: im.target.list(parents) + "/" + store.IDOf(stored).Hex(), Body: r.JSON,
	})
	return err
}

// find returns the stored record that has the same value in the UpdateBy field as r, or nil if there is no such record.
func (im *importing) find(ctx context.Context, r *record) (store.Document, error) {
	doc, by := im.target.NewDocument(), im.UpdateBy
	value := reflect.New(field(doc, by).Type())
	if by == "id" {
		value.Elem().Set(reflect.ValueOf(r.id))
	} else if raw, given := r.fields[by]; !given || string(raw) == "null" {
		return nil, apperr.Invalid(apperr.Field{In: "body", Param: by, Code: apperr.Required, Message: "Must be given, to find the record to update."})
	} else if decode(raw, value.Interface()) != nil {
		return nil, nil // build reports the wrong type
	}
	if text, ok := value.Interface().(*string); ok {
		*text = strings.TrimSpace(*text)
	}
	err := im.target.Engine.First(ctx, store.Eq(by, value.Elem().Interface()), doc)
	if err != nil {
		return nil, apperr.Replace(err, apperr.NotFound, nil)
	}
	return doc, nil
}
