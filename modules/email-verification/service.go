package emailverification

import (
	"cmp"
	"context"
	"embed"
	"log/slog"
	"strconv"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/address"
	"example.com/ginseng/kit/email/link"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

//go:embed emails
var emails embed.FS

// templates has the template of each purpose.
var templates = map[string]*email.Template{
	verify: email.NewTemplate(emails, "verify", user.EmailLayout),
	change: email.NewTemplate(emails, "change", user.EmailLayout),
	undo:   email.NewTemplate(emails, "undo", user.EmailLayout),
}

// Service has the business rules of email verification.
type Service struct {
	*link.Tokens
	db      store.DB
	users   *user.Module
	limiter *ratelimit.Limiter
	emails  *email.Queue
	log     *slog.Logger
	ttl     time.Duration
	links   link.Links
}

// undoTTL is how long a former address is reserved, and how long a change can be undone.
const undoTTL = 7 * 24 * time.Hour

// Rate limits. changeEmailsTo is separate from emailsTo, because any user can cause emails about a change to any address.
// changesOf also counts failed requests.
var (
	emailsTo          = ratelimit.Rule{Name: "verification-emails", Max: 5, Window: time.Hour}     // per address
	changeEmailsTo    = ratelimit.Rule{Name: "address-change-emails", Max: 5, Window: time.Hour}   // per address
	changesOf         = ratelimit.Rule{Name: "address-changes", Max: 5, Window: time.Hour}         // per account
	requestsOfNetwork = ratelimit.Rule{Name: "verification-requests", Max: 100, Window: time.Hour} // per network
)

// Request sends an email that verifies the address of the caller. ValidationFailed: the link is missing or not allowed. Conflict:
// the address is verified. TooManyRequests: the address has received too many emails, or the client's network has sent too many
// requests. Unavailable: too many emails are queued. The states of the rate limits are returned even on error.
func (s *Service) Request(ctx context.Context, client access.Client, caller access.Principal, in Input) (limits ratelimit.States, err error) {
	page, err := s.links.Choose(in.Link)
	if err != nil {
		return nil, err
	}
	u, err := s.users.Get(ctx, caller.UserID)
	if err != nil {
		return nil, err
	}
	if u.EmailVerified {
		return nil, apperr.New(apperr.Conflict, "The email address of this account is verified.")
	}
	limits, err = s.limiter.Take(ctx, requestsOfNetwork.Of(ratelimit.Network(client.Address)), emailsTo.Of(u.Email))
	if err != nil {
		return limits, err
	}
	return limits, s.send(ctx, link.Token{UserID: u.ID, Epoch: u.Epoch, Purpose: verify, Email: u.Email, Link: page})
}

// RequestChange emails a link to the new address. When the user confirms the link, the new address becomes the caller's address.
// Conflict: the address is in use or reserved, or is already the caller's address. TooManyRequests: see Request, or the caller
// has requested too many changes. ValidationFailed, Unavailable: see Request.
func (s *Service) RequestChange(ctx context.Context, client access.Client, caller access.Principal, in ChangeInput) (limits ratelimit.States, err error) {
	page, err := s.links.Choose(in.Link)
	if err != nil {
		return nil, err
	}
	// Count the request before the lookup, because a conflict reveals that the address is registered.
	limits, err = s.limiter.Take(ctx, requestsOfNetwork.Of(ratelimit.Network(client.Address)), changesOf.Of(caller.UserID.Hex()))
	if err != nil {
		return limits, err
	}
	u, err := s.users.Get(ctx, caller.UserID)
	if err != nil {
		return limits, err
	}
	to, _ := address.Normalize(in.Email) // validated by the rule "normalizable"
	if to == u.Email {
		return limits, ownAddress()
	}
	if err := s.users.CheckAddress(ctx, u.ID, to); err != nil {
		return limits, err
	}
	steppedUp, err := s.users.HasSecondFactor(ctx, u.ID)
	if err != nil {
		return limits, err
	}
	taken, err := s.limiter.Take(ctx, changeEmailsTo.Of(to))
	limits = limits.With(taken)
	if err != nil {
		return limits, err
	}
	return limits, s.send(ctx, link.Token{
		UserID: u.ID, Epoch: caller.Epoch, Purpose: change, Email: to, SteppedUp: steppedUp, Link: page,
	})
}

// SignedUp implements user.Addresses. It sends an email if exactly one page in VERIFY_LINK_ORIGINS has a path, and the address
// has not received too many emails. build checks the limit, because a failed sign-up must not count.
func (s *Service) SignedUp(ctx context.Context, u user.User) {
	page := s.links.Standard()
	if page == "" {
		return
	}
	e := entry(link.Token{UserID: u.ID, Epoch: u.Epoch, Purpose: verify, Email: u.Email, Link: page})
	e.Args["signUp"] = "true"
	if err := s.emails.Enqueue(ctx, e); err != nil {
		s.log.WarnContext(ctx, "the verification email of a sign-up was not sent; the user can request another", "error", err)
	}
}

// newMessage returns the email with a token, to the address of the token.
func newMessage(u user.User, t link.Token, secret string, lifetime time.Duration) *email.Message {
	return templates[t.Purpose].Message(t.Email, map[string]string{
		"name": u.Greeting(), "link": link.WithToken(t.Link, secret), "lifetime": email.FormatDuration(lifetime),
	})
}

// emailPreviews returns examples of the emails.
func (s *Service) emailPreviews() []email.Preview {
	preview := func(name, purpose, to string, lifetime time.Duration) email.Preview {
		t := link.Token{Purpose: purpose, Email: to, Link: "https://app.example.com/verify"}
		return email.Preview{Name: name, Message: newMessage(user.User{Name: "Ada Lovelace"}, t, "Zk3n0cXGk2-_0AqLrT7vBw5yHd8uJf1sPz4mNe6oGiQ", lifetime)}
	}
	return []email.Preview{
		preview(verifyKind, verify, "ada@example.com", s.ttl),
		preview(changeKind, change, "ada@example.org", s.ttl),
		preview(undoKind, undo, "ada@example.com", undoTTL),
	}
}

const (
	verifyKind = "email-verification"
	changeKind = "email-change"
	undoKind   = "email-changed"
)

// send enqueues an email to the address of the token t. build issues the token.
func (s *Service) send(ctx context.Context, t link.Token) error {
	return s.emails.Enqueue(ctx, entry(t))
}

// entry returns the queue entry for an email with the token t. The purpose of t must be verify or change.
func entry(t link.Token) email.Entry {
	kind := verifyKind
	if t.Purpose == change {
		kind = changeKind
	}
	return email.Entry{Kind: kind, UserID: t.UserID, Address: t.Email, Args: map[string]string{
		"link": t.Link, "epoch": strconv.FormatInt(t.Epoch, 10), "steppedUp": strconv.FormatBool(t.SteppedUp),
	}}
}

// build is an email.Builder. It issues the token. It returns no email if the user was deleted or is in another epoch. After a
// sign-up, it also returns no email if the address has received too many emails.
func (s *Service) build(ctx context.Context, e email.Entry) (*email.Message, error) {
	epoch, err := strconv.ParseInt(e.Args["epoch"], 10, 64)
	if err != nil {
		return nil, err
	}
	u, err := s.users.InEpoch(ctx, e.UserID, epoch)
	if err != nil {
		return nil, apperr.Replace(err, apperr.NotFound, nil)
	}
	if e.Args["signUp"] != "" && e.Attempt == 1 { // an email counts once
		if _, err := s.limiter.Take(ctx, emailsTo.Of(e.Address)); err != nil {
			return nil, apperr.Replace(err, apperr.TooManyRequests, nil) // no message and no error: nothing is sent
		}
	}
	t := link.Token{UserID: u.ID, Epoch: epoch, Purpose: verify, Email: e.Address, Link: e.Args["link"], SteppedUp: e.Args["steppedUp"] == "true"}
	if e.Kind == changeKind {
		t.Purpose = change
	}
	secret, _, err := s.Issue(ctx, t, s.ttl)
	if err != nil {
		return nil, err
	}
	return newMessage(u, t, secret, s.ttl), nil
}

// buildUndo is the email.Builder for the email that change enqueues. It returns no email if the change was not made, or if a
// concurrent request made the change.
func (s *Service) buildUndo(ctx context.Context, e email.Entry) (*email.Message, error) {
	t, err := s.Find(ctx, e.Secret)
	if err != nil {
		return nil, apperr.Replace(err, apperr.NotFound, nil)
	}
	u, err := s.users.Get(ctx, e.UserID)
	if err != nil || u.Email == t.Email {
		return nil, apperr.Replace(err, apperr.NotFound, nil)
	}
	return newMessage(u, t, e.Secret, undoTTL), nil
}

// Get returns the view of the token with the secret. NotFound: the token is unknown, used or expired.
func (s *Service) Get(ctx context.Context, secret string) (View, error) {
	t, u, err := s.find(ctx, secret)
	return View{Purpose: t.Purpose, Email: t.Email, User: s.users.Public(u), ExpiresAt: t.ExpiresAt}, err
}

// Confirm verifies, changes or restores the address of the user, depending on the purpose of the token. NotFound: the token is
// unknown, used or expired. Conflict: the address is in use or reserved.
func (s *Service) Confirm(ctx context.Context, secret string) (user.User, error) {
	t, u, err := s.find(ctx, secret)
	if err != nil {
		return user.User{}, err
	}
	switch t.Purpose {
	case verify:
		u, err = s.users.VerifyEmail(ctx, t.UserID, t.Epoch)
	case change:
		u, err = s.change(ctx, u, t)
	case undo:
		u, err = s.undo(ctx, t)
	}
	if apperr.Is(err, apperr.Conflict) { // the user has the address already if a concurrent request has used this token
		if now, getErr := s.users.Get(ctx, t.UserID); getErr == nil && now.Email == t.Email {
			err = noToken()
		}
	}
	return u, apperr.Replace(err, apperr.NotFound, noToken())
}

// find returns the valid token with the secret, and its user. NotFound: the token is unknown, used or expired, or a later change
// of the user has invalidated the token.
func (s *Service) find(ctx context.Context, secret string) (link.Token, user.User, error) {
	t, err := s.Find(ctx, secret)
	if err != nil {
		return t, user.User{}, apperr.Replace(err, apperr.NotFound, noToken())
	}
	u, err := s.users.Get(ctx, t.UserID)
	if err != nil {
		return t, u, apperr.Replace(err, apperr.NotFound, noToken())
	}
	ended := t.Purpose == verify && u.EmailVerified || t.Purpose != undo && u.Epoch != t.Epoch
	if ended || t.Purpose == undo && t.Epoch < u.UndoFrom {
		return t, u, noToken()
	}
	// An attacker with only the password may have requested the change before the second factor was turned on.
	if t.Purpose == change && !t.SteppedUp {
		if has, err := s.users.HasSecondFactor(ctx, u.ID); has || err != nil {
			return t, u, cmp.Or(err, noToken())
		}
	}
	return t, u, nil
}

// change gives a user the address of a token. In the same Together, it issues a second token, which can undo the change. It
// enqueues an email with the second token to the former address. The second token also reserves the former address if that
// address was verified. Without transactions, the second token and the email are stored before the change.
func (s *Service) change(ctx context.Context, before user.User, t link.Token) (u user.User, err error) {
	if err := s.users.CheckAddress(ctx, before.ID, t.Email); err != nil {
		return user.User{}, err
	}
	notice := link.Token{
		UserID: before.ID, Epoch: before.Epoch, Purpose: undo, Email: before.Email, Verified: before.EmailVerified, Link: t.Link,
	}
	err = s.db.Together(ctx, func(ctx context.Context) error {
		secret, issued, err := s.Issue(ctx, notice, undoTTL)
		if err != nil {
			return err
		}
		if err := s.emails.Enqueue(ctx, email.Entry{Kind: undoKind, UserID: before.ID, Secret: secret}); err != nil {
			return err
		}
		u, err = s.users.ChangeEmail(ctx, before, t.Email)
		if apperr.Is(err, apperr.NotFound) || apperr.Is(err, apperr.Conflict) { // without transactions, the token is stored already
			_, _ = s.Delete(context.WithoutCancel(ctx), store.Eq("id", issued.ID))
		}
		return err
	})
	return u, err
}

// undo gives a user the former address again. It deletes all tokens of the user except the tokens that undo earlier changes.
// Otherwise, an attacker who changed the address twice could undo the second change. Changes are ordered by epoch, because a
// clock can go back. The used token is deleted last, so that undo can be repeated after an error. NotFound: a concurrent request
// has used the token, or an admin has changed the address.
func (s *Service) undo(ctx context.Context, t link.Token) (user.User, error) {
	u, err := s.users.RestoreEmail(ctx, t.UserID, t.Email, t.Epoch)
	if err == nil {
		err = s.users.RestoreOf(ctx, t.UserID, t.CreatedAt)
	}
	if err != nil {
		return u, err
	}
	later := store.Or(store.Ne("purpose", undo), store.Gte("epoch", t.Epoch))
	if _, err := s.Delete(ctx, store.And(store.Eq("userId", t.UserID), store.Ne("id", t.ID), later)); err != nil {
		return u, err
	}
	n, err := s.Delete(ctx, store.Eq("id", t.ID))
	if err == nil && n == 0 { // a concurrent request has deleted the token
		err = store.ErrNotFound
	}
	return u, err
}

// Former implements user.Addresses.
func (s *Service) Former(ctx context.Context, u user.User) (addresses []string, until store.Time, err error) {
	links, err := s.List(ctx, store.And(store.Eq("userId", u.ID), store.Eq("purpose", undo), store.Gte("epoch", u.UndoFrom)))
	for _, l := range links {
		addresses = append(addresses, l.Email)
		if l.ExpiresAt.After(until.Time) {
			until = l.ExpiresAt
		}
	}
	return addresses, until, err
}

// Reserved implements user.Addresses. A former address that was verified is reserved while the change can be undone.
func (s *Service) Reserved(ctx context.Context, id store.ID, email string) (bool, error) {
	links, err := s.List(ctx, store.And(store.Eq("email", email), store.Eq("purpose", undo), store.Eq("verified", true), store.Ne("userId", id)))
	for _, l := range links {
		former, err := s.users.Get(ctx, l.UserID)
		if err != nil && !apperr.Is(err, apperr.NotFound) {
			return false, err
		}
		if err == nil && l.Epoch >= former.UndoFrom {
			return true, nil
		}
	}
	return false, err
}
