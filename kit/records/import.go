package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/errgroup"

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

// writers is the maximum number of records that sideBySide stores concurrently.
const writers = 16

// mode determines what the routes that an import calls may write.
type mode int

const (
	write   mode = iota // everything
	collect             // only the imported record, which is kept in memory for store.Engine.Load
	dry                 // nothing; writes seem to succeed
)

// Importer is the state of a call to Import.
type Importer struct {
	ImportOptions
	*Service
	target      *target
	mode        mode
	notAlone    atomic.Bool // see errNotAlone
	found       found
	result      Result
	loading     chan error // receives the result of the Load in progress; nil: no Load is in progress
	loadingPage []*record
	loaded      bool // Load was called, so finish must call DB.Prepare
}

// record is a record of the file, and the state of its import.
type record struct {
	exchange.Record
	err     error // why the record is not stored
	id      store.ID
	fields  map[string]jsontext.Value
	doc     store.Document // the document that the route stores
	wrote   bool           // the route has written to the database
	updated bool
	kept    bool
}

// Import creates the records of a file, and updates stored records if UpdateBy is set. Created records keep from the file the
// fields that clients of the API cannot set, such as id, createdAt and userId, but not version. A record without an ID gets an ID
// derived from its position and content, so that a repeated import creates the same IDs. Import fails if the options are invalid,
// the file cannot be read or the database fails; records that were stored before the error remain.
func (s *Service) Import(ctx context.Context, in io.Reader, o ImportOptions) (Result, error) {
	im := &Importer{ImportOptions: o, Service: s}
	if err := im.prepare(ctx); err != nil {
		return Result{}, err
	}
	reader, err := exchange.NewReader(contextReader{ctx, in}, o.Format, im.documentType())
	if err != nil {
		return Result{}, err
	}
	err = im.eachPage(ctx, reader, func(page []*record) error {
		if err := im.store(ctx, page); err != nil {
			return err
		}
		if im.loading == nil {
			im.count(page)
		}
		return nil
	})
	return im.result, errors.Join(err, im.finish(ctx))
}

func (im *Importer) documentType() reflect.Type {
	return reflect.TypeOf(im.target.engine.spec.NewDocument()).Elem()
}

// prepare checks the options, and chooses the mode.
func (im *Importer) prepare(ctx context.Context) (err error) {
	if im.target, err = im.Service.target(im.Resource); err != nil {
		return err
	}
	if !im.target.has(http.MethodPost, false) {
		return fmt.Errorf("the API cannot create records of %s", im.Resource)
	}
	if im.UpdateBy != "" {
		return im.checkUpdateBy()
	}
	empty := true
	_, err = im.target.engine.Engine.List(ctx, store.Query{Limit: 1, Fields: []string{"id"}}, func() any {
		empty = false
		return im.target.engine.spec.NewDocument()
	})
	if empty {
		im.mode = collect
	}
	if im.DryRun {
		im.mode = dry
	}
	return err
}

