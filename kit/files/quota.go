package files

import (
	"context"
	"slices"
	"sync"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// usage is the document of an uploader. Its ID is the ID of the user.
type usage struct {
	store.Meta `bson:",inline"`
	Stored     int64      `json:"stored"` // bytes of the files to which records refer
	Reserved   []reserved `json:"reserved"`
}

// reserved are bytes of an upload in progress.
type reserved struct {
	ID    store.ID   `json:"id"`
	Bytes int64      `json:"bytes"`
	At    store.Time `json:"at"` // when the upload last showed that it is in progress
}

const (
	reservationTTL = time.Hour        // after the last renewal, for uploads of instances that were killed
	renewInterval  = 10 * time.Minute // of the reservation of an upload in progress
)

// Reservation is a part of an uploader's quota, for the files of one request.
type Reservation struct {
	files    *Files
	uploader *store.ID // nil: no quota
	id       store.ID

	mu        sync.Mutex
	renewedAt time.Time
}

// Reserve reserves bytes of the uploader's quota, in one conditional update. If uploader is nil, the files count to nobody's quota.
// Call Free when the request ends. Errors: QuotaExceeded, with a Reservation of nothing, which can receive a file to compare it;
// NotSupported if files are not configured.
func (f *Files) Reserve(ctx context.Context, uploader *store.ID, bytes int64) (*Reservation, error) {
	if !f.Configured() {
		return nil, errNotConfigured
	}
	now := f.now()
	r := &Reservation{files: f, uploader: uploader, id: store.NewID(), renewedAt: now}
	if uploader == nil {
		return r, nil
	}
	err := f.change(ctx, *uploader, func(u *usage) error {
		u.expire(now)
		if f.quota > 0 && bytes > f.quota-u.total() {
			return apperr.New(apperr.PayloadTooLarge,
				"Your files can have at most %d bytes together, of which %d are in use. Delete files, or send a smaller one.", f.quota, u.total()).WithCode(apperr.QuotaExceeded)
		}
		u.Reserved = append(u.Reserved, reserved{r.id, bytes, store.At(now)})
		return nil
	})
	if err != nil && !apperr.Is(err, apperr.QuotaExceeded) {
		return nil, err // Free would wait for an unavailable database again; what may have been reserved ends after an hour
	}
	return r, err
}

// change changes the usage of an uploader. It stores the usage first if there is none.
func (f *Files) change(ctx context.Context, uploader store.ID, change func(*usage) error) error {
	for {
		_, err := f.usages.Modify(ctx, uploader, change)
		if !apperr.Is(err, apperr.NotFound) {
			return err
		}
		u := usage{Meta: store.NewMeta(uploader, store.At(f.now()))}
		if u.Stored, err = f.stored(ctx, uploader); err != nil {
			return err
		}
		if err := f.usages.Insert(ctx, u); err != nil && !apperr.Is(err, apperr.Conflict) {
			return err
		}
	}
}

// expire removes the reservations of uploads that have ended without Free.
func (u *usage) expire(now time.Time) {
	u.Reserved = slices.DeleteFunc(u.Reserved, func(r reserved) bool { return now.Sub(r.At.Time) > reservationTTL })
}

// total returns the bytes that are stored and reserved.
func (u *usage) total() int64 {
	total := u.Stored
	for _, r := range u.Reserved {
		total += r.Bytes
	}
	return total
}

// renew keeps the reservation of an upload that takes long.
func (r *Reservation) renew(ctx context.Context) error {
	now := r.files.now()
	r.mu.Lock()
	due := r.uploader != nil && now.Sub(r.renewedAt) >= renewInterval
	if due {
		r.renewedAt = now
	}
	r.mu.Unlock()
	if !due {
		return nil
	}
	return r.files.change(ctx, *r.uploader, func(u *usage) error {
		for i := range u.Reserved {
			if u.Reserved[i].ID == r.id {
				u.Reserved[i].At = store.At(now)
			}
		}
		return nil
	})
}

// Free ends the reservation. The bytes of files that were attached stay in use. Free works also if ctx has ended. If the database is
// unavailable, the reservation ends after an hour.
func (r *Reservation) Free(ctx context.Context) {
	if r == nil || r.uploader == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	err := r.files.change(ctx, *r.uploader, func(u *usage) error {
		u.Reserved = slices.DeleteFunc(u.Reserved, func(one reserved) bool { return one.ID == r.id })
		return nil
	})
	if err != nil {
		r.files.log.Warn("the bytes that an upload has reserved count toward the quota of its user for up to an hour", "error", err)
	}
}

// settle turns the reserved bytes of a file into stored bytes.
func (f *Files) settle(ctx context.Context, attached row, r *Reservation) error {
	if attached.Uploader == nil {
		return nil
	}
	return f.change(ctx, *attached.Uploader, func(u *usage) error {
		u.Stored += attached.Size
		for i := range u.Reserved {
			if u.Reserved[i].ID == r.id {
				u.Reserved[i].Bytes = max(u.Reserved[i].Bytes-attached.Size, 0)
			}
		}
		return nil
	})
}

// free subtracts the bytes of files that no record refers to any longer.
func (f *Files) free(ctx context.Context, uploader store.ID, bytes int64) error {
	_, err := f.usages.Modify(ctx, uploader, func(u *usage) error {
		u.Stored = max(u.Stored-bytes, 0)
		return nil
	})
	return apperr.Replace(err, apperr.NotFound, nil)
}

// stored returns the bytes of the uploader's files to which records refer.
func (f *Files) stored(ctx context.Context, uploader store.ID) (bytes int64, err error) {
	q := store.Query{
		Filter: store.And(store.Eq("uploader", uploader), store.Eq("since", nil)), Fields: []string{"size"}, Limit: portion,
	}
	for {
		rows, err := f.rows.List(ctx, q)
		for _, r := range rows {
			bytes += r.Size
		}
		if err != nil || len(rows) < portion {
			return bytes, err
		}
		q.After = []any{rows[len(rows)-1].ID}
	}
}

// recount corrects the usages of all uploaders. They can be wrong after changes that were interrupted on servers without transactions,
// after the sweep has found that a record refers to a file, and after Release has left files to the sweep.
func (f *Files) recount(ctx context.Context) error {
	q := store.Query{Limit: portion}
	for {
		usages, err := f.usages.List(ctx, q)
		if err != nil {
			return err
		}
		for _, u := range usages {
			if err := f.recountOne(ctx, u.ID); err != nil {
				return err
			}
			if err := f.dropEmpty(ctx, u.ID); err != nil {
				return err
			}
		}
		if len(usages) < portion {
			return nil
		}
		q.After = []any{usages[len(usages)-1].ID}
	}
}

// dropEmpty deletes the usage of an uploader without files, such as of a deleted user.
func (f *Files) dropEmpty(ctx context.Context, uploader store.ID) error {
	u, err := f.usages.Get(ctx, uploader)
	if err == nil && u.total() == 0 && len(u.Reserved) == 0 {
		_, err = f.usages.Delete(ctx, store.And(store.Eq("id", uploader), store.Eq("version", u.Version)))
	}
	return apperr.Replace(err, apperr.NotFound, nil)
}

// recountOne corrects the usage of an uploader. If the usage changes meanwhile, the rows are counted again. It does nothing while an
// upload is in progress, which may have attached its file and not yet counted it.
func (f *Files) recountOne(ctx context.Context, uploader store.ID) error {
	_, err := f.usages.Modify(ctx, uploader, func(u *usage) (err error) {
		u.expire(f.now())
		if len(u.Reserved) == 0 {
			u.Stored, err = f.stored(ctx, uploader)
		}
		return err
	})
	return err
}
