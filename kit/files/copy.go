package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/progress"
	"example.com/ginseng/kit/store"
)

// copiesAtOnce is the maximum number of files that a copy transfers at a time, and that it has in TempDir.
const copiesAtOnce = 8

// CopyOptions are the arguments of Copy and Backup.
type CopyOptions struct {
	TempDir  string              // for at most 8 temporary files; "": that of the system
	Progress io.Writer           // receives the progress
	Report   func(Finding) error // called for each file that is missing or damaged, or differs; required
}

// Copied is the result of a copy.
type Copied struct {
	Copied, Present  int // files that were copied, and that the target had already
	Missing, Damaged int // files that cannot be copied
	Different        int // files of which the target has other bytes
}

// OpenStore opens a Store whose Enter was not called.
type OpenStore func() (Partitioned, error)

// ErrNoDatabases is the error of Copy if no database has files in the source.
var ErrNoDatabases = errors.New("the source has no files of a service")

// Copy copies the files of all databases from a Store to another. It calls openFrom and openTo for each database, because Enter can
// be called only once. A file that the target has with the same SHA-256 is not copied again, so that the next Copy continues one that was
// interrupted. A file that the target has with other bytes is reported and not replaced: one of the two is damaged, and it is unknown which.
// After a file is copied, it is read from the target and compared. Files that are stored or deleted meanwhile may be missing in the
// target. Copy also removes the temporary files of copies that were killed. Errors: ErrNoDatabases; then openTo was not called.
func Copy(ctx context.Context, openFrom, openTo OpenStore, o CopyOptions) (result Copied, err error) {
	from, err := openFrom()
	if err != nil {
		return result, err
	}
	databases, err := from.Databases(ctx)
	if err == nil && len(databases) == 0 {
		err = ErrNoDatabases
	}
	if err != nil {
		return result, causeOf(err)
	}
	c := newCopier(o)
	for _, database := range databases {
		from, err := openFrom()
		if err != nil {
			return c.result, err
		}
		to, err := openTo()
		if err == nil {
			err = errors.Join(from.Enter(database, false), to.Enter(database, true))
		}
		if err == nil {
			c.from, c.to = from, to
			err = c.copyAll(ctx)
		}
		if err != nil {
			return c.result, err
		}
	}
	return c.result, nil
}

func (c *copier) copyAll(ctx context.Context) error {
	var ids []store.ID
	for id, err := range c.from.List(ctx) {
		if err != nil {
			return causeOf(err)
		}
		ids = append(ids, id)
	}
	return c.run(ctx, "copying", len(ids), func(ctx context.Context, copy func(Finding, string)) error {
		for _, id := range ids {
			if copy(Finding{ID: id}, ""); ctx.Err() != nil {
				break
			}
		}
		return nil
	})
}

