package files

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Options are the arguments of New. DB, Now and Log are required.
type Options struct {
	DB      store.DB
	Store   Store  // nil: files are not configured
	TempDir string // for uploads in progress; "" is the directory of the system
	Quota   int64  // bytes of the files of one uploader; 0: no limit
	Now     func() time.Time
	Log     *slog.Logger
}

// Files stores the files of records. Each file has a row in the database, which says to which record it belongs and, if no record
// refers to it, since when. The row is stored before the bytes and deleted after them, so that no file is forgotten. A change of a
// record has these steps, of which 3 to 5 are one transaction if the server has transactions:
//
//  1. Reserve and Receive: the bytes are in a temporary file.
//  2. Put: the row and the bytes of the new file are stored.
//  3. Release of the old file.
//  4. The write of the record.
//  5. Attach of the new file.
//
// An interruption between the steps leaves a file whose row says that no record refers to it. After an hour the sweep reads the
// record, and deletes the file only if the record does not refer to it. Attach never attaches a released file; only Restore and the
// sweep can undo a release.
type Files struct {
	db      store.DB
	store   Store
	spools  *spools
	quota   int64
	now     func() time.Time
	log     *slog.Logger
	rows    *store.Collection[row]
	usages  *store.Collection[usage]
	markers *store.Collection[marker]

	mu      sync.Mutex
	records map[string]ListRecords // by collection
}

// row is the document of a file. Its ID is the ID of the file.
type row struct {
	store.Meta `bson:",inline"`
	Collection string    `json:"collection"` // "": sweepUnknown has added the row; the record is unknown
	Field      string    `json:"field"`      // for messages; the field may have another name now
	RecordID   store.ID  `json:"recordId"`
	Uploader   *store.ID `json:"uploader"`
	Size       int64     `json:"size"`
	// Since is the time since which no record refers to the file; nil if a record refers to it. While Put stores the bytes, Since is in
	// the future, so that the sweep skips the file.
	Since    *store.Time `json:"since"`
	Deleting bool        `json:"deleting"` // the sweep deletes the file, so it cannot be attached
}

// Owner says to what a new file belongs.
type Owner struct {
	Collection, Field string
	Record            store.ID
	Uploader          *store.ID // the user whose quota counts; nil: none
}

// Record is a record with the files to which it refers.
type Record struct {
	ID    store.ID
	Files []File
}

// ListRecords returns the records of a collection that q selects, including records without files. Implementations should read only
// the ID and the fields with files.
type ListRecords func(ctx context.Context, q store.Query) ([]Record, error)

// errNotConfigured is returned if the service has no storage for files.
var errNotConfigured = apperr.New(apperr.NotSupported, "This service stores no files; its operator can set FILES_URL.")

// New returns the Files of a service. Call New before DB.Prepare, because it opens collections.
func New(o Options) *Files {
	return &Files{
		spools: newSpools(o.TempDir),
		db:     o.DB, store: o.Store, quota: o.Quota, now: o.Now, log: o.Log, records: map[string]ListRecords{},
		rows: store.Open[row](o.DB, store.Spec{Name: "files", Indexes: []store.Index{
			{Fields: []string{"since"}}, {Fields: []string{"uploader"}},
		}}),
		usages:  store.Open[usage](o.DB, store.Spec{Name: "file-usage"}),
		markers: store.Open[marker](o.DB, store.Spec{Name: "file-storage"}),
	}
}

// Configured reports whether the service has storage for files. Without storage, Reserve, Put and Open fail with NotSupported. A nil
// *Files has no storage.
func (f *Files) Configured() bool { return f != nil && f.store != nil }

// RequireStorage returns NotSupported if the service has no storage for files.
func (f *Files) RequireStorage() error {
	if !f.Configured() {
		return errNotConfigured
	}
	return nil
}

// Register sets the function that reads the records of a collection. list is nil if the records have no files, for example because the
// field was removed. Files of unregistered collections are kept.
func (f *Files) Register(collection string, list ListRecords) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.records[collection] = list
}

