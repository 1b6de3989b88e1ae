package user

import (
	"context"
	"errors"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
)

// Delete deletes a user and the data of the Dependents, and applies the OnDelete rules of the references to the user. NotFound,
// Forbidden, PreconditionFailed: see Update. Conflict: a reference or a Guard restricts the deletion, or the caller is the user and
// a change of the address can still be undone from a former address. If more than resource.MaxReferring records refer to the user,
// a job deletes or changes them after Delete has returned; see resource.Removals.
func (s *Service) Delete(ctx context.Context, caller access.Principal, id store.ID, expected Expected) error {
	later := false
	err := s.db.Together(ctx, func(ctx context.Context) (err error) {
		later, err = s.delete(ctx, caller, id, expected)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.deleteDependents(ctx, id); err != nil || later { // deletes what was created in the meantime
		return err
	}
	d, err := s.referred.PlanDeletion(ctx, id)
	if err != nil {
		return apperr.Replace(err, apperr.Conflict, nil) // a new record restricts the deletion: keep the record
	}
	return d.Run(ctx)
}

// delete deletes a user, in an order that allows the deletion to be interrupted and repeated. later reports whether a job deletes
// the records that refer to the user. delete returns the errors of Delete.
func (s *Service) delete(ctx context.Context, caller access.Principal, id store.ID, expected Expected) (later bool, err error) {
	check := func(u *User) (err error) {
		if err := s.mayChange(*u, caller, expected); err != nil {
			return err
		}
		if err := s.checkUndo(ctx, caller, *u); err != nil {
			return err
		}
		later, err = s.mayDelete(ctx, id)
		return err
	}
	if _, err := s.change(ctx, id, check); err != nil { // before anything changes
		return later, err
	}
	for _, d := range s.dependents { // first: another caller can have given a Guard a reason in the meantime
		if _, ok := d.(Guard); !ok {
			continue
		}
		if err := d.DeleteOf(ctx, id); err != nil {
			return later, err
		}
	}
	_, err = s.change(ctx, id, func(u *User) error {
		err := check(u)
		u.Epoch++ // ends all sessions
		return err
	})
	if err != nil {
		return later, err
	}
	if err := s.deleteDependents(ctx, id); err != nil { // before the user, so that an admin can repeat a failed request
		return later, err
	}
	if !later {
		return false, s.referred.Delete(ctx, access.Principal{Master: true}, id, nil)
	}
	if err := s.removals.Add(ctx, id); err != nil {
		return true, err
	}
	return true, s.users.DeleteByID(ctx, id, nil)
}

// mayDelete fails with Conflict if a reference or a Guard restricts the deletion of the user. later reports whether too many records
// refer to the user for one request.
func (s *Service) mayDelete(ctx context.Context, id store.ID) (later bool, err error) {
	for _, d := range s.dependents {
		if guard, ok := d.(Guard); ok {
			if err := guard.MayDelete(ctx, id); err != nil {
				return false, err
			}
		}
	}
	_, err = s.referred.PlanDeletion(ctx, id)
	if errors.Is(err, resource.ErrManyReferring) {
		return true, s.referred.MayRemove(ctx, id)
	}
	return false, err
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
