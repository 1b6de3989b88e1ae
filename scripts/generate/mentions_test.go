package main

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/ginseng/scripts/internal/command"
)

// TestRenameMentions lists the lines of edited and added files that still have the old name of a field. Other names, code that the
// compiler checks, and migrations are not listed.
func TestRenameMentions(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, declaredProduct...)
	if got := run(dir, "product", "--rename", "note=text"); got.code != command.ExitOK || strings.Contains(got.out, "old name") {
		t.Errorf("without edits: %+v", got)
	}
	write(t, filepath.Join(dir, "modules/product/rules.go"), `package product

// state is in a comment.
//
//	@Description	Sets state.
var state = store.And(store.Eq("state", 1), store.Eq("states", 2))

var orders = []string{
	"-state", "/products?state=new",
	"state asc",
	"substate", `+"`\n\ta.state = 1`"+`,
	state,
}

type parameters struct {
	State string `+"`json:\"state,omitempty\"`"+`
}
`)
	write(t, filepath.Join(dir, "modules/product/rules_test.go"), "package product\n\nvar want = `{\"state\":1}` + \"\\\"state\\\"\"\n")
	commit(t, dir)
	got := run(dir, "product", "--rename", "state=status", "--rename", "name=label")
	const want = `
These lines have the old name of a field, which the compiler does not check:
  modules/product/rules.go:5: //	@Description	Sets state.
  modules/product/rules.go:6: var state = store.And(store.Eq("state", 1), store.Eq("states", 2))
  modules/product/rules.go:9: "-state", "/products?state=new",
  modules/product/rules.go:10: "state asc",
  modules/product/rules.go:12: a.state = 1` + "`" + `,
  modules/product/rules.go:17: State string ` + "`json:\"state,omitempty\"`" + `
  modules/product/rules_test.go:3: var want = ` + "`{\"state\":1}` + \"\\\"state\\\"\"" + `
`
	if got.code != command.ExitOK || !strings.HasSuffix(got.out, want) {
		t.Errorf("%+v", got)
	}
}
