package files

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/store"
)

// portion is the number of rows that are read at a time.
const portion = 500

// The sweep of forgotten files runs at every forgottenInterval. It deletes temporary files that are older than forgottenAfter, and files
// without a row forgottenAfter after it has found them. Together that is less than a day.
const (
	forgottenInterval = 12 * time.Hour
	forgottenAfter    = 11 * time.Hour
)

// Jobs returns the jobs that delete files to which no record refers.
func (f *Files) Jobs() []job.Job {
	if !f.Configured() {
		return nil
	}
	return []job.Job{
		{Name: "unreferenced-files", Interval: job.SweepInterval, Run: f.sweep},
		{Name: "forgotten-files", Interval: forgottenInterval, Run: f.sweepForgotten},
	}
}

// Work removes old temporary files of this instance until ctx ends.
func (f *Files) Work(ctx context.Context) {
	if !f.Configured() {
		return
	}
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := f.spools.sweep(f.now().Add(-forgottenAfter)); err != nil {
			f.log.Warn("temporary files of uploads cannot be removed", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// sweep deletes the files to which no record has referred for an hour.
func (f *Files) sweep(ctx context.Context) error {
	q := store.Query{
		Filter: store.Lte("since", store.At(f.now().Add(-deleteAfter))), Sort: []store.Order{{Field: "since"}}, Limit: portion,
	}
	return f.sweepPortions(ctx, q, f.sweepRows)
}

// sweepPortions is eachPortion, but goes on after an error.
func (f *Files) sweepPortions(ctx context.Context, q store.Query, use func(context.Context, []row) error) error {
	var failed []error
	err := f.eachPortion(ctx, q, func(ctx context.Context, rows []row) error {
		failed = append(failed, use(ctx, rows))
		return ctx.Err()
	})
	return errors.Join(append(failed, err)...)
}

// eachPortion calls use with the rows that q selects, in portions.
func (f *Files) eachPortion(ctx context.Context, q store.Query, use func(context.Context, []row) error) error {
	for {
		rows, err := f.rows.List(ctx, q)
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := use(ctx, rows); err != nil {
			return err
		}
		if len(rows) < portion {
			return nil
		}
		last := rows[len(rows)-1]
		if q.After = []any{last.ID}; q.Sort != nil {
			q.After = []any{*last.Since, last.ID}
		}
	}
}

// sweepRows deletes files that have been released, unless the stored record still refers to them, because a change was interrupted. A
// file that cannot be deleted does not stop the others.
func (f *Files) sweepRows(ctx context.Context, rows []row) error {
	var marked []row
	for _, r := range rows {
		if !f.knows(r) {
			continue // the module is not part of this version of the service
		}
		// After this update, no request attaches the file, so that the record, which is read below, decides.
		m, err := f.rows.Update(ctx, r.released(), store.Set("deleting", true))
		if isMissing(err) {
			continue // attached, released again or deleted meanwhile
		}
		if err != nil {
			return err
		}
		marked = append(marked, m)
	}
	referred, err := f.referred(ctx, marked)
	if err != nil {
		return err
	}
	var failed []error
	for _, r := range marked {
		if referred[r.ID] {
			err = f.heal(ctx, r)
		} else if err = f.store.Delete(ctx, r.ID); err == nil {
			_, err = f.rows.Delete(ctx, store.Eq("id", r.ID))
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	if failed != nil {
		return fmt.Errorf("%d files cannot be deleted, the first because of: %w", len(failed), failed[0])
	}
	return nil
}

// released selects the row if no other change has released the file since it was read.
func (r row) released() store.Filter {
	return store.And(store.Eq("id", r.ID), store.Eq("since", r.Since))
}

// heal corrects the row of a file to which a record refers.
func (f *Files) heal(ctx context.Context, r row) error {
	_, err := f.rows.Update(ctx, r.released(), store.Unset("since"), store.Set("deleting", false))
	if err == nil && r.Uploader != nil {
		err = f.recountOne(ctx, *r.Uploader)
	}
	if isMissing(err) {
		return nil
	}
	return err
}

// referred returns the files of the rows to which their stored records refer. The collections of the rows are known.
func (f *Files) referred(ctx context.Context, rows []row) (map[store.ID]bool, error) {
	records := map[string][]any{}
	for _, r := range rows {
		records[r.Collection] = append(records[r.Collection], r.RecordID)
	}
	referred := map[store.ID]bool{}
	for collection, ids := range records {
		if collection == "" {
			all, err := f.references(ctx, func(context.Context, string, store.ID, File) error { return nil })
			if err != nil {
				return nil, err
			}
			maps.Copy(referred, all)
			continue
		}
		list := f.lister(collection)
		if list == nil {
			continue
		}
		found, err := list(ctx, store.Query{Filter: store.In("id", ids...)})
		if err != nil {
			return nil, err
		}
		for _, record := range found {
			for _, file := range record.Files {
				referred[file.ID] = true
			}
		}
	}
	return referred, nil
}

// sweepForgotten finds what no change has released: files of records that were deleted or changed without rules, such as by a
// migration, and files without a row. It also corrects the quotas.
func (f *Files) sweepForgotten(ctx context.Context) error {
	return errors.Join(
		f.sweepPortions(ctx, store.Query{Filter: store.Eq("since", nil), Limit: portion}, f.releaseForgotten),
		f.sweepUnknown(ctx),
		f.store.Clean(ctx, f.now().Add(-forgottenAfter)),
		f.recount(ctx),
	)
}

// releaseForgotten releases the files of the rows to which no stored record refers.
func (f *Files) releaseForgotten(ctx context.Context, rows []row) error {
	known := rows[:0]
	for _, r := range rows {
		if f.knows(r) {
			known = append(known, r)
		}
	}
	referred, err := f.referred(ctx, known)
	if err != nil {
		return err
	}
	for _, r := range known {
		if !referred[r.ID] {
			_, err := f.rows.Update(ctx, r.released(), store.Set("since", store.At(f.now())))
			if err != nil && !isMissing(err) {
				return err
			}
		}
	}
	return nil
}

// sweepUnknown stores a row for each file that has none, so that the sweep deletes the file after forgottenAfter, unless a record refers
// to it. A file has no row if an older database was restored, or if a copy lost the row. The delay lets the operator restore again.
func (f *Files) sweepUnknown(ctx context.Context) error {
	now := f.now()
	since := store.At(now.Add(forgottenAfter - deleteAfter))
	var ids []any
	flush := func() error {
		rows, err := f.rows.List(ctx, store.Query{Filter: store.In("id", ids...), Fields: []string{"id"}})
		if err != nil {
			return err
		}
		for _, r := range rows {
			ids = slices.DeleteFunc(ids, func(id any) bool { return id == r.ID })
		}
		for _, id := range ids {
			if err := f.rows.Insert(ctx, row{Meta: store.NewMeta(id.(store.ID), store.At(now)), Since: &since}); err != nil {
				return err
			}
		}
		ids = ids[:0]
		return nil
	}
	for id, err := range f.store.List(ctx) {
		if err != nil {
			return err
		}
		if ids = append(ids, id); len(ids) == portion {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
