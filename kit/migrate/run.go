package migrate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/progress"
	"example.com/ginseng/kit/store"
)

const (
	pageSize = 500                    // number of documents that are read together
	parallel = 40                     // number of concurrent updates
	lease    = 5 * time.Second        // duration of the lease of a running migration; renewed after a third of this time
	poll     = 500 * time.Millisecond // interval at which other instances check the lease
	reported = 10                     // maximum number of documents that an error lists
)

const collection = "migrations"

// Runner runs the migrations of a service.
type Runner struct {
	Log      *slog.Logger
	Progress io.Writer

	migrations []Migration
	db         store.DB
	records    *store.Collection[record]
	now        func() time.Time
}

// record is the state of a migration in the database. The id of a record is derived from the name of the migration.
type record struct {
	store.Meta `bson:",inline"`
	Name       string      `json:"name"`
	LeaseUntil *store.Time `json:"leaseUntil"` // end of the lease; nil if no instance has the lease
	BegunAt    *store.Time `json:"begunAt"`    // start of the last run that began to change documents; nil if no run did
	DoneAt     *store.Time `json:"doneAt"`     // end of the last successful run; nil if no run succeeded
	Changed    int64       `json:"changed"`    // number of documents that the last successful run changed
}

// New returns a Runner. Call New before DB.Prepare, because New opens a collection. New panics if two migrations have the same
// name.
func New(db store.DB, now func() time.Time, migrations ...Migration) *Runner {
	names := map[string]bool{}
	for _, m := range migrations {
		if names[m.Name] {
			panic("migrate: two migrations have the name " + m.Name)
		}
		names[m.Name] = true
	}
	return &Runner{
		Log: slog.New(slog.DiscardHandler), Progress: io.Discard,
		migrations: migrations, db: db, records: store.Open[record](db, store.Spec{Name: collection}), now: now,
	}
}

// All returns the migrations, in order.
func (r *Runner) All() []Migration { return r.migrations }

