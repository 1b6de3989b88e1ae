package records

import (
	"context"
	"errors"
	"slices"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// loader stores pages with store.Engine.Load. It stores a page while the next page is read and checked. When a record refers to
// another record of the resource, which may be one that Load rejects, the import continues without Load.
type loader struct {
	*importer
	loading chan error // receives the result of the Load in progress; nil: no Load is in progress
	page    []*record  // the page that Load stores
	loaded  bool       // Load was called, so finish must call DB.Prepare
}

// storePage starts storing the records of a page, whose documents are built.
func (l *loader) storePage(ctx context.Context, page []*record) error {
	if slices.ContainsFunc(pending(page), func(r *record) bool { return l.target.Creator.RefersToOwn(r.doc) }) {
		l.importer.load = nil
		if err := l.finish(ctx); err != nil {
			return err
		}
		return l.importer.storePage(ctx, page)
	}
	if err := l.checkAll(ctx, pending(page)); err != nil { // beside the Load in progress
		return err
	}
	if err := l.wait(); err != nil { // keep must see the IDs of the page before
		return err
	}
	if err := l.keep(ctx, page); err != nil {
		return err
	}
	records := pending(page)
	loading := make(chan error, 1)
	l.loading, l.page, l.loaded = loading, page, true
	go func() { loading <- l.loadAll(ctx, records) }()
	return nil
}

// wait waits for the Load in progress, and counts its records.
func (l *loader) wait() error {
	if l.loading == nil {
		return nil
	}
	err := <-l.loading
	l.loading = nil
	if err == nil {
		l.count(l.page)
	}
	return err
}

// finish waits for the last Load, and prepares the database.
func (l *loader) finish(ctx context.Context) error {
	err := l.wait()
	if l.loaded && ctx.Err() == nil {
		err = errors.Join(err, l.db.Prepare(ctx))
	}
	return err
}

// loadAll stores the documents of records. It rejects a record that conflicts with another record.
func (l *loader) loadAll(ctx context.Context, records []*record) error {
	if len(records) == 0 {
		return nil
	}
	docs, ids := make([]store.Document, len(records)), make([]any, len(records))
	for i, r := range records {
		docs[i], ids[i] = r.doc, r.id
	}
	err := l.target.Engine.Load(ctx, docs)
	if err == nil || !apperr.Is(err, apperr.Conflict) {
		return err
	}
	stored, storedErr := l.stored(ctx, ids) // MongoDB keeps the documents that it stored before the conflict
	if storedErr != nil {
		return storedErr
	}
	records = slices.DeleteFunc(records, func(r *record) bool { return stored[r.id] })
	switch len(records) {
	case 0:
		return nil
	case 1:
		records[0].err = err
		if named := l.checkUnique(ctx, records[0].doc); named != nil { // names the fields on all databases
			records[0].err = named
		}
		if isFatal(records[0].err) {
			return records[0].err
		}
		return nil
	}
	half := len(records) / 2 // find the records that conflict by halving
	if err := l.loadAll(ctx, records[:half]); err != nil {
		return err
	}
	return l.loadAll(ctx, records[half:])
}

// checkAll sets the err of records whose references are invalid.
func (im *importer) checkAll(ctx context.Context, records []*record) error {
	docs := make([]store.Document, len(records))
	for i, r := range records {
		docs[i] = r.doc
	}
	errs, err := im.target.Creator.Check(ctx, operator, docs)
	if err != nil {
		return err
	}
	for i, r := range records {
		if r.err = im.creationError(errs[i]); isFatal(r.err) {
			return r.err
		}
	}
	return nil
}
