package main

import "testing"

// TestExplain explains errors of the compiler and of vet, each once.
func TestExplain(t *testing.T) {
	t.Parallel()
	const output = `# example.com/shop/modules/report
modules/report/report.go:68:22: u.View undefined (type user.User has no field or method View)
vet: modules/report/report.go:68:22: u.View undefined (type "example.com/shop/modules/user".User has no field or method View)
modules/shop/shop.go:3:5: declared and not used: x
# [example.com/shop/modules/user]
modules/user/model.go:47:2: struct field Passkeys repeats json tag "passkeys" also at profile.go:11
exit status 1
`
	const want = `modules/report/report.go:68:22: u.View undefined (type user.User has no field or method View)
	the module user returns views: users.View(u) and users.Public(u)
modules/shop/shop.go:3:5: declared and not used: x
modules/user/model.go:47:2: struct field Passkeys repeats json tag "passkeys" also at profile.go:11
	users have this field of Ginseng now: rename yours in modules/user/profile.go, also in its go:generate line, and stored values with migrate.Rename
`
	if got := explain(output); got != want {
		t.Errorf("%s", got)
	}
}