// collections returns the names of the registered collections whose records can have files, sorted.
func (f *Files) collections() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := slices.Sorted(maps.Keys(f.records))
	return slices.DeleteFunc(names, func(name string) bool { return f.records[name] == nil })
}

// knows reports whether the records that can refer to the file are known.
func (f *Files) knows(r row) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, registered := f.records[r.Collection]
	return registered || r.Collection == ""
}

// lister returns the function that reads the records of a registered collection; nil if they have no files.
func (f *Files) lister(collection string) ListRecords {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.records[collection]
}

// Times after which the sweep deletes a file.
const (
	deleteAfter = time.Hour      // after the change of the record
	storeWithin = 22 * time.Hour // how long Put can take, in addition to deleteAfter
)

// Put stores the bytes that Receive has received, and sets the IDs of the files. It skips files that are not staged. If Put fails,
// it removes what it has stored. Otherwise, call Attach or Remove.
func (f *Files) Put(ctx context.Context, owner Owner, file ...*File) error {
	if !f.Configured() {
		return errNotConfigured
	}
	for i, one := range file {
		if err := f.put(ctx, owner, one); err != nil {
			f.Remove(ctx, nil, file[:i+1]...)
			return err
		}
	}
	for _, one := range file { // deleteAfter begins when all files are stored
		if !one.isNew() {
			continue
		}
		_, err := f.rows.Update(ctx, store.And(store.Eq("id", one.ID), store.Eq("deleting", false)), store.Set("since", store.At(f.now())))
		if err != nil {
			f.Remove(ctx, nil, file...)
			return apperr.Replace(err, apperr.NotFound, errDeleted)
		}
	}
	return nil
}

// errDeleted is returned if storing a file has taken so long that the sweep has deleted it.
var errDeleted = apperr.New(apperr.Unavailable, "Storing the file took too long. Try again.")

func (f *Files) put(ctx context.Context, owner Owner, file *File) error {
	if !file.IsStaged() {
		return nil
	}
	now := f.now()
	since := store.At(now.Add(storeWithin))
	file.ID = store.NewID()
	file.staged.stored = true
	err := f.rows.Insert(ctx, row{
		Meta: store.NewMeta(file.ID, store.At(now)), Collection: owner.Collection, Field: owner.Field, RecordID: owner.Record,
		Uploader: owner.Uploader, Size: file.Size, Since: &since,
	})
	if err != nil {
		return err
	}
	if _, err := file.staged.file.Seek(0, io.SeekStart); err != nil {
		return Unavailable(err)
	}
	if err := f.store.Put(ctx, file.ID, file.staged.file, file.Size); err != nil {
		return err
	}
	file.Discard() // frees the temporary file
	return nil
}

// isNew reports whether Put has stored the file in this request.
func (f *File) isNew() bool { return f != nil && f.staged != nil && f.staged.stored }

// Attach marks that a record refers to the files from now on, and turns their reservations into stored bytes. It skips files that Put
// has not stored in this request. Call Attach with the context of the DB.Together that writes the record, after that write.
func (f *Files) Attach(ctx context.Context, file ...*File) error {
	for _, one := range file {
		if !one.isNew() {
			continue
		}
		attached, err := f.rows.Update(ctx, store.And(store.Eq("id", one.ID), store.Eq("deleting", false)), store.Unset("since"))
		if err != nil {
			return apperr.Replace(err, apperr.NotFound, errDeleted)
		}
		if err := f.settle(ctx, attached, one.staged.reservation); err != nil {
			return err
		}
	}
	return nil
}

// maxReleased is the maximum number of files that one call of Release releases. A deletion with its cascades can include 20,000 files.
const maxReleased = 500

