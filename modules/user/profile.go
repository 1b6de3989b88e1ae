package user

//go:generate go run example.com/ginseng/scripts/generate user

// Fields are the project's own fields of users, which a user and admins can read and set. The generator adds them to
// this file:
//
//	go tool generate user --add 'phone:string:max=30'
type Fields struct {
}
