package email

import (
	"context"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Retry makes an email due now, even if it has failed, and starts its delays over. NotFound: the email does not exist; it may have
// been sent. Conflict: an attempt is in progress.
func (q *Queue) Retry(ctx context.Context, id store.ID) (Row, error) {
	r, err := q.unleased(ctx, id)
	if err != nil {
		return Row{}, err
	}
	// Keep one attempt of an email that was attempted before: a Builder counts an email against a limit if Entry.Attempt is 1.
	r, err = q.rows.UpdateByID(ctx, id, store.Versions{r.Version}, store.Set("status", Pending), store.Set("attempts", min(r.Attempts, 1)),
		store.Set("nextAttemptAt", store.At(q.now())))
	if err != nil {
		return Row{}, apperr.Replace(err, apperr.PreconditionFailed, errSending())
	}
	q.Send()
	return r, nil
}

// Delete deletes an email that has not been sent. NotFound: the email does not exist; it may have been sent. Conflict: an attempt is
// in progress.
func (q *Queue) Delete(ctx context.Context, id store.ID) error {
	r, err := q.unleased(ctx, id)
	if err != nil {
		return err
	}
	return apperr.Replace(q.rows.DeleteByID(ctx, id, store.Versions{r.Version}), apperr.PreconditionFailed, errSending())
}

// unleased returns an email, waiting or failed. NotFound: the email does not exist. Conflict: an attempt is in progress.
func (q *Queue) unleased(ctx context.Context, id store.ID) (Row, error) {
	r, err := q.rows.Get(ctx, id)
	if err == nil && r.LeasedUntil != nil && q.now().Before(r.LeasedUntil.Time) {
		err = errSending()
	}
	return r, err
}

func errSending() error {
	return apperr.New(apperr.Conflict, "The email is being sent. Try again in a minute.")
}
