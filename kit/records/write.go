package records

import (
	"context"
	"errors"
	"fmt"
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
func (im *importer) write(ctx context.Context, records []*record) error {
	switch {
	case im.checksOnly():
		return im.check(ctx, records)
	case im.DryRun || im.plainCreation() && im.db.Serializable(): // with one writer at a time, few large transactions are faster
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
func (im *importer) check(ctx context.Context, records []*record) error {
	if err := im.checkAll(ctx, records); err != nil {
		return err
	}
	return each(ctx, records, writers, func(ctx context.Context, r *record) error { return im.checkUnique(ctx, r.doc) })
}

// sideBySide stores records concurrently, each as a request of the API would, outside of a transaction. A record can refer to an
// earlier one of the file: records that are created and refer to others of the resource follow in order, and an update that fails
// with ValidationFailed is tried again.
func (im *importer) sideBySide(ctx context.Context, records []*record) error {
	var others, inOrder []*record
	for _, r := range records {
		if r.doc != nil && im.target.Creator.RefersToOwn(r.doc) {
			inOrder = append(inOrder, r)
		} else {
			others = append(others, r)
		}
	}
	if err := each(ctx, others, writers, im.one); err != nil {
		return err
	}
	for _, r := range others {
		if r.updated && apperr.Is(r.err, apperr.ValidationFailed) {
			r.err = nil
			inOrder = append(inOrder, r)
		}
	}
	return each(ctx, inOrder, 1, im.one)
}

// waves divides the records into parts that are stored one after the other. Records with the same value in the UpdateBy field are
// in different parts, because the second record updates the first.
func (im *importer) waves(records []*record) (waves [][]*record) {
	if im.UpdateBy == "" {
		return [][]*record{records}
	}
	begin, seen := 0, map[string]bool{}
	for i, r := range records {
		value, _ := im.updateKey(r)
		key := fmt.Sprint(value)
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

// inTransactions creates records in as few transactions as possible, and in a dry run rolls them back. If a record fails that may
// have written something, the transaction is aborted. The records before that record are then stored again.
func (im *importer) inTransactions(ctx context.Context, records []*record) error {
	for len(records) > 0 {
		failed := -1
		err := im.db.Atomic(ctx, func(ctx context.Context) error {
			failed = -1
			for i, r := range records {
				if r.err = im.one(ctx, r); r.err == nil {
					continue
				}
				healthy := im.db.Atomic(ctx, func(context.Context) error { return nil }) == nil // joins this one: no operation has failed
				if !healthy || !im.plainCreation() || isFatal(r.err) {
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
func (im *importer) one(ctx context.Context, r *record) error {
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
func (im *importer) creationError(err error) error {
	if im.target.Spec.Parent == "" {
		return err
	}
	return apperr.Replace(err, apperr.NotFound, im.target.unknownParent())
}

// update calls the route that changes a stored record, so that the rules of the module for updates apply.
func (im *importer) update(ctx context.Context, r *record, stored store.Document) error {
	parents, err := im.target.ancestors(ctx, stored)
	if err != nil {
		return err
	}
	_, err = im.table.Call(ctx, operator, route.Request{
		Method: http.MethodPatch, Path: im.target.list(parents) + "/" + store.IDOf(stored).Hex(), Body: r.JSON,
	})
	return err
}

// updateKey returns the value of the UpdateBy field of r in its stored form; nil if r has none. fits is false if the value has the wrong
// type.
func (im *importer) updateKey(r *record) (value any, fits bool) {
	if im.UpdateBy == "id" {
		return r.id, true
	}
	raw, given := r.fields[im.UpdateBy]
	if !given || string(raw) == "null" {
		return nil, true
	}
	into := reflect.New(field(im.target.NewDocument(), im.UpdateBy).Type())
	if decode(raw, into.Interface()) != nil {
		return nil, false
	}
	for into = into.Elem(); into.Kind() == reflect.Pointer; into = into.Elem() {
	}
	if text, ok := into.Interface().(string); ok {
		return strings.TrimSpace(text), true // as rest.Bind does
	}
	return into.Interface(), true
}

// find returns the stored record that has the same value in the UpdateBy field as r, or nil if there is no such record.
func (im *importer) find(ctx context.Context, r *record) (store.Document, error) {
	value, fits := im.updateKey(r)
	switch {
	case !fits:
		return nil, nil // build reports the wrong type
	case value == nil:
		return nil, apperr.Invalid(apperr.Field{In: "body", Param: im.UpdateBy, Code: apperr.Required, Message: "Must be given, to find the record to update."})
	}
	doc := im.target.NewDocument()
	if err := im.target.Engine.First(ctx, store.Eq(im.UpdateBy, value), doc); err != nil {
		return nil, apperr.Replace(err, apperr.NotFound, nil)
	}
	return doc, nil
}
