package route

import (
	"slices"
	"strings"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
)

// Accepts returns nil if the route accepts the caller, who has a valid credential or none. It returns the first error of CheckKey,
// CheckKind and CheckRestriction. The handler can still reject the caller for a record, and step-up routes can require a newer
// sign-in.
func (r *Route) Accepts(caller access.Principal) error {
	if r.Kind == KindOpen {
		return nil
	}
	if err := r.CheckKey(caller); err != nil {
		return err
	}
	if err := r.CheckKind(caller); err != nil {
		return err
	}
	return r.CheckRestriction(caller)
}

// CheckKey returns nil if the route accepts the API key of the caller, or if the caller has no API key. InsufficientScope: the key
// does not have the scope of the resource: access.ScopeRead if the route only reads, otherwise access.ScopeWrite; with AllowAdminKey,
// access.ScopeAdmin. Forbidden: the route accepts no API key.
func (r *Route) CheckKey(caller access.Principal) error {
	if caller.Key == nil || r.AnyKey {
		return nil
	}
	if r.AdminKey {
		if slices.Contains(caller.Key.Scopes, access.ScopeAdmin) {
			return nil
		}
		return insufficientScope(access.ScopeAdmin)
	}
	if r.Resource == "" {
		return apperr.New(apperr.Forbidden, "This operation does not accept an API key. Sign in, and send the user token instead.")
	}
	action := access.ScopeWrite
	if r.Reads() {
		action = access.ScopeRead
	}
	if !caller.Key.Has(r.Resource, action) {
		return insufficientScope(r.Resource + action)
	}
	return nil
}

func insufficientScope(scope string) error {
	return apperr.New(apperr.InsufficientScope, "The API key does not have the scope %s. Create a key with this scope: POST /users/me/api-keys.", scope)
}

// CheckKind returns nil if the route accepts callers of this kind; every route accepts access.Operator. Unauthorized: it takes the
// master key and the caller is a user, or the reverse. Forbidden: the user does not have the role.
func (r *Route) CheckKind(caller access.Principal) error {
	if caller.IsOperator() {
		return nil
	}
	switch r.Kind {
	case KindOpen, KindPublic, KindSignIn, KindRefresh, KindProvider:
		return nil
	case KindMaster:
		if !caller.Master {
			return apperr.New(apperr.Unauthorized, "This operation takes the master key, not a user token.")
		}
		return nil
	}
	switch {
	case !caller.IsUser():
		return apperr.New(apperr.Unauthorized, "This operation takes a user token, not the master key.")
	case (r.Kind == KindAdmin || r.Kind == KindStepUpAdmin) && !caller.IsAdmin():
		return apperr.New(apperr.Forbidden, "Only an admin may do this.")
	case r.Kind == KindRole && !caller.HasRole(r.Roles...):
		names := make([]string, len(r.Roles))
		for i, role := range r.Roles {
			names[i] = string(role)
		}
		return apperr.New(apperr.Forbidden, "Only an admin or a user with the role %s may do this.", strings.Join(names, " or "))
	}
	return nil
}

// CheckRestriction returns the error of the caller's restriction. It returns nil if there is no restriction, if the restriction
// allows the request, or if the route accepts restricted users.
func (r *Route) CheckRestriction(caller access.Principal) error {
	if caller.Restriction == nil || r.Restricted || caller.Restriction.Reads && r.Reads() {
		return nil
	}
	return caller.Restriction.Err
}
