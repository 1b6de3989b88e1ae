package resource

import (
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/store"
)

// Access returns the filter that selects the records that a caller may see, or may change. A nil filter selects all records.
type Access func(access.Principal) store.Filter

// Public gives every caller access to all records.
func Public(access.Principal) store.Filter { return nil }

// None gives no caller access to a record. A function of your own ends with it for callers who see nothing: return None(caller).
func None(access.Principal) store.Filter { return store.Or() }

// Users gives users and the master key access to all records.
func Users(caller access.Principal) store.Filter { return allOrNone(caller.IsUser() || caller.Master) }

// Admins gives admins and the master key access to all records.
func Admins(caller access.Principal) store.Filter { return allOrNone(caller.ActsForAll()) }

// Roles returns the Access that gives users with one of the roles, admins and the master key access to all records.
func Roles(roles ...access.Role) Access {
	return func(caller access.Principal) store.Filter {
		return allOrNone(caller.HasRole(roles...) || caller.Master)
	}
}

// Master gives the master key access to all records.
func Master(caller access.Principal) store.Filter { return allOrNone(caller.Master) }

// Own gives users access to the records that have their ID in the field userId. Admins and the master key have access to all
// records.
func Own(caller access.Principal) store.Filter {
	if !caller.IsUser() || caller.ActsForAll() {
		return Admins(caller)
	}
	return store.Eq("userId", caller.UserID)
}

// OwnOr returns the Access that gives users with one of the roles access to all records, and other callers the same access as
// Own.
func OwnOr(roles ...access.Role) Access {
	return func(caller access.Principal) store.Filter {
		if caller.HasRole(roles...) {
			return nil
		}
		return Own(caller)
	}
}

// allOrNone returns the filter that selects all records if allowed is true, and no records otherwise.
func allOrNone(allowed bool) store.Filter {
	if allowed {
		return nil
	}
	return store.Or() // selects nothing
}
