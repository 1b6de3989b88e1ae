package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/exchange"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/suggest"
)

// ImportOptions are the arguments of Import.
type ImportOptions struct {
	Resource string
	Format   exchange.Format
	DryRun   bool   // check the records, and store nothing
	UpdateBy string // id or a unique field; a stored record with the same value is updated; "": no stored record is updated

	// Reject receives the records that are not stored, in the order of the file.
	Reject func(line int, err error)
}

// Result has the number of records per outcome.
type Result struct {
	Created, Updated int
	Kept             int // records that were skipped, because a stored or an earlier record has the same ID
	Rejected         int
}

// Limits of a page. A page contains the records that are stored together. The last record can make a page larger than
// pageBytes.
const (
	pageRecords = 500
	pageBytes   = 4 << 20
)

// operator is the caller of the rules and routes.
var operator = access.Operator()

// importer is the state of a call of Import.
type importer struct {
	ImportOptions
	*Service
	target     *target
	parameters []string // of the Creator
	result     Result
	load       *loader // nil: the records are stored one by one
}

// Import creates the records of a file, and updates stored records if UpdateBy is set. Created records keep from the file the
// fields that clients of the API cannot set, such as id, createdAt and userId, but not version. A record without an ID gets an ID
// derived from its position and content, so that a repeated import creates the same IDs. Import fails if the options are invalid,
// the file cannot be read or the database fails; records that were stored before the error remain.
//
// ErrNoTransactions: a dry run would update records, or call a create function of the module (see resource.NewCreator), which needs
// a transaction that is rolled back.
func (s *Service) Import(ctx context.Context, in io.Reader, o ImportOptions) (Result, error) {
	im := &importer{ImportOptions: o, Service: s}
	if err := im.prepare(ctx); err != nil {
		return Result{}, err
	}
	reader, err := exchange.NewReader(contextReader{ctx, in}, o.Format, reflect.TypeOf(im.target.NewDocument()).Elem())
	if err != nil {
		return Result{}, err
	}
	err = im.eachPage(ctx, reader, func(page []*record) error { return im.storePage(ctx, page) })
	if im.load != nil {
		err = errors.Join(err, im.load.finish(ctx))
	}
	return im.result, err
}

// prepare checks the options, and sets load if the collection is empty.
func (im *importer) prepare(ctx context.Context) (err error) {
	if im.target, err = im.Service.target(im.Resource); err != nil {
		return err
	}
	if err := im.target.canCreate(); err != nil {
		return err
	}
	im.parameters = im.target.Creator.Parameters()
	if im.UpdateBy != "" {
		if err := im.checkUpdateBy(); err != nil {
			return err
		}
	}
	switch {
	case im.DryRun && !im.checksOnly():
		if err := im.db.Atomic(ctx, func(context.Context) error { return nil }); err != nil {
			return fmt.Errorf("this dry run stores the records and rolls back: %w", err)
		}
		return nil
	case im.DryRun || !im.plainCreation():
		return nil
	}
	empty := true
	_, err = im.target.Engine.List(ctx, store.Query{Limit: 1, Fields: []string{"id"}}, func() any {
		empty = false
		return im.target.NewDocument()
	})
	if empty {
		im.load = &loader{importer: im}
	}
	return err
}

// plainCreation reports whether all records are created, without a create function of the module: a record that is rejected before
// it is stored then leaves nothing in a transaction.
func (im *importer) plainCreation() bool { return im.UpdateBy == "" && im.target.Creator.Plain() }

// checksOnly reports whether the import is a dry run that needs no transaction.
func (im *importer) checksOnly() bool { return im.DryRun && im.plainCreation() }

func (im *importer) checkUpdateBy() error {
	if !im.target.has(http.MethodPatch, true) {
		return fmt.Errorf("the API cannot update records of %s", im.Resource)
	}
	unique := []string{"id"}
	for _, index := range im.target.Spec.Indexes {
		if index.Unique && len(index.Fields) == 1 {
			unique = append(unique, index.Fields[0])
		}
	}
	if slices.Contains(unique, im.UpdateBy) {
		return nil
	}
	hint := "; use " + strings.Join(unique, " or ")
	if near := suggest.Nearest(im.UpdateBy, unique); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("%s is not a unique field of %s%s", im.UpdateBy, im.Resource, hint)
}

// storePage stores the records of a page. If a record is rejected, storePage sets the record's err.
func (im *importer) storePage(ctx context.Context, page []*record) error {
	if im.UpdateBy == "" {
		if err := im.buildAll(ctx, page); err != nil {
			return err
		}
		if im.load != nil {
			return im.load.storePage(ctx, page)
		}
		if err := im.keep(ctx, page); err != nil {
			return err
		}
	}
	if err := im.write(ctx, pending(page)); err != nil {
		return err
	}
	im.count(page)
	return nil
}

// pending returns the records of a page that are neither kept nor rejected.
func pending(page []*record) []*record {
	return slices.DeleteFunc(slices.Clone(page), func(r *record) bool { return r.err != nil || r.kept })
}

// keep marks a record as kept if its ID is already stored, or is the ID of an earlier record in the page.
func (im *importer) keep(ctx context.Context, page []*record) error {
	var ids []any
	for _, r := range page {
		if !r.id.IsZero() {
			ids = append(ids, r.id)
		}
	}
	stored, err := im.stored(ctx, ids)
	seen := make(map[store.ID]bool, len(page))
	for _, r := range page {
		switch {
		case stored[r.id]:
			r.kept, r.err = true, nil
		case r.err == nil:
			r.kept = seen[r.id]
			seen[r.id] = true
		}
	}
	return err
}

// stored returns the subset of the IDs that are stored.
func (im *importer) stored(ctx context.Context, ids []any) (map[store.ID]bool, error) {
	stored := make(map[store.ID]bool)
	if len(ids) == 0 {
		return stored, nil
	}
	var docs []store.Document
	_, err := im.target.Engine.List(ctx, store.Query{Filter: store.In("id", ids...), Fields: []string{"id"}}, func() any {
		docs = append(docs, im.target.NewDocument())
		return docs[len(docs)-1]
	})
	for _, doc := range docs {
		stored[store.IDOf(doc)] = true
	}
	return stored, err
}

// checkUnique fails with Conflict if a stored document has the same values in a unique index.
func (im *importer) checkUnique(ctx context.Context, doc store.Document) error {
	for _, index := range im.target.Spec.Indexes {
		var equal []store.Filter
		for _, name := range index.Fields {
			if f := field(doc, name); f.IsValid() && !store.IsNil(f.Interface()) {
				equal = append(equal, store.Eq(name, f.Interface()))
			}
		}
		if !index.Unique || len(equal) < len(index.Fields) { // the index ignores documents that lack a field
			continue
		}
		err := im.target.Engine.First(ctx, store.And(equal...), im.target.NewDocument())
		if err == nil {
			return store.Duplicate(slices.DeleteFunc(slices.Clone(index.Fields), func(f string) bool { return f == im.target.Spec.Parent })...)
		}
		if !apperr.Is(err, apperr.NotFound) {
			return err
		}
	}
	return nil
}

// isFatal reports whether err means that the database is unavailable or a context has ended.
func isFatal(err error) bool {
	return apperr.Is(err, apperr.Unavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// count adds the records of a page to the result.
func (im *importer) count(page []*record) {
	for _, r := range page {
		switch {
		case r.err != nil:
			im.result.Rejected++
			im.Reject(r.Line, r.err)
		case r.kept:
			im.result.Kept++
		case r.updated:
			im.result.Updated++
		default:
			im.result.Created++
		}
	}
}
