package files

import (
	"context"
	"time"

	"example.com/ginseng/kit/store"
)

// Finding is a difference between the records and the storage. If it is not Missing, Damaged or Differs, the file is stored, and no record
// refers to it.
type Finding struct {
	ID         store.ID
	Missing    bool     // a record refers to the file, which is not stored
	Damaged    bool     // a record refers to the file, whose bytes are not those that were stored
	Differs    bool     // a copy has found other bytes in the target than in the source
	Collection string   // "" if the file has no row
	Record     store.ID // of the Collection
	// SourceSize and TargetSize are the sizes in bytes of a file that Differs.
	SourceSize, TargetSize int64
	// Until is when the service deletes an unreferenced file; zero: with one of its daily jobs.
	Until time.Time
}

// Checked is the result of Check.
type Checked struct {
	Stored, Missing, Unreferenced int
	Unknown                       int // files of collections that nobody has registered, which cannot be checked
}

// checkMargin is the age at which a file that has no record yet can be of a request in progress.
const checkMargin = time.Minute

// Check compares the storage with the records, and calls report for each difference. It changes nothing. The database can be a
// snapshot: then snapshot is the time at which it was taken, and otherwise zero. Check keeps the IDs of all files in memory.
func (f *Files) Check(ctx context.Context, snapshot time.Time, report func(Finding) error) (result Checked, err error) {
	if !f.Configured() {
		return result, errNotConfigured
	}
	c := check{files: f, snapshot: snapshot, report: report, stored: map[store.ID]bool{}}
	for id, err := range f.store.List(ctx) {
		if err != nil {
			return result, err
		}
		c.stored[id] = true
	}
	c.result.Stored = len(c.stored)
	if c.referred, err = f.references(ctx, c.missing); err != nil {
		return c.result, err
	}
	if err := f.eachPortion(ctx, store.Query{Limit: portion}, c.rows); err != nil {
		return c.result, err
	}
	for id := range c.stored { // the files with rows were removed
		if err := c.unknown(ctx, id); err != nil {
			return c.result, err
		}
	}
	return c.result, nil
}

// check is a Check in progress.
type check struct {
	files            *Files
	snapshot         time.Time
	report           func(Finding) error
	stored, referred map[store.ID]bool
	result           Checked
}

// missing reports a file to which a record refers, if it is not stored.
func (c *check) missing(ctx context.Context, collection string, record store.ID, file File) error {
	if c.stored[file.ID] {
		return nil
	}
	bytes, err := c.files.store.Open(ctx, file.ID) // stored since the List, or not
	if err == nil {
		return bytes.Close()
	}
	if !isMissing(err) {
		return err
	}
	c.result.Missing++
	return c.report(Finding{ID: file.ID, Missing: true, Collection: collection, Record: record})
}

// rows reports the files of the rows to which no record refers.
func (c *check) rows(ctx context.Context, rows []row) error {
	var unreferenced []row
	for _, r := range rows {
		stored := c.stored[r.ID]
		delete(c.stored, r.ID)
		switch {
		case !stored, c.referred[r.ID]:
		case !c.files.knows(r):
			c.result.Unknown++
		default:
			unreferenced = append(unreferenced, r)
		}
	}
	referred, err := c.files.referred(ctx, unreferenced) // by a record that was written meanwhile
	if err != nil {
		return err
	}
	for _, r := range unreferenced {
		waits := r.Since != nil && r.Collection != "" // for a request in progress, or for the sweep
		if referred[r.ID] || waits && c.files.now().Sub(r.Since.Time) < checkMargin {
			continue
		}
		found := Finding{ID: r.ID, Collection: r.Collection, Record: r.RecordID}
		if waits {
			found.Until = r.Since.Add(deleteAfter)
		}
		c.result.Unreferenced++
		if err := c.report(found); err != nil {
			return err
		}
	}
	return nil
}

// unknown reports a file that has no row.
func (c *check) unknown(ctx context.Context, id store.ID) error {
	isNew := !c.snapshot.IsZero() && id.Timestamp().After(c.snapshot.Add(-checkMargin)) && !id.Timestamp().After(time.Now())
	if c.referred[id] || isNew {
		return nil
	}
	file, err := c.files.store.Open(ctx, id)
	if isMissing(err) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	_ = file.Close()
	c.result.Unreferenced++
	return c.report(Finding{ID: id})
}

// Delete deletes the bytes of an unreferenced file that Check has found, if its time has come. The service deletes the row later.
func (f *Files) Delete(ctx context.Context, found Finding) (deleted bool, err error) {
	if found.Missing || found.Until.After(f.now()) {
		return false, nil
	}
	return true, f.store.Delete(ctx, found.ID)
}

// references returns the files to which the records of all registered collections refer. It calls each for each reference.
func (f *Files) references(ctx context.Context, each func(ctx context.Context, collection string, record store.ID, file File) error) (map[store.ID]bool, error) {
	found := map[store.ID]bool{}
	for _, collection := range f.collections() {
		q := store.Query{Limit: portion}
		for {
			records, err := f.lister(collection)(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, record := range records {
				for _, file := range record.Files {
					found[file.ID] = true
					if err := each(ctx, collection, record.ID, file); err != nil {
						return nil, err
					}
				}
			}
			if len(records) < portion {
				break
			}
			q.After = []any{records[len(records)-1].ID}
		}
	}
	return found, nil
}
