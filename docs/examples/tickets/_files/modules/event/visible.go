package event

import (
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
)

// visible selects the events that a caller may see: everyone sees what is published, and those who manage a draft see it too.
func visible(caller access.Principal) store.Filter {
	if caller.ActsForAll() {
		return nil // all events
	}
	return store.Or(store.Ne("state", "draft"), manages(caller))
}

// manages selects the events that a caller may change: the owner and the colleagues manage an event together.
func manages(caller access.Principal) store.Filter {
	switch {
	case caller.ActsForAll(): // admins and the master key
		return nil
	case caller.IsUser():
		return store.Or(store.Eq("userId", caller.UserID), store.Contains("colleagues", caller.UserID))
	}
	return resource.None(caller)
}