// Release marks that no record refers to the files from now on. The sweep deletes them an hour later. Files that do not exist are
// skipped. Release releases at most maxReleased files; the sweep finds the others within 12 hours. Call Release with the
// context of the DB.Together that writes or deletes the record, before that write. If a change fails, call Restore after the
// Together; after a failed deletion, the sweep restores them.
func (f *Files) Release(ctx context.Context, id ...store.ID) error {
	freed := map[store.ID]int64{} // bytes by uploader
	for _, one := range id[:min(len(id), maxReleased)] {
		since := store.Set("since", store.At(f.now()))
		released, err := f.rows.Update(ctx, store.And(store.Eq("id", one), store.Eq("since", nil)), since)
		switch {
		case apperr.Is(err, apperr.NotFound): // released before, by a change that was interrupted
			if _, err = f.rows.Update(ctx, store.Eq("id", one), since); apperr.Is(err, apperr.NotFound) {
				err = nil
			}
		case err == nil && released.Uploader != nil:
			freed[*released.Uploader] += released.Size
		}
		if err != nil {
			return err
		}
	}
	for uploader, bytes := range freed {
		if err := f.free(ctx, uploader, bytes); err != nil {
			return err
		}
	}
	return nil
}

// Restore marks that the record refers to the files again, after its write has failed with cause, on a server without transactions.
// If it is unknown whether the record was written, or if Restore fails, the sweep corrects the files an hour later. Restore logs its
// own errors.
func (f *Files) Restore(ctx context.Context, cause error, id ...store.ID) {
	if len(id) == 0 || store.InAtomic(ctx) || !isDefinite(ctx, cause) {
		return
	}
	if err := f.restore(ctx, id); err != nil {
		f.log.Warn("files of a record that could not be written count toward no quota until the sweep", "error", err)
	}
}

func (f *Files) restore(ctx context.Context, id []store.ID) error {
	released := store.And(store.In("id", store.Values(id)...), store.Ne("since", nil))
	rows, err := f.rows.List(ctx, store.Query{Filter: released})
	if err != nil || len(rows) == 0 { // a transaction was rolled back
		return err
	}
	referred, err := f.referred(ctx, rows)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if !referred[r.ID] {
			continue // another request has changed the record
		}
		_, err := f.rows.Update(ctx, r.released(), store.Unset("since"))
		if err == nil && r.Uploader != nil {
			err = f.free(ctx, *r.Uploader, -r.Size)
		}
		if err != nil && !isMissing(err) {
			return err
		}
	}
	return nil
}

// Remove deletes the files that Put has stored in this request, after the record could not be written. cause is the error of the
// write; nil if there was no write. If the error does not say whether the record was written, Remove leaves the files to the sweep.
// Remove also works if ctx has ended. It logs its own errors.
func (f *Files) Remove(ctx context.Context, cause error, file ...*File) {
	if !f.Configured() || !isDefinite(ctx, cause) {
		return
	}
	var ids []any
	for _, one := range file {
		if one.isNew() {
			ids = append(ids, one.ID)
		}
	}
	if ids == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	rows, err := f.rows.List(ctx, store.Query{Filter: store.And(store.In("id", ids...), store.Ne("since", nil))})
	if err == nil {
		err = f.sweepRows(ctx, rows)
	}
	if err != nil {
		f.log.Warn("files that no record refers to are deleted later", "error", err)
	}
}

const removeTimeout = 10 * time.Second

// isDefinite reports whether nothing was written if a write has failed with err.
func isDefinite(ctx context.Context, err error) bool {
	var known *apperr.Error
	return err == nil || ctx.Err() == nil && errors.As(err, &known) && known.Base() != apperr.Unavailable && known.Base() != apperr.Internal
}

// Open returns the bytes of a file; on a local disk, it is an *os.File. Errors: NotFound; NotSupported.
func (f *Files) Open(ctx context.Context, file File) (io.ReadSeekCloser, error) {
	if !f.Configured() {
		return nil, errNotConfigured
	}
	return f.store.Open(ctx, file.ID)
}
