package emailcode

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/binary"
	"fmt"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/address"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

//go:embed emails
var emails embed.FS

var codeEmail = email.NewTemplate(emails, "code", user.EmailLayout)

// Service has the business rules of sign-in with codes by email.
type Service struct {
	db       store.DB
	users    *user.Module
	sessions Sessions
	codes    *store.Collection[Code]
	limiter  *ratelimit.Limiter
	emails   *email.Queue
	digest   func(parts ...string) []byte // keyed; see kit.Deps
	signup   bool
	now      func() time.Time
}

const ttl = 10 * time.Minute // how long a code is valid

// Rate limits. 25 guesses at a code of 6 digits in a day succeed with a probability of 0.0025 %.
var (
	requestsOfNetwork = ratelimit.Rule{Name: "email-code-requests", Max: 100, Window: time.Hour}
	attempts          = ratelimit.Rule{Name: "email-code", Max: 5, Window: ttl} // per challenge; counted in Code

	emailsTo = limit{
		known: ratelimit.Rule{Name: "email-code-emails", Max: 5, Window: time.Hour},
		site:  ratelimit.Rule{Name: "email-code-emails-site", Max: 5, Window: time.Hour},
		all:   ratelimit.Rule{Name: "email-code-emails-address", Max: 15, Window: time.Hour},
	}
	wrongCodes = limit{
		known: ratelimit.Rule{Name: "email-code-network", Max: 25, Window: 24 * time.Hour},
		site:  ratelimit.Rule{Name: "email-code-site", Max: 10, Window: 24 * time.Hour},
		all:   ratelimit.Rule{Name: "email-code-account", Max: 25, Window: 24 * time.Hour},
	}
)

// limit has the rules for a known or unknown email address. The networks from which the user has signed in have separate
// counters, so that an attacker elsewhere cannot lock the user out. A site cannot use up all alone, so that an attacker with one
// site cannot lock out the others.
type limit struct {
	known ratelimit.Rule // per address and network from which the user has signed in
	site  ratelimit.Rule // per address and site; see ratelimit.Site
	all   ratelimit.Rule // per address, for all networks from which the user has not signed in
}

// Request sends a code to the email address. It does not send a code if the address has received too many emails, or if the
// address belongs to no user and the client may not sign up. The result and the response time do not reveal whether a code is sent.
// TooManyRequests: the client's network has sent too many requests. Unavailable: too many emails are queued. The states of the
// rate limits are returned even on error.
func (s *Service) Request(ctx context.Context, client access.Client, to string) (accepted Accepted, limits ratelimit.States, err error) {
	if !client.Trusted {
		limits, err = s.limiter.Take(ctx, requestsOfNetwork.Of(ratelimit.Network(client.Address)))
		if err != nil {
			return Accepted{}, limits, err
		}
	}
	normal, _ := address.Normalize(to) // validated by the rule "normalizable"
	challenge, now := rand.Text(), s.now()
	c := Code{Meta: store.NewMeta(s.id(challenge), store.At(now)), Email: normal, ExpiresAt: store.At(now.Add(ttl))}
	args := map[string]string{"id": c.ID.Hex(), "client": client.Address}
	if s.signup && (client.Trusted || s.users.PublicSignUp()) {
		args["signUp"] = "true"
	}
	err = s.db.Together(ctx, func(ctx context.Context) error {
		if err := s.codes.Insert(ctx, c); err != nil {
			return err
		}
		return s.emails.Enqueue(ctx, email.Entry{Kind: emailKind, Address: normal, Args: args})
	})
	return Accepted{challenge}, limits, err
}

const emailKind = "email-code"

// build is an email.Builder. It completes the Code that Request stored, and returns the email with the code. It returns no email
// if the code has expired, the address has received too many emails, or the address has no account and the client of Request may not sign up. It makes
// the same queries and writes for known and unknown addresses.
func (s *Service) build(ctx context.Context, e email.Entry) (*email.Message, error) {
	id, _ := store.ParseID(e.Args["id"]) // set by Request
	u, err := s.users.ByEmail(ctx, e.Address)
	if err != nil && !apperr.Is(err, apperr.NotFound) {
		return nil, err
	}
	send := err == nil || e.Args["signUp"] != ""
	if e.Attempt == 1 { // an email counts once
		_, err := s.count(ctx, emailsTo, access.Client{Address: e.Args["client"]}, e.Address, u.ID)
		if err != nil && !apperr.Is(err, apperr.TooManyRequests) {
			return nil, err
		}
		send = send && err == nil
	}
	open := store.And(store.Eq("id", id), store.Gt("expiresAt", store.At(s.now())))
	_, err = s.codes.Update(ctx, open, store.Set("userId", u.ID), store.Set("epoch", u.Epoch), store.Set("sent", send))
	if err != nil || !send {
		return nil, apperr.Replace(err, apperr.NotFound, nil) // the Code has expired or was deleted
	}
	u.Email = e.Address
	return newMessage(u, s.code(id)), nil
}