func (im *Importer) checkUpdateBy() error {
	if im.DryRun {
		im.mode = dry
	}
	if !im.target.has(http.MethodPatch, true) {
		return fmt.Errorf("the API cannot update records of %s", im.Resource)
	}
	unique := []string{"id"}
	for _, index := range im.target.engine.spec.Indexes {
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

// store stores the records of a page. If a record is rejected, store sets the record's err.
func (im *Importer) store(ctx context.Context, page []*record) error {
	if im.mode == collect {
		err := im.each(ctx, page, runtime.GOMAXPROCS(0))
		if err := errors.Join(err, im.waitForLoad()); err != nil {
			return err
		}
		if !im.notAlone.Load() {
			return im.load(ctx, page)
		}
		im.mode = write
		for _, r := range page {
			r.parse(im.Resource)
		}
		if err := im.db.Prepare(ctx); err != nil {
			return err
		}
	}
	if im.UpdateBy == "" {
		if err := im.keep(ctx, page); err != nil {
			return err
		}
	}
	if im.mode == write && im.db.Serializable() {
		return im.inTransactions(ctx, pending(page))
	}
	for _, wave := range im.waves(pending(page)) {
		if err := im.sideBySide(ctx, wave); err != nil {
			return err
		}
	}
	return nil
}

// sideBySide stores records concurrently. A record may refer to another record that is not stored yet. Therefore, if a record
// fails with ValidationFailed before its route has written anything, sideBySide tries again after the others.
func (im *Importer) sideBySide(ctx context.Context, records []*record) error {
	if err := im.each(ctx, records, writers); err != nil {
		return err
	}
	var again []*record
	for _, r := range records {
		if apperr.Is(r.err, apperr.ValidationFailed) && !r.wrote {
			r.doc, r.err = nil, nil
			again = append(again, r)
		}
	}
	return im.each(ctx, again, 1)
}

// pending returns the records of a page that are neither kept nor rejected.
func pending(page []*record) []*record {
	return slices.DeleteFunc(slices.Clone(page), func(r *record) bool { return r.err != nil || r.kept })
}

// keep marks a record as kept if its ID is already stored, or is the ID of an earlier record in the page.
func (im *Importer) keep(ctx context.Context, page []*record) error {
	seen := make(map[store.ID]bool, len(page))
	var ids []any
	for _, r := range pending(page) {
		r.kept = seen[r.id]
		seen[r.id] = true
		ids = append(ids, r.id)
	}
	stored, err := im.stored(ctx, ids)
	for _, r := range page {
		r.kept = r.kept || stored[r.id]
	}
	return err
}

// stored returns the subset of the IDs that are stored.
func (im *Importer) stored(ctx context.Context, ids []any) (map[store.ID]bool, error) {
	stored := make(map[store.ID]bool)
	if len(ids) == 0 {
		return stored, nil
	}
	e := im.target.engine
	var docs []store.Document
	_, err := e.Engine.List(ctx, store.Query{Filter: store.In("id", ids...), Fields: []string{"id"}}, func() any {
		docs = append(docs, e.spec.NewDocument())
		return docs[len(docs)-1]
	})
	for _, doc := range docs {
		stored[store.IDOf(doc)] = true
	}
	return stored, err
}

// waves divides the records into parts that are stored one after the other. Records with the same value in the UpdateBy field are
// in different parts, because the second record updates the first.
func (im *Importer) waves(records []*record) (waves [][]*record) {
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

// each calls im.one for each record whose err is nil, for at most n records at a time.
func (im *Importer) each(ctx context.Context, records []*record, n int) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(n, len(records)) {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(records)); i = next.Add(1) - 1 {
				if r := records[i]; r.err == nil {
					if r.err = im.one(ctx, r); isFatal(r.err) {
						return r.err
					}
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// isFatal reports whether err means that the database is unavailable or a context has ended.
func isFatal(err error) bool {
	return apperr.Is(err, apperr.Unavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// inTransactions stores records in as few transactions as possible. If a record fails after its route has written something,
// the transaction is aborted. The records before that record are then stored again.
func (im *Importer) inTransactions(ctx context.Context, records []*record) error {
	for len(records) > 0 {
		failed := -1
		err := im.db.Atomic(ctx, func(ctx context.Context) error {
			for i, r := range records {
				r.doc, r.wrote, r.updated = nil, false, false
				if r.err = im.one(ctx, r); r.err == nil {
					continue
				}
				healthy := im.db.Atomic(ctx, func(context.Context) error { return nil }) == nil
				if r.wrote || !healthy || isFatal(r.err) {
					failed = i
					return r.err
				}
			}
			return nil
		})
		switch {
		case err == nil:
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
			reason := records[failed].err
			reset(records[:failed])
			if err := im.inTransactions(ctx, records[:failed]); err != nil {
				return err
			}
			records[failed].err = reason
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

// one calls the route that creates or updates the record.
func (im *Importer) one(ctx context.Context, r *record) error {
	if im.UpdateBy != "" {
		stored, err := im.find(ctx, r)
		if err != nil {
			return err
		}
		if stored != nil {
			r.updated = true
			return im.call(ctx, r, http.MethodPatch, stored, "/"+store.IDOf(stored).Hex())
		}
	}
	err := im.call(ctx, r, http.MethodPost, nil, "")
	if err == nil && r.doc == nil {
		return fmt.Errorf("the service has created no record of %s", im.Resource)
	}
	return err
}

// call calls the route whose path is the path of the collection followed by suffix. stored is the record to update, or nil.
func (im *Importer) call(ctx context.Context, r *record, method string, stored store.Document, suffix string) error {
	var parents []store.ID
	if parentField := im.target.engine.spec.Parent; len(im.target.parents) > 0 {
		var parent store.ID
		if stored != nil {
			parent = field(stored, parentField).Interface().(store.ID)
		} else if err := json.Unmarshal(r.fields[parentField], &parent); err != nil || parent.IsZero() {
			return apperr.Invalid(apperr.Field{In: "body", Param: parentField, Code: apperr.Required, Message: "Must be the ID of the parent."})
		}
		var err error
		if parents, err = im.target.under(ctx, parent); err != nil {
			return err
		}
	}
	err := im.send(ctx, &call{on: im, record: r}, method, im.target.path(parents)+suffix, nil, r.JSON)
	if apperr.Is(err, apperr.NotFound) && stored == nil {
		return apperr.Invalid(unknownParent(im.target.engine.spec.Parent))
	}
	return err
}

// find returns the stored record that has the same value in the UpdateBy field as r, or nil if there is no such record.
func (im *Importer) find(ctx context.Context, r *record) (store.Document, error) {
	e, by := im.target.engine, im.UpdateBy
	doc := e.spec.NewDocument()
	value := reflect.New(field(doc, by).Type())
	if by == "id" {
		value.Elem().Set(reflect.ValueOf(r.id))
	} else if raw, given := r.fields[by]; !given || string(raw) == "null" {
		return nil, apperr.Invalid(apperr.Field{In: "body", Param: by, Code: apperr.Required, Message: "Must be given, to find the record to update."})
	} else if decode(raw, value.Interface()) != nil {
		return nil, nil // the route reports the wrong type
	}
	if text, ok := value.Interface().(*string); ok {
		*text = strings.TrimSpace(*text)
	}
	err := e.Engine.First(ctx, store.Eq(by, value.Elem().Interface()), doc)
	if err != nil {
		return nil, apperr.Replace(err, apperr.NotFound, nil)
	}
	return doc, nil
}

// load starts storing the documents of a page in the background.
func (im *Importer) load(ctx context.Context, page []*record) error {
	if err := im.keep(ctx, page); err != nil {
		return err
	}
	records := pending(page)
	im.loaded = true
	loading := make(chan error, 1)
	im.loading, im.loadingPage = loading, page
	go func() { loading <- im.loadAll(ctx, records) }()
	return nil
}

// loadAll stores the documents of records. It rejects a record that conflicts with another record.
func (im *Importer) loadAll(ctx context.Context, records []*record) error {
	if len(records) == 0 {
		return nil
	}
	docs, ids := make([]store.Document, len(records)), make([]any, len(records))
	for i, r := range records {
		docs[i], ids[i] = r.doc, r.id
	}
	err := im.target.engine.Engine.Load(ctx, docs)
	if err == nil || !apperr.Is(err, apperr.Conflict) {
		return err
	}
	stored, storedErr := im.stored(ctx, ids) // MongoDB keeps the documents that it stored before the conflict
	if storedErr != nil {
		return storedErr
	}
	records = slices.DeleteFunc(records, func(r *record) bool { return stored[r.id] })
	switch len(records) {
	case 0:
		return nil
	case 1:
		if duplicate := im.target.engine.checkUnique(ctx, records[0].doc); duplicate != nil { // the error of checkUnique names the fields on all databases
			err = duplicate
		}
		records[0].err = err
		return nil
	}
	half := len(records) / 2
	if err := im.loadAll(ctx, records[:half]); err != nil {
		return err
	}
	return im.loadAll(ctx, records[half:])
}

// waitForLoad waits for the Load in progress, and counts its records.
func (im *Importer) waitForLoad() error {
	if im.loading == nil {
		return nil
	}
	err := <-im.loading
	im.loading = nil
	if err == nil {
		im.count(im.loadingPage)
	}
	return err
}

// finish waits for the last Load, and prepares the database.
func (im *Importer) finish(ctx context.Context) error {
	err := im.waitForLoad()
	if im.loaded && ctx.Err() == nil {
		err = errors.Join(err, im.db.Prepare(ctx))
	}
	return err
}

// count adds the records of a page to the result.
func (im *Importer) count(page []*record) {
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
