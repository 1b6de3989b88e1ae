package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNew checks the files of projects, and that each builds.
func TestNew(t *testing.T) {
	dir := ginseng(t)
	out := must(t, "web-shop", "--module", "github.com/you/shop", "--with", "social", "--providers", "google", "--dir", "../shop")
	if !strings.Contains(out, "user is included because other components need it.") {
		t.Errorf("the output does not mention user:\n%s", out)
	}
	shop := filepath.Join(dir, "../shop")
	got := filesOf(t, shop)
	for name, want := range map[string]string{
		"main.go":                         `Name: "web-shop"`,
		"modules/modules.go":              `"github.com/you/shop/modules/user"`,
		"modules/social/social.go":        `"google": newGoogle(s.Google),`,
		".env.example":                    "MASTER_KEY=change-me-to-a-master-key\nJWT_SECRET=change-me-to-a-secret\n#GOOGLE_ID=1\n",
		"README.md":                       "# Web Shop\n",
		".ginseng.json":                   `"google"`,
		".github/workflows/ci.yml":        "make lint",
		"go.mod":                          "ignore node_modules",
		".gitattributes":                  "third_party/** -text",
		"modules/user/emails/layout.html": "<p>Web Shop</p>",
		"modules/user/user_test.go":       `"github.com/you/shop/modules/user"`,
	} {
		if !strings.Contains(string(got[name]), want) {
			t.Errorf("%s does not have %q:\n%s", name, want, got[name])
		}
	}
	for _, name := range []string{
		"docs/guide.md", "docs/examples/shop/_files/a.go", "main_test.go", "kit/kit.go", "modules/article/article.go", "modules/social/github.go", "modules/social/facebook_test.go",
		"third_party/ginseng/kit/kit_test.go", "third_party/ginseng/scripts/tools/go.mod", "third_party/ginseng/scripts/new/mini_test.go",
	} {
		if _, ok := got[name]; ok {
			t.Errorf("the project has %s", name)
		}
	}
	template := mini(t)
	for _, name := range []string{"modules/user/user_test.go", "modules/social/github.go", "main.go", "kit/kit.go", "docs/openapi.json", "docs/guide.md", "docs/examples/shop/_files/a.go"} {
		if string(got["third_party/ginseng/"+name]) != string(template[name]) {
			t.Errorf("the runtime's %s differs from Ginseng's", name)
		}
	}
	info, err := os.Stat(filepath.Join(shop, ".env"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf(".env: %v %v", info.Mode(), err)
	}
	env, _ := os.ReadFile(filepath.Join(shop, ".env"))
	if !strings.Contains(string(env), "\nDATABASE_URL=sqlite:data/web-shop.db\n") || strings.Count(string(env), "_") < 3 || strings.Contains(string(env), "change-me") {
		t.Errorf(".env is %s", env)
	}
	compiles(t, shop)
	if out := shell(t, shop, "go", "run", "."); !strings.HasPrefix(out, "web-shop 3 ") {
		t.Errorf("the project prints %s", out)
	}
	if out := shell(t, shop, "go", "list", "./..."); strings.Contains(out, "third_party") {
		t.Errorf("the project has the packages\n%s", out)
	}
}

// TestAddIsNew adds components to projects: the result is the same as a new project's.
func TestAddIsNew(t *testing.T) {
	dir := ginseng(t)
	for i, test := range []struct{ with, add, all string }{
		{"article", "password-reset", "user,article,password-reset"},
		{"none", "article", "article"},
		{"user,policy", "article,social", "user,article,social,policy"},
	} {
		if testing.Short() && i > 0 {
			break
		}
		project, want := filepath.Join(dir, "..", string(rune('a'+i)), "shop"), filepath.Join(dir, "..", string(rune('a'+i)), "want")
		must(t, "shop", "--with", test.with, "--dir", project)
		must(t, "shop", "--with", test.all, "--dir", want)
		commit(t, project)
		before := filesOf(t, project)
		t.Chdir(project)
		must(t, append([]string{"add"}, strings.Split(test.add, ",")...)...)
		same(t, test.with+" + "+test.add, filesOf(t, project), filesOf(t, want))
		commit(t, project)
		remove := strings.Split(test.add, ",")
		if test.with == "article" && test.add == "password-reset" {
			remove = append(remove, "user")
		}
		must(t, append([]string{"remove"}, remove...)...)
		same(t, test.with+" + "+test.add+" - "+test.add, filesOf(t, project), before)
		t.Chdir(dir)
		if test.with == "article" {
			if env, _ := os.ReadFile(filepath.Join(project, ".env")); !strings.Contains(string(env), "JWT_SECRET=") {
				t.Errorf("add did not write the secret to .env: %s", env)
			}
		}
	}
}
