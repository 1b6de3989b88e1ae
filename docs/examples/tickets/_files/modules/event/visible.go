package event

import (
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
)

// visible selects the events that a caller may see: everyone sees what is published, and the members of its organization see a draft
// too.
func visible(caller access.Principal) store.Filter {
	if caller.ActsForAll() {
		return nil // all events
	}
	return store.Or(store.Ne("state", "draft"), resource.OrganizationMember()(caller))
}
