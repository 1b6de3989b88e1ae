package organization

//go:generate go run example.com/ginseng/scripts/generate organization

// Fields are the project's own fields of organizations, which members can read, and owners and admins of the organization can set.
// The generator adds them to this file:
//
//	go tool generate organization --add 'phone:string:max=30'
type Fields struct {
}
