package user

import (
	"context"

	"example.com/ginseng/kit/store"
)

// Removals count what admins have removed from the account of another user, so that the log of changes has an entry of each
// removal. See Service.RecordRemoval.
type Removals struct {
	Sessions   int64 `json:"sessions"` // times that an admin ended one session or all
	TwoFactor  int64 `json:"twoFactor"`
	Passkeys   int64 `json:"passkeys"`
	APIKeys    int64 `json:"apiKeys"`
	Identities int64 `json:"identities"`
}

// The fields of Removals, for Service.RecordRemoval.
const (
	EndedSessions = "sessions"
	TwoFactor     = "twoFactor"
	Passkeys      = "passkeys"
	APIKeys       = "apiKeys"
	Identities    = "identities"
)

// RecordRemoval records in the log of changes that an admin has removed something from the account of another user. field is
// EndedSessions, TwoFactor, Passkeys, APIKeys or Identities. Call RecordRemoval in the store.DB.Together of the removal. NotFound: there is no such user.
func (s *Service) RecordRemoval(ctx context.Context, id store.ID, field string) error {
	_, err := s.users.Update(ctx, store.Eq("id", id), store.Inc(field, 1))
	return err
}
