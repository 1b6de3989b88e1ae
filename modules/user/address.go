package user

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// Addresses is implemented by the module that verifies email addresses.
type Addresses interface {
	// SignedUp is called after a sign-up with an address that is not verified.
	SignedUp(ctx context.Context, u User)
	// Reserved reports whether one of the forms of an address is reserved for a user other than the one with the id.
	Reserved(ctx context.Context, id store.ID, forms ...string) (bool, error)
	// UndoUntil returns until when a former address of the user can undo its change; the zero Time if none can.
	UndoUntil(ctx context.Context, id store.ID) (store.Time, error)
}

// VerifyWith registers the module that verifies email addresses. It must be called before the server starts.
func (m *Module) VerifyWith(a Addresses) { m.addresses = a }

// CheckAddress fails with Conflict if a user other than the one with the id has the address, or has it reserved.
func (s *Service) CheckAddress(ctx context.Context, id store.ID, email string) error {
	u, err := s.ByEmail(ctx, email)
	switch {
	case err == nil && u.ID != id:
		return s.taken()
	case err != nil && !apperr.Is(err, apperr.NotFound):
		return err
	}
	return s.checkReserved(ctx, id, email)
}

// taken returns the Conflict of an address that is in use or reserved. It does not reveal which: the caller may be anyone.
func (s *Service) taken() error {
	if s.addresses == nil {
		return store.Duplicate("email")
	}
	return apperr.New(apperr.Conflict, "The email address is not free.").WithFields(apperr.Field{
		In: "body", Param: "email", Code: apperr.FieldConflict, Message: "Is in use, or was until recently: then it is reserved for up to 7 days.",
	})
}

// checkReserved fails with Conflict if the address is reserved for a user other than the one with the id.
func (s *Service) checkReserved(ctx context.Context, id store.ID, email string) error {
	if s.addresses == nil {
		return nil
	}
	reserved, err := s.addresses.Reserved(ctx, id, emailForms(email)...)
	if err == nil && reserved {
		err = s.taken()
	}
	return err
}

// checkEmail checks that the caller may give u another email address. ValidationFailed: the caller is not an admin, or the
// address is invalid. Conflict: it is in use or reserved.
func (s *Service) checkEmail(ctx context.Context, caller access.Principal, u User, email string) error {
	switch {
	case !caller.IsAdmin():
		message := "Only an admin can change it. Leave it out, or send the current address."
		if s.addresses != nil {
			message = "Only an admin can change it here. Change your own with PUT /users/me/email."
		}
		return apperr.Invalid(apperr.Field{In: "body", Param: "email", Code: apperr.ReadOnly, Message: message})
	case !rest.Valid(email, emailRules):
		return apperr.Invalid(apperr.Field{In: "body", Param: "email", Code: apperr.Format, Message: "Must be an email address."})
	}
	return s.CheckAddress(ctx, u.ID, email)
}

// undoIfReserved fails with Conflict if the new address of a user is reserved for another user, and then changes it back. A
// check before the change is not sufficient: between the two, the user who has the address can reserve it and give it up.
func (s *Service) undoIfReserved(ctx context.Context, before, after User) error {
	err := s.checkReserved(ctx, after.ID, after.Email)
	if err != nil {
		_, _ = s.users.Update(context.WithoutCancel(ctx), store.And(store.Eq("id", after.ID), store.Eq("email", after.Email)),
			addressChanges(before.Email, before.EmailVerified)...)
	}
	return err
}

// addressChanges returns the changes that give a user another address and end all sessions of the user.
func addressChanges(email string, verified bool) []store.Change {
	return []store.Change{
		store.Set("email", email), store.Set("emailWords", emailWords(email)), store.Set("emailVerified", verified), store.Inc("epoch", 1),
	}
}

// VerifyEmail marks the address of a user as verified. NotFound: the user does not exist, is in another epoch, or has
// verified the address already.
func (s *Service) VerifyEmail(ctx context.Context, id store.ID, epoch int64) (User, error) {
	unverified := store.And(store.Eq("id", id), store.Eq("epoch", epoch), store.Ne("emailVerified", true))
	u, err := s.users.Update(ctx, unverified, store.Set("emailVerified", true), store.Set("updatedAt", store.At(s.now())))
	return s.current(u), err
}