// Find returns the migration with the name. If no migration has the name, the error lists all names.
func (r *Runner) Find(name string) (Migration, error) {
	var names []string
	for _, m := range r.migrations {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Migration{}, fmt.Errorf("there is no migration %q; the migrations are: %s", name, strings.Join(names, ", "))
}

// Pending returns the migrations that are not recorded as done, in order. Pending may be called before DB.Prepare.
func (r *Runner) Pending(ctx context.Context) ([]Migration, error) {
	records, err := r.recorded(ctx)
	return slices.DeleteFunc(slices.Clone(r.migrations), func(m Migration) bool {
		return slices.ContainsFunc(records, func(r record) bool { return r.Name == m.Name && r.DoneAt != nil })
	}), err
}

// recorded returns the records of all migrations that have begun to change documents, the oldest first.
func (r *Runner) recorded(ctx context.Context) ([]record, error) {
	if names, err := r.db.Names(ctx); err != nil || !slices.Contains(names, collection) {
		return nil, err
	}
	changed := store.Or(store.Ne("begunAt", nil), store.Ne("doneAt", nil))
	return r.records.List(ctx, store.Query{Filter: changed, Sort: []store.Order{{Field: "createdAt"}}})
}

// CheckKnown fails if the database has a record of a migration that the service does not have. In that case, another version of
// the service has changed the documents. CheckKnown may be called before DB.Prepare.
func (r *Runner) CheckKnown(ctx context.Context) error {
	records, err := r.recorded(ctx)
	if err != nil {
		return err
	}
	var unknown []string
	for _, record := range records {
		if !r.has(record.Name) {
			unknown = append(unknown, record.Name)
		}
	}
	if unknown == nil {
		return nil
	}
	return fmt.Errorf("another version of the service has changed the stored documents: the database has migrations that this version lacks: %s. "+
		"Start the version that has them, or restore a backup from before these migrations. If you have removed a migration from the code, run the command migrate --forget NAME",
		strings.Join(unknown, ", "))
}

func (r *Runner) has(name string) bool {
	return slices.ContainsFunc(r.migrations, func(m Migration) bool { return m.Name == name })
}

// Forget deletes the record of a migration that was removed from the code. Forget fails if the code still has the migration, or
// if the database has no record of the migration.
func (r *Runner) Forget(ctx context.Context, name string) error {
	if r.has(name) {
		return fmt.Errorf("the migration %q is in the code; only a migration that was removed from the code can be forgotten", name)
	}
	records, err := r.recorded(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(records, func(r record) bool { return r.Name == name }) {
		return fmt.Errorf("the database has no migration %q", name)
	}
	return r.records.DeleteByID(ctx, recordID(name), nil)
}

// Run runs the migrations one after the other, even if they are recorded as done. Before the first one changes a document, Run
// checks all of them. If another instance is running a migration, Run waits, and skips the migration if the other instance
// completes it.
func (r *Runner) Run(ctx context.Context, migrations []Migration) error {
	begun, checked := store.At(r.now()), false
	for i, m := range migrations {
		check := migrations[i:]
		if checked {
			check = check[:1] // again, because other instances may have written meanwhile
		}
		ran, err := r.run(ctx, m, check, begun)
		if err != nil {
			return err
		}
		checked = checked || ran
	}
	return nil
}

// run checks the migrations in check, of which m is the first, and runs m. No other instance runs them meanwhile. ran is false if
// another instance has run m.
func (r *Runner) run(ctx context.Context, m Migration, check []Migration, begun store.Time) (ran bool, err error) {
	claimed, err := r.claim(ctx, m, begun)
	if err != nil || !claimed {
		return false, m.failed(err)
	}
	started := r.now()
	r.Log.Info("migration started", "name", m.Name, "steps", m.String())
	renewCtx, stop := context.WithCancel(ctx)
	go r.renew(renewCtx, m)
	var changed int64
	if err = r.checkAll(ctx, check); err == nil {
		changed, err = r.migrate(ctx, m)
		err = m.failed(err)
	}
	stop()
	last := []store.Change{store.Unset("leaseUntil")}
	if err == nil {
		last = append(last, store.Set("doneAt", store.At(r.now())), store.Set("changed", changed))
	}
	recordCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lease)
	defer cancel()
	_, recordErr := r.records.UpdateByID(recordCtx, recordID(m.Name), nil, last...)
	if err == nil {
		err = m.failed(recordErr)
	}
	if err != nil {
		return false, err
	}
	r.Log.Info("migration completed", "name", m.Name, "changed", changed, "took", r.now().Sub(started).Round(time.Millisecond))
	return true, nil
}

// recordID returns the id of the record for the migration with the name.
func recordID(name string) store.ID {
	sum := sha256.Sum256([]byte(name))
	return store.ID(sum[:len(store.ID{})])
}

// claim takes the lease of a migration. It waits while another instance has the lease. begun is the time when Run was called.
// claimed is false if another instance has completed the migration after that time.
func (r *Runner) claim(ctx context.Context, m Migration, begun store.Time) (claimed bool, err error) {
	for waits := 0; ; waits++ {
		now := r.now()
		until := store.At(now.Add(lease))
		found, err := r.records.Get(ctx, recordID(m.Name))
		switch {
		case apperr.Is(err, apperr.NotFound):
			err = r.records.Insert(ctx, record{Meta: store.NewMeta(recordID(m.Name), store.At(now)), Name: m.Name, LeaseUntil: &until})
		case err != nil:
			return false, err
		case found.DoneAt != nil && !found.DoneAt.Before(begun.Time):
			return false, nil
		case found.LeaseUntil != nil && found.LeaseUntil.After(now):
			if waits == 0 {
				r.Log.Info("waiting for a migration that another instance is running, or was running when it was killed", "name", m.Name)
			}
			select {
			case <-time.After(poll):
				continue
			case <-ctx.Done():
				return false, ctx.Err()
			}
		default:
			_, err = r.records.UpdateByID(ctx, found.ID, store.Versions{found.Version}, store.Set("leaseUntil", until))
		}
		if err == nil || !apperr.Is(err, apperr.Conflict) && !apperr.Is(err, apperr.PreconditionFailed) {
			return err == nil, err
		}
	}
}

// renew extends the lease until ctx ends. It ignores errors: if the lease expires, the only effect is that another instance can
// do the same work.
func (r *Runner) renew(ctx context.Context, m Migration) {
	ticker := time.NewTicker(lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_, _ = r.records.UpdateByID(ctx, recordID(m.Name), nil, store.Set("leaseUntil", store.At(r.now().Add(lease))))
		case <-ctx.Done():
			return
		}
	}
}

// migrate changes all documents. It returns the number of changed documents, even if it fails.
func (r *Runner) migrate(ctx context.Context, m Migration) (int64, error) {
	total, err := m.Collection.List(ctx, store.Query{MaxCount: store.CountAll}, nil)
	if err != nil {
		return 0, err
	}
	if _, err := r.records.UpdateByID(ctx, recordID(m.Name), nil, store.Set("begunAt", store.At(r.now()))); err != nil {
		return 0, err
	}
	bar := progress.Start(r.Progress, m.Name, "documents", total)
	defer bar.Stop()
	var changed atomic.Int64
	err = m.each(ctx, func(docs []*document) error {
		group, limited := errgroup.WithContext(store.WithoutLog(ctx))
		group.SetLimit(parallel)
		for _, d := range docs {
			group.Go(func() error {
				stored, err := m.update(limited, d)
				if stored {
					changed.Add(1)
				}
				return err
			})
		}
		err := group.Wait()
		bar.Add(int64(len(docs)))
		return err
	})
	if err == nil {
		err = m.Collection.Reset(ctx) // even if this run changed no documents, because an interrupted run may have made all changes
	}
	return changed.Load(), err
}

