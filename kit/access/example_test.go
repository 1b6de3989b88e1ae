package access_test

import (
	"fmt"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/store"
)

// A module calls MayChange to check whether the caller of a request may change a record.
func Example() {
	owner, other := store.NewID(), store.NewID()
	fmt.Println("owner:", access.Principal{UserID: owner, Role: access.RoleUser}.MayChange(owner))
	fmt.Println("other:", access.Principal{UserID: other, Role: access.RoleUser}.MayChange(owner))
	fmt.Println("admin:", access.Principal{UserID: other, Role: access.RoleAdmin}.MayChange(owner))
	// Output:
	// owner: <nil>
	// other: forbidden: Only the owner or an admin may do this.
	// admin: <nil>
}