// count adds one to the counters of a limit that apply to a client, and returns their keys. TooManyRequests: a counter is used
// up; count leaves the counters after it unchanged, so that a site that has used up its counter does not use up limit.all.
func (s *Service) count(ctx context.Context, l limit, client access.Client, address string, id store.ID) ([]ratelimit.Key, error) {
	known, err := s.users.KnowsNetwork(ctx, id, client.Address) // even without a user, so that the duration is the same
	if err != nil {
		return nil, err
	}
	keys := []ratelimit.Key{l.site.Of(address, ratelimit.Site(client.Address)), l.all.Of(address)}
	if known {
		network := ratelimit.Network(client.Address)
		keys = []ratelimit.Key{l.known.Of(address, network), l.all.Of(address, network)} // also two, so that the duration is the same
	}
	for _, key := range keys {
		if _, err := s.limiter.Take(ctx, key); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// id returns the ID of the Code of a challenge.
func (s *Service) id(challenge string) store.ID {
	return store.ID(s.digest("email-code-challenge", challenge)[:len(store.ID{})])
}

// code returns the 6 digits that belong to the Code with the ID. The digits are derived from the ID with a keyed digest: neither
// the Code nor the queued email contains them, and a repeated email has the same code.
func (s *Service) code(id store.ID) string {
	return fmt.Sprintf("%06d", binary.BigEndian.Uint64(s.digest("email-code", id.Hex()))%1_000_000)
}

func newMessage(u user.User, code string) *email.Message {
	return codeEmail.Message(u.Email, map[string]string{"name": u.Greeting(), "code": code, "lifetime": email.FormatDuration(ttl)})
}

// emailPreviews returns examples of the emails.
func emailPreviews() []email.Preview {
	ada := user.User{Email: "ada@example.com", Name: "Ada Lovelace"}
	return []email.Preview{{Name: emailKind, Message: newMessage(ada, "123456")}}
}

// SignIn opens a session for the owner of the address that the code was sent to. Unauthorized: the challenge is invalid, was used
// or has expired, or too many wrong codes were entered. Also Unauthorized: since the email was built, the user has been deleted
// or has begun a new epoch (see user.User.Epoch). ValidationFailed: the code is wrong. TooManyRequests: too many codes for the
// account were wrong, or the client's network has made too many sign-ups. Suspended: the code is right, but the user is
// suspended. SecondFactorRequired: the user has a second factor. The states of the rate limits are returned even on error.
func (s *Service) SignIn(ctx context.Context, client access.Client, in SignInInput) (user.SignedIn, ratelimit.States, error) {
	c, limits, err := s.use(ctx, client, in)
	if err != nil {
		return user.SignedIn{}, limits, err
	}
	u, taken, err := s.owner(ctx, client, c)
	limits = limits.With(taken)
	if err != nil {
		return user.SignedIn{}, limits, apperr.Replace(err, apperr.NotFound, noChallenge())
	}
	result, err := s.sessions.Open(ctx, u, client, access.OneTimeCode)
	return result, limits, err
}

// use accepts a code once. An attempt is counted before the code is compared, so that concurrent attempts cannot exceed the
// limits. use returns the errors of SignIn.
func (s *Service) use(ctx context.Context, client access.Client, in SignInInput) (Code, ratelimit.States, error) {
	now := store.At(s.now())
	open := store.And(store.Eq("id", s.id(in.Challenge)), store.Gt("expiresAt", now), store.Lt("attempts", int64(attempts.Max)))
	c, err := s.codes.Update(ctx, open, store.Inc("attempts", 1))
	if err != nil {
		return c, nil, apperr.Replace(err, apperr.NotFound, noChallenge())
	}
	limits := ratelimit.States{{Rule: attempts, Left: attempts.Max - int(c.Attempts), Reset: c.ExpiresAt.Sub(now.Time)}}
	keys, err := s.count(ctx, wrongCodes, client, c.Email, c.UserID)
	if err != nil {
		return c, limits, err
	}
	if equal := subtle.ConstantTimeCompare([]byte(s.code(c.ID)), []byte(in.Code)) == 1; !equal || !c.Sent {
		return c, limits, wrongCode()
	}
	if err := s.limiter.Undo(ctx, keys...); err != nil { // only wrong codes count
		return c, limits, err
	}
	n, err := s.codes.Delete(ctx, store.Eq("id", c.ID))
	if err == nil && n == 0 { // a concurrent request has used the code
		err = noChallenge()
	}
	return c, limits, err
}

// owner returns the user with the address of a used code, and marks the address as verified. If there is no such user, owner
// creates the user. NotFound: the user has been deleted or has begun a new epoch since the email was built. TooManyRequests,
// Suspended: see SignIn.
func (s *Service) owner(ctx context.Context, client access.Client, c Code) (u user.User, limits ratelimit.States, err error) {
	if c.UserID.IsZero() {
		u, limits, err = s.users.CreateVerified(ctx, client, user.Profile{Email: c.Email})
		if !apperr.Is(err, apperr.Conflict) {
			return u, limits, err
		}
		u, err = s.users.ByEmail(ctx, c.Email) // the user was created in the meantime
	} else {
		u, err = s.users.InEpoch(ctx, c.UserID, c.Epoch)
	}
	if err == nil {
		err = u.MaySignIn() // before anything changes
	}
	if err == nil && !u.EmailVerified {
		u, err = s.users.Claim(ctx, u)
	}
	return u, limits, err
}

// DeleteOf implements user.Dependent.
func (s *Service) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := s.codes.Delete(ctx, store.Eq("userId", userID))
	return err
}

func (s *Service) sweep(ctx context.Context) error {
	_, err := s.codes.Delete(ctx, store.Lte("expiresAt", store.At(s.now())))
	return err
}