// Check applies the migration m to all documents without storing the result. Before m, it applies the earlier migrations of the
// same collection. Check returns the number of documents, which is 0 if the collection does not exist yet, and the error with
// which Run would stop. Check may be called before DB.Prepare.
func (r *Runner) Check(ctx context.Context, m Migration, earlier []Migration) (total int64, err error) {
	total, err = m.Collection.List(ctx, store.Query{MaxCount: store.CountAll}, nil)
	if err != nil || total == 0 || !m.canFail() {
		return total, err
	}
	var before []Step
	for _, e := range earlier {
		if e.Collection == m.Collection {
			before = append(before, e.Steps...)
		}
	}
	return total, r.check(ctx, m, before, total)
}

// checkAll returns the errors with which the migrations would stop if they ran one after the other.
func (r *Runner) checkAll(ctx context.Context, migrations []Migration) error {
	var errs []error
	for i, m := range migrations {
		_, err := r.Check(ctx, m, migrations[:i])
		errs = append(errs, m.failed(err))
	}
	return errors.Join(errs...)
}

// check applies the steps in before and then the steps of m to all documents, without storing the result. It fails if a step of
// m fails for a document. It ignores documents for which a step in before fails.
func (r *Runner) check(ctx context.Context, m Migration, before []Step, total int64) error {
	bar := progress.Start(r.Progress, m.Name+": checking", "documents", total)
	defer bar.Stop()
	var failed int64
	var reasons []string
	var remedy string
	first := Migration{Collection: m.Collection, Steps: before}
	err := Migration{Collection: m.Collection, Steps: append(before, m.Steps...)}.each(ctx, func(docs []*document) error {
		for _, d := range docs {
			if first.apply(d) != nil {
				continue
			}
			if err := m.apply(d); err != nil {
				failed++
				if u := (undecided{}); errors.As(err, &u) && !strings.Contains(remedy, u.remedy()) {
					remedy += u.remedy()
				}
				if failed <= reported {
					reasons = append(reasons, fmt.Sprintf("  %s: %v", d.id.Hex(), err))
				}
			}
		}
		bar.Add(int64(len(docs)))
		return nil
	})
	if err == nil && failed > 0 {
		correct := "Correct them, for example with the previous version of the service, and start again."
		if remedy != "" {
			correct = "Write a step that sets the missing field, and start again."
		}
		err = fmt.Errorf("%s of %s documents cannot be migrated, so nothing was changed. %s The first of these documents:\n%s%s",
			humanize.Comma(failed), humanize.Comma(total), correct, strings.Join(reasons, "\n"), remedy)
	}
	return err
}

// each calls do with all documents of the collection, in pages, sorted by id.
func (m Migration) each(ctx context.Context, do func([]*document) error) error {
	q := store.Query{Limit: pageSize, Fields: m.fields()}
	for {
		docs := make([]*document, 0, pageSize)
		_, err := m.Collection.List(ctx, q, func() any {
			docs = append(docs, new(document))
			return docs[len(docs)-1]
		})
		if err != nil || len(docs) == 0 {
			return err
		}
		if err := do(docs); err != nil {
			return err
		}
		q.After = []any{docs[len(docs)-1].id}
	}
}

// update applies the steps to a document and stores the result. stored is false if the steps change nothing or the document has
// been deleted. If another write has changed the document in the meantime, update applies the steps to the new version.
func (m Migration) update(ctx context.Context, d *document) (stored bool, err error) {
	for {
		if err := m.apply(d); err != nil {
			return false, fmt.Errorf("%s: %w", d.id.Hex(), err)
		}
		changes := d.changes()
		if changes == nil {
			return false, nil
		}
		version, err := d.version()
		if err != nil {
			return false, err
		}
		err = m.Collection.Update(ctx, version, changes, new(document))
		if !apperr.Is(err, apperr.NotFound) {
			return err == nil, err
		}
		id := d.id
		d = new(document)
		if err := m.Collection.First(ctx, store.Eq("id", id), d); err != nil {
			return false, apperr.Replace(err, apperr.NotFound, nil) // NotFound: the document has been deleted
		}
	}
}