// Backup copies all files to which records refer, and which to does not have yet. It compares their SHA-256 with that of the records, so
// that a damaged file of to is replaced.
// Files of collections that nobody has registered are copied too. Call Enter of f first.
func (f *Files) Backup(ctx context.Context, to Partitioned, o CopyOptions) (Copied, error) {
	c := newCopier(o)
	c.from, c.to = f.store, to
	database, err := f.database(ctx)
	if err == nil {
		err = to.Enter(database, true)
	}
	if err != nil {
		return c.result, err
	}
	total, err := f.rows.Count(ctx, store.Eq("since", nil))
	if err != nil {
		return c.result, err
	}
	err = c.run(ctx, "files", int(total), func(ctx context.Context, copy func(Finding, string)) error {
		_, err := f.references(ctx, func(ctx context.Context, collection string, record store.ID, file File) error {
			copy(Finding{ID: file.ID, Collection: collection, Record: record}, file.SHA256)
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		return f.eachPortion(ctx, store.Query{Filter: store.Eq("since", nil), Limit: portion}, func(ctx context.Context, rows []row) error {
			for _, r := range rows {
				if !f.knows(r) {
					copy(Finding{ID: r.ID, Collection: r.Collection, Record: r.RecordID}, "")
				}
			}
			return ctx.Err()
		})
	})
	return c.result, err
}

// copier copies files from one Store to another.
type copier struct {
	CopyOptions
	from, to Store
	spools   *spools
	mu       sync.Mutex
	result   Copied
}

func newCopier(o CopyOptions) *copier {
	return &copier{CopyOptions: o, spools: newSpools(o.TempDir)}
}

// run calls list, which calls copy for each file, with its SHA-256 or "". The first error ends the context of list.
func (c *copier) run(ctx context.Context, task string, total int, list func(ctx context.Context, copy func(Finding, string)) error) error {
	if isSameDir(c.from, c.to) {
		return errors.New("the files are in the target already: name another directory")
	}
	before := time.Now().Add(-forgottenAfter)
	_ = c.spools.sweep(before) // the copy does not need their space
	if err := c.to.Clean(ctx, before); err != nil {
		return causeOf(err)
	}
	bar := progress.Start(c.Progress, task, "files", int64(total))
	defer bar.Stop()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(copiesAtOnce)
	err := list(ctx, func(found Finding, sum string) {
		group.Go(func() error {
			defer bar.Add(1)
			return c.copy(ctx, found, sum)
		})
	})
	if failed := group.Wait(); failed != nil {
		return failed // the reason why ctx has ended
	}
	return err
}

// isSameDir reports whether two Stores are the same directory.
func isSameDir(a, b Store) bool {
	one, ok1 := a.(*Local)
	other, ok2 := b.(*Local)
	if !ok1 || !ok2 {
		return false
	}
	infoA, errA := one.root.Stat(".")
	infoB, errB := other.root.Stat(".")
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

func (c *copier) copy(ctx context.Context, found Finding, sum string) error {
	copied, err := c.bring(ctx, found.ID, sum)
	differ := (*differError)(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case isMissing(err):
		c.result.Missing++
		found.Missing = true
		return c.Report(found)
	case errors.Is(err, ErrDamaged):
		c.result.Damaged++
		found.Damaged = true
		return c.Report(found)
	case errors.As(err, &differ):
		c.result.Different++
		found.Differs, found.SourceSize, found.TargetSize = true, differ.source, differ.target
		return c.Report(found)
	case err != nil:
		return fmt.Errorf("the file %s: %w", found.ID.Hex(), causeOf(err))
	case copied:
		c.result.Copied++
	default:
		c.result.Present++
	}
	return nil
}

// causeOf returns the cause of Unavailable, whose message is for clients of the API, and other errors unchanged.
func causeOf(err error) error {
	if cause := errors.Unwrap(err); cause != nil && apperr.Is(err, apperr.Unavailable) {
		return cause
	}
	return err
}

// differError has the sizes in bytes of a file that is in both Stores.
type differError struct{ source, target int64 }

func (e *differError) Error() string {
	return fmt.Sprintf("%d bytes in the source, %d bytes in the target", e.source, e.target)
}

// bring copies a file unless the target has it. sum is the SHA-256 in the record in hexadecimal, or "" if it is unknown. Errors: NotFound;
// ErrDamaged; *differError if sum is unknown.
func (c *copier) bring(ctx context.Context, id store.ID, sum string) (copied bool, err error) {
	there, size, err := sumOf(ctx, c.to, id, io.Discard)
	if err != nil && !isMissing(err) && !errors.Is(err, ErrDamaged) {
		return false, err
	}
	if there != "" && sum == "" {
		source, sourceSize, err := sumOf(ctx, c.from, id, io.Discard)
		if err == nil && source != there { // the bytes of an ID never change
			err = &differError{source: sourceSize, target: size}
		}
		return false, err
	}
	if there != "" && there == sum {
		return false, nil
	}
	spool, err := c.spools.create()
	if err != nil {
		return false, err
	}
	defer c.spools.remove(spool)
	read, size, err := sumOf(ctx, c.from, id, spool)
	if err != nil {
		return false, err
	}
	if sum != "" && sum != read {
		return false, ErrDamaged
	}
	if _, err = spool.Seek(0, io.SeekStart); err == nil {
		err = c.to.Put(ctx, id, spool, size)
	}
	if err != nil {
		return false, err
	}
	there, _, err = sumOf(ctx, c.to, id, io.Discard)
	if err == nil && there != read || isMissing(err) || errors.Is(err, ErrDamaged) { // not missing or damaged in the source
		return false, errors.New("the target has other bytes than were written to it; check its disk")
	}
	return err == nil, err
}

// sumOf writes a file to w, and returns its SHA-256 in hexadecimal and its size in bytes; "" and 0 after an error.
func sumOf(ctx context.Context, s Store, id store.ID, w io.Writer) (string, int64, error) {
	file, err := s.Open(ctx, id)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(sum, w), file)
	if err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(sum.Sum(nil)), size, nil
}
