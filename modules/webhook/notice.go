package webhook

import (
	"context"
	"embed"
	"net/url"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

//go:embed emails
var emails embed.FS

var disabledEmail = email.NewTemplate(emails, "disabled", user.EmailLayout)

const disabledKind = "webhook-disabled"

// mayManage reports whether the user to whom a webhook belongs is still an admin who is not suspended.
func (s *Service) mayManage(ctx context.Context, w Webhook) (bool, error) {
	if w.UserID.IsZero() {
		return true, nil
	}
	u, err := s.users.Get(ctx, w.UserID)
	return err == nil && u.Role == access.RoleAdmin && !u.Suspended, apperr.Replace(err, apperr.NotFound, nil)
}

// disable disables a webhook, unless its URL has changed since w was read or the webhook belongs to another user now, and notifies
// the admins.
func (s *Service) disable(ctx context.Context, w Webhook, reason string) error {
	admins, err := s.users.Admins(ctx)
	if err != nil {
		return err
	}
	err = s.db.Together(ctx, func(ctx context.Context) error {
		same := store.And(store.Eq("id", w.ID), store.Eq("enabled", true), store.Eq("url", w.URL))
		if !w.UserID.IsZero() {
			same = store.And(same, store.Eq("userId", w.UserID))
		}
		if _, err := s.webhooks.Update(ctx, same, store.Set("enabled", false), store.Set("disabledReason", reason)); err != nil {
			return err
		}
		for _, u := range admins {
			args := map[string]string{"webhook": w.ID.Hex(), "reason": reason}
			if err := s.emails.Enqueue(ctx, email.Entry{Kind: disabledKind, UserID: u.ID, Address: u.Email, Args: args}); err != nil {
				s.log.WarnContext(ctx, "admin not notified of a disabled webhook", "user", u.ID.Hex(), "error", err)
			}
		}
		return nil
	})
	if err == nil {
		s.log.WarnContext(ctx, "a webhook was disabled", "webhook", w.ID.Hex(), "reason", reason)
	}
	return apperr.Replace(err, apperr.NotFound, nil) // NotFound: the webhook was disabled, has another URL, or was deleted
}

// buildDisabled is an email.Builder.
func (s *Service) buildDisabled(ctx context.Context, e email.Entry) (*email.Message, error) {
	id, _ := store.ParseID(e.Args["webhook"]) // set by disable
	w, err := s.webhooks.Get(ctx, id)
	if err != nil {
		return nil, apperr.Replace(err, apperr.NotFound, nil)
	}
	u, err := s.users.Get(ctx, e.UserID)
	if err != nil {
		return nil, apperr.Replace(err, apperr.NotFound, nil)
	}
	return newDisabled(u, w, e.Args["reason"]), nil
}

// newDisabled returns the email to an admin. It contains only the host of the URL, because the path can contain a secret.
func newDisabled(u user.User, w Webhook, reason string) *email.Message {
	host := w.URL
	if parsed, err := url.Parse(w.URL); err == nil {
		host = parsed.Host
	}
	return disabledEmail.Message(u.Email, map[string]string{
		"name": u.Greeting(), "host": host, "id": w.ID.Hex(), "reason": reason,
	})
}

// emailPreviews returns examples of the emails.
func emailPreviews() []email.Preview {
	ada := user.User{Email: "ada@example.com", Name: "Ada Lovelace"}
	w := Webhook{Meta: store.Meta{ID: idOf("preview")}, Fields: Fields{URL: "https://example.com/hooks"}}
	return []email.Preview{{Name: disabledKind, Message: newDisabled(ada, w, "The receiver responded 410 Gone.")}}
}
