package user

import (
	"context"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Delete deletes a user and the data of the Dependents, and applies the OnDelete rules of the references to the user. NotFound,
// Forbidden, PreconditionFailed: see Update. Conflict: a reference restricts the deletion, or the caller is the user and a change
// of the address can still be undone from a former address.
func (s *Service) Delete(ctx context.Context, caller access.Principal, id store.ID, expected Expected) error {
	err := s.db.Together(ctx, func(ctx context.Context) error { return s.delete(ctx, caller, id, expected) })
	if err != nil {
		return err
	}
	if err := s.deleteDependents(ctx, id); err != nil { // deletes what was created in the meantime
		return err
	}
	d, err := s.referred.PlanDeletion(ctx, id)
	if err != nil {
		return apperr.Replace(err, apperr.Conflict, nil) // a new record restricts the deletion: keep the record
	}
	return d.Run(ctx)
}

// delete deletes a user, in an order that allows the deletion to be interrupted and repeated. It returns the errors of Delete.
func (s *Service) delete(ctx context.Context, caller access.Principal, id store.ID, expected Expected) error {
	_, err := s.change(ctx, id, func(u *User) error {
		if err := mayChange(*u, caller, expected); err != nil {
			return err
		}
		if err := s.checkUndo(ctx, caller, *u); err != nil {
			return err
		}
		if _, err := s.referred.PlanDeletion(ctx, id); err != nil { // checks the references before anything changes
			return err
		}
		u.Epoch++ // ends all sessions
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.deleteDependents(ctx, id); err != nil { // before the user, so that an admin can repeat a failed request
		return err
	}
	return s.referred.Delete(ctx, access.Principal{Master: true}, id, nil)
}

// checkUndo fails with Conflict if the caller is u and a change of the address can still be undone from a former address: an
// attacker who has changed the address must not be able to delete the account in that time.
func (s *Service) checkUndo(ctx context.Context, caller access.Principal, u User) error {
	if s.addresses == nil || !caller.Is(u.ID) {
		return nil
	}
	_, until, err := s.addresses.Former(ctx, u)
	if err != nil || until.IsZero() {
		return err
	}
	return apperr.New(apperr.Conflict, "The email address of this account was changed, and the former address can undo the change until %s. Delete the account after that, or ask an admin.", until)
}

func (s *Service) deleteDependents(ctx context.Context, id store.ID) error {
	for _, d := range s.dependents {
		if err := d.DeleteOf(ctx, id); err != nil {
			return err
		}
	}
	return nil
}