// ChangeEmail gives a user another address, marks it as verified, and ends all sessions of the user. NotFound: the user has
// been deleted, or is no longer in the epoch of before. Conflict: the address is in use or reserved. Call CheckAddress
// first: the unique index compares only the normal form of an address.
func (s *Service) ChangeEmail(ctx context.Context, before User, email string) (User, error) {
	current := store.And(store.Eq("id", before.ID), store.Eq("epoch", before.Epoch))
	u, err := s.users.Update(ctx, current, append(addressChanges(NormalEmail(email), true), store.Set("updatedAt", store.At(s.now())))...)
	if err == nil {
		err = s.undoIfReserved(ctx, before, u)
	}
	return s.current(u), err
}

// RestoreOf calls RestoreOf of every Dependent that is a Restorer.
func (s *Service) RestoreOf(ctx context.Context, id store.ID, since store.Time) error {
	for _, d := range s.dependents {
		if r, ok := d.(Restorer); ok {
			if err := r.RestoreOf(ctx, id, since); err != nil {
				return err
			}
		}
	}
	return nil
}

// RestoreEmail gives a user a former address again, and marks it as verified. The same write ends all sessions, invalidates
// the linked identities and removes the password, which may be an attacker's: the user sets a new password with a reset. It
// does so too if the user already has the address; only a second call changes nothing.
// NotFound: the user does not exist. Conflict: the address is in use.
func (s *Service) RestoreEmail(ctx context.Context, id store.ID, email string) (User, error) {
	return s.change(ctx, id, func(u User) ([]store.Change, error) {
		if u.Email == email && !u.HasPassword() && u.LinksFrom == u.Epoch {
			return nil, nil
		}
		return append(addressChanges(email, true), store.Set("password", ""), store.Set("linksFrom", u.Epoch+1),
			store.Set("updatedAt", store.At(s.now()))), nil
	})
}

// NormalEmail returns the form in which an email address is stored and compared: trimmed, ASCII letters in lower case, in
// Unicode normalization form C, and with the domain in lower case and in its ASCII form (IDNA, RFC 5891). Other letters
// before the @ keep their case, which only the receiving server can interpret (RFC 5321 section 2.4). An address with a
// character that would become ASCII, such as the Kelvin sign, could become somebody else's address: only its ASCII letters
// change. A domain that IDNA does not allow is only converted to normalization form C.
func NormalEmail(email string) string {
	email = lowerASCII(strings.TrimSpace(email))
	if strings.ContainsFunc(email, becomesASCII) {
		return email
	}
	local, domain := splitEmail(norm.NFC.String(email))
	if ascii, err := idna.Registration.ToASCII(strings.ToLower(domain)); err == nil {
		domain = ascii
	}
	return local + domain
}

// becomesASCII reports whether r is not ASCII, but its lower case or normalization form C is.
func becomesASCII(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.ToLower(r) < utf8.RuneSelf || norm.NFC.String(string(r))[0] < utf8.RuneSelf)
}

// emailForms returns the forms in which an address can be stored. The first is the address as typed, trimmed and with ASCII
// letters in lower case. The others are the normal form and those that earlier versions stored: with the domain in Unicode,
// also with its other letters in upper case, and each of these in normalization form D. An account with another mixture of
// cases is found only by the address as typed.
func emailForms(email string) []string {
	normal := NormalEmail(email)
	forms := []string{lowerASCII(strings.TrimSpace(email))}
	local, domain := splitEmail(normal)
	if readable, err := idna.Registration.ToUnicode(domain); err == nil {
		domain = readable
	}
	for _, form := range []string{normal, local + domain, local + lowerASCII(strings.ToUpper(domain))} {
		for _, variant := range []string{form, norm.NFD.String(form)} {
			if !slices.Contains(forms, variant) {
				forms = append(forms, variant)
			}
		}
	}
	return forms
}

// emailWords returns a normal address with its domain in Unicode, or "" if that is the same.
func emailWords(normal string) string {
	local, domain := splitEmail(normal)
	if readable, err := idna.Registration.ToUnicode(domain); err == nil && readable != domain {
		return local + readable
	}
	return ""
}

// splitEmail splits an address after the last @, which is part of local.
func splitEmail(email string) (local, domain string) {
	at := strings.LastIndexByte(email, '@')
	return email[:at+1], email[at+1:]
}

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, s)
}
