package email

import (
	"context"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Retry makes an email due now, also a failed one, and starts its delays over. NotFound: there is no such email: it may have been
// sent. Conflict: an attempt is in progress.
func (q *Queue) Retry(ctx context.Context, id store.ID) (Row, error) {
	r, err := q.waiting(ctx, id)
	if err != nil {
		return Row{}, err
	}
	// At least one attempt remains, because a Builder counts an email at the first attempt.
	r, err = q.rows.UpdateByID(ctx, id, store.Versions{r.Version}, store.Set("status", Pending), store.Set("attempts", min(r.Attempts, 1)),
		store.Set("nextAttemptAt", store.At(q.now())))
	if err != nil {
		return Row{}, apperr.Replace(err, apperr.PreconditionFailed, errSending())
	}
	q.Send()
	return r, nil
}

// Delete deletes an email that is not sent. NotFound: there is no such email: it may have been sent. Conflict: an attempt is in
// progress.
func (q *Queue) Delete(ctx context.Context, id store.ID) error {
	r, err := q.waiting(ctx, id)
	if err != nil {
		return err
	}
	return apperr.Replace(q.rows.DeleteByID(ctx, id, store.Versions{r.Version}), apperr.PreconditionFailed, errSending())
}

// waiting returns an email of which no attempt is in progress.
func (q *Queue) waiting(ctx context.Context, id store.ID) (Row, error) {
	r, err := q.rows.Get(ctx, id)
	if err == nil && r.LeasedUntil != nil && q.now().Before(r.LeasedUntil.Time) {
		err = errSending()
	}
	return r, err
}

func errSending() error {
	return apperr.New(apperr.Conflict, "The email is being sent. Try again in a minute.")
}
