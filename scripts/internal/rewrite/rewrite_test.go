package rewrite

import (
	"strings"
	"testing"
)

const source = `// Package social is an example.
//
//	@title		Ginseng
package social

import (
	"context"

	"example.com/ginseng/kit"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/modulesother"
)

// Settings are the settings.
type Settings struct {
	Facebook FacebookSettings
	Google   GoogleSettings
}

func providers(ctx context.Context, s Settings, _ kit.Deps, _ user.Module, _ modulesother.T) Service {
	return Service{Name: "ginseng", List: []provider{
		newFacebook(ctx, s.Facebook),
		newGoogle(ctx, s.Google),
	}}
}
`

const want = `// Package social is an example.
//
//	@title		Web Shop
package social

import (
	"context"

	"example.com/ginseng/kit"
	"example.com/ginseng/modulesother"
	"example.com/shop/modules/user"
)

// Settings are the settings.
type Settings struct {
	Google GoogleSettings
}

func providers(ctx context.Context, s Settings, _ kit.Deps, _ user.Module, _ modulesother.T) Service {
	return Service{Name: "web-shop", List: []provider{
		newGoogle(ctx, s.Google),
	}}
}
`

func TestRewrite(t *testing.T) {
	t.Parallel()
	f, err := Parse([]byte(strings.ReplaceAll(source, "'", "`")))
	if err != nil {
		t.Fatal(err)
	}
	declared, err := Parse([]byte("package social\n\ntype FacebookSettings struct{}\n\nfunc newFacebook() {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	gone := map[string]bool{}
	for _, name := range declared.Declared() {
		gone[name] = true
	}
	f.Imports("example.com/ginseng", "example.com/shop", "modules", "config")
	f.Name("web-shop")
	f.Annotation("@title", "Web Shop")
	f.Without(gone)
	got, err := f.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != strings.ReplaceAll(want, "'", "`") {
		t.Errorf("got\n%s", got)
	}
}
