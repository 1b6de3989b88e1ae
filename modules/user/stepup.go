package user

import (
	"context"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/store"
)

// SecondFactor is implemented by the module that manages the second factors of users.
type SecondFactor interface {
	HasSecondFactor(ctx context.Context, userID store.ID) (bool, error)
}

// SetSecondFactor registers the module that manages the second factors of users. It must be called once, before the server
// starts.
func (m *Module) SetSecondFactor(f SecondFactor) {
	if m.secondFactor != nil {
		panic("user: SetSecondFactor was already called; only one module can manage second factors")
	}
	m.secondFactor = f
}

// HasSecondFactor reports whether the user has a second factor.
func (s *Service) HasSecondFactor(ctx context.Context, userID store.ID) (bool, error) {
	if s.secondFactor == nil {
		return false, nil
	}
	return s.secondFactor.HasSecondFactor(ctx, userID)
}

// Sessions is implemented by the module that manages the sessions of users.
type Sessions interface {
	// Keep moves the caller's session to a later epoch of the user, so that the session continues when the other sessions end.
	Keep(ctx context.Context, caller access.Principal, epoch int64) error
}

// SetSessions registers the module that manages the sessions of users. It must be called once, before the server starts.
func (m *Module) SetSessions(s Sessions) {
	if m.sessions != nil {
		panic("user: SetSessions was already called; only one module can manage sessions")
	}
	m.sessions = s
}
