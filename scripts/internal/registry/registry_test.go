package registry

import (
	"slices"
	"strings"
	"testing"
)

const header = `// Package modules is the registry.
package modules

import (
	"example.com/ginseng/kit"
`

const full = header + `	"example.com/shop/modules/article"
	passwordreset "example.com/shop/modules/password-reset"
	"example.com/shop/modules/user"
)

// Settings has the settings of every module.
type Settings struct {
	PasswordReset passwordreset.Settings
	User          user.Settings
}

// New creates the modules, dependencies first.
func New(d kit.Deps, s Settings) []kit.Module {
	users := user.New(d, s.User)
	resets := passwordreset.New(d, s.PasswordReset, users)
	articles := article.New(d)
	return []kit.Module{
		users,
		resets,
		articles,
	}
}
`

const empty = header + `)

// Settings has the settings of every module.
type Settings struct{}

// New creates the modules, dependencies first.
func New(d kit.Deps, s Settings) []kit.Module {
	return []kit.Module{}
}
`

var (
	users    = Module{"example.com/shop/modules/user", "user", "users", "user.New(d, s.User)", "User user.Settings"}
	resets   = Module{"example.com/shop/modules/password-reset", "passwordreset", "resets", "passwordreset.New(d, s.PasswordReset, users)", "PasswordReset passwordreset.Settings"}
	articles = Module{"example.com/shop/modules/article", "article", "articles", "article.New(d)", ""}
	posts    = Module{"example.com/shop/modules/blog-post", "blogpost", "blogPosts", "blogpost.New(d)", ""}
)

func parse(t *testing.T, source string) *Registry {
	t.Helper()
	r, err := Parse([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func insert(t *testing.T, source string, m Module, before ...string) string {
	t.Helper()
	out, err := parse(t, source).Insert(m, before...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func remove(t *testing.T, source string, m Module) string {
	t.Helper()
	out, err := parse(t, source).Remove(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestModules(t *testing.T) {
	t.Parallel()
	if got, want := parse(t, full).Modules(), []Module{users, resets, articles}; !slices.Equal(got, want) {
		t.Errorf("Modules = %+v, want %+v", got, want)
	}
	if got := parse(t, empty).Modules(); got != nil {
		t.Errorf("Modules of an empty registry = %+v", got)
	}
}

// TestInsertRemove builds the registry in several orders, and removes all modules again.
func TestInsertRemove(t *testing.T) {
	t.Parallel()
	order := []string{"users", "resets", "articles"}
	for _, modules := range [][]Module{{users, resets, articles}, {articles, resets, users}, {resets, articles, users}} {
		source := empty
		for _, m := range modules {
			source = insert(t, source, m, order[slices.Index(order, m.Variable)+1:]...)
		}
		if source != full {
			t.Errorf("inserted:\n%s", source)
		}
		for _, m := range []Module{articles, resets, users} {
			source = remove(t, source, m)
		}
		if source != empty {
			t.Errorf("removed:\n%s", source)
		}
	}
}

// TestInsertLast inserts at the end if no order is given.
func TestInsertLast(t *testing.T) {
	t.Parallel()
	got := insert(t, full, posts)
	for _, want := range []string{
		"article\"\n\tblogpost \"example.com/shop/modules/blog-post\"\n\tpasswordreset",
		"article.New(d)\n\tblogPosts := blogpost.New(d)\n\treturn", "\t\tarticles,\n\t\tblogPosts,\n\t}\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if back := remove(t, got, posts); back != full {
		t.Errorf("removed:\n%s", back)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	names := parse(t, full).Names()
	for name, want := range map[string]bool{
		"kit": true, "article": true, "passwordreset": true, "users": true, "d": true, "Settings": true, "New": true,
		"User": false, "PasswordReset": false, "note": false,
	} {
		if names[name] != want {
			t.Errorf("Names has %s: %v, want %v", name, names[name], want)
		}
	}
}

func TestParseRejects(t *testing.T) {
	t.Parallel()
	for _, test := range [][3]string{
		{"func New(", "func Make(", "no func New(d kit.Deps, s Settings)"},
		{"d kit.Deps", "d *kit.Deps", "no func New(d kit.Deps, s Settings)"},
		{"return []kit.Module{", "list := []kit.Module{", "ends by returning a list"},
		{"import (", "import {", "missing import path"},
		{"type Settings struct", "type Config struct", "no struct Settings"},
		{"users,\n\t\tresets,", "users, resets,", "more than one module per line"},
	} {
		if _, err := Parse([]byte(strings.Replace(full, test[0], test[1], 1))); err == nil || !strings.Contains(err.Error(), test[2]) {
			t.Errorf("%s: %v", test[1], err)
		}
	}
}

func TestRemoveRejects(t *testing.T) {
	t.Parallel()
	edited := strings.Replace(full, "article.New(d)", "article.New(d, 1)", 1)
	for _, test := range []struct {
		source string
		module Module
		want   string
	}{
		{full, users, "modules/modules.go:20 uses users"},
		{full, posts, "does not create a module of example.com/shop/modules/blog-post"},
		{edited, articles, `was edited: it has "articles := article.New(d, 1)"`},
	} {
		if _, err := parse(t, test.source).Remove(test.module); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.module.Variable, err, test.want)
		}
	}
}

func TestKeepMerge(t *testing.T) {
	t.Parallel()
	kept, err := Keep([]byte(full), func(m Module) bool { return m == articles })
	if err != nil {
		t.Fatal(err)
	}
	if modules := parse(t, string(kept)).Modules(); !slices.Equal(modules, []Module{articles}) {
		t.Errorf("Keep left %+v", modules)
	}
	own := insert(t, string(kept), posts)
	merged, err := Merge([]byte(own), []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if got := remove(t, string(merged), posts); got != full {
		t.Errorf("merged:\n%s", got)
	}
	if _, err := Keep([]byte(full), func(m Module) bool { return m != users }); err == nil {
		t.Error("Keep removed a module that another uses")
	}
}

// TestReplace gives a module two more arguments, whose constructors follow it.
func TestReplace(t *testing.T) {
	t.Parallel()
	tags := Module{"example.com/shop/modules/tag", "tag", "tags", "tag.New(d, labels)", ""}
	labels := Module{"example.com/shop/modules/label", "label", "labels", "label.New(d)", ""}
	other := Module{"example.com/shop/modules/other", "other", "others", "other.New(d, articles)", ""}
	source := full
	for _, m := range []Module{labels, other, tags} {
		source = insert(t, source, m)
	}
	next := articles
	next.Call = "article.New(d, users, tags)"
	got, err := parse(t, source).Replace(articles, next)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"users)\n\tlabels := label.New(d)\n\ttags := tag.New(d, labels)\n\tarticles := article.New(d, users, tags)\n\tothers := other.New(d, articles)\n\treturn",
		"articles,\n\t\tlabels,\n\t\tothers,\n\t\ttags,\n",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if back, err := parse(t, string(got)).Replace(next, articles); err != nil || strings.Contains(string(back), "users, tags") {
		t.Errorf("%v\n%s", err, back)
	}
	if _, err := parse(t, source).Replace(next, articles); err == nil {
		t.Error("Replace changed a line that was edited")
	}
}
