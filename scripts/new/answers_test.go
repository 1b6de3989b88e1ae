package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	everything := answers{Name: "shop", Module: "example.com/shop", Components: names(), Providers: providers}
	for line, want := range map[string]answers{
		"shop":                                              everything,
		"shop --with all --providers all":                   everything,
		"--module example.com/shop shop":                    everything,
		"shop --with policy,user":                           {"shop", "example.com/shop", []string{user, policy}, nil},
		"--with=none shop":                                  {"shop", "example.com/shop", nil, nil},
		"shop --without all":                                {"shop", "example.com/shop", nil, nil},
		"shop --without none":                               everything,
		"shop --without article":                            {"shop", "example.com/shop", []string{user, social, passwordReset, policy}, providers},
		"shop --without user":                               {"shop", "example.com/shop", []string{article, policy}, nil},
		"shop --module github.com/you/shop.v2":              {"shop", "github.com/you/shop.v2", names(), providers},
		"a-b2 --with user,social --providers google,github": {"a-b2", "example.com/a-b2", []string{user, social}, []string{"github", "google"}},
	} {
		r, err := parseArgs(strings.Fields(line), nil)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		a := r.answers
		if a.Name != want.Name || a.Module != want.Module || !slices.Equal(a.Components, want.Components) || !slices.Equal(a.Providers, want.Providers) {
			t.Errorf("%s: %+v, want %+v", line, a, want)
		}
	}
	r, err := parseArgs([]string{"shop", "--without", "user"}, nil)
	if want := []string{"social is left out as well: it needs user.", "password-reset is left out as well: it needs user."}; err != nil || !slices.Equal(r.said, want) {
		t.Errorf("said %q, %v", r.said, err)
	}
	if r.dir != "shop" {
		t.Errorf("folder %q", r.dir)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "answers.json")
	if err := os.WriteFile(file, []byte(`{"name":"shop","module":"github.com/you/shop","with":["user","article"],"dir":"x/y","dry-run":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := parseArgs([]string{"--config", file, "--dir", "z"}, nil)
	if err != nil || r.Name != "shop" || r.Module != "github.com/you/shop" || r.dir != "z" || !r.dryRun || !slices.Equal(r.Components, []string{user, article}) {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = parseArgs([]string{"store", "--config", "-"}, strings.NewReader(`{"name":"shop","with":[]}`))
	if err != nil || r.Name != "store" || r.Components != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRefusals holds each refusal to its message: a line for each mistake.
func TestRefusals(t *testing.T) {
	t.Parallel()
	const shape = " must be lower-case letters, digits and single hyphens between them, and begin with a letter"
	const path = " must be letters, digits and -._~ between slashes, for example github.com/you/shop"
	for _, test := range []struct {
		args  []string
		stdin string
		want  []string
	}{
		{[]string{"--with", "user"}, "", []string{"the project needs a NAME: go run ./scripts/new NAME"}},
		{[]string{"a", "b"}, "", []string{"one NAME is needed, not 2: a b"}},
		{[]string{"../x"}, "", []string{`the name "../x"` + shape}},
		{[]string{"/etc"}, "", []string{`the name "/etc"` + shape}},
		{[]string{`a\b`}, "", []string{`the name "a\\b"` + shape}},
		{[]string{"my shop"}, "", []string{`the name "my shop"` + shape}},
		{[]string{"Shop"}, "", []string{`the name "Shop"` + shape}},
		{[]string{"shоp"}, "", []string{`the name "shоp"` + shape}}, // a Cyrillic о
		{[]string{"a--b"}, "", []string{`the name "a--b"` + shape}},
		{[]string{""}, "", []string{`the name ""` + shape}},
		{[]string{"con"}, "", []string{`the name "con" is a device on Windows`}},
		{[]string{"lpt1"}, "", []string{`the name "lpt1" is a device on Windows`}},
		{[]string{"modules"}, "", []string{`the name "modules" is the name of a folder within the project, where the binary of this name would be put`}},
		{[]string{strings.Repeat("a", 39)}, "", []string{`the name "` + strings.Repeat("a", 39) + `" is longer than 38 characters`}},
		{[]string{"a", "--module", "../a"}, "", []string{`--module "../a"` + path}},
		{[]string{"a", "--module", "example.com/a b"}, "", []string{`--module "example.com/a b"` + path}},
		{[]string{"a", "--module", "example.com//a"}, "", []string{`--module "example.com//a"` + path}},
		{[]string{"a", "--module", "example.com/аb"}, "", []string{`--module "example.com/аb"` + path}},
		{[]string{"a", "--module", "example.com/con"}, "", []string{`--module "example.com/con" names a device of Windows: con`}},
		{[]string{"a", "--module", "net/a"}, "", []string{`--module "net/a" begins like packages of Go's own; put a domain before it, for example example.com/a`}},
		{[]string{"a", "--wiht", "user"}, "", []string{"there is no flag --wiht; did you mean --with?"}},
		{[]string{"a", "--verbose"}, "", []string{"there is no flag --verbose; there are --config, --dir, --dry-run, --module, --providers, --with, --without"}},
		{[]string{"a", "--with"}, "", []string{"--with needs a value"}},
		{[]string{"a", "--dry-run=yes"}, "", []string{"--dry-run is true or false"}},
		{[]string{"a", "--with", "user", "--with", "policy"}, "", []string{"--with is given twice, with different values"}},
		{[]string{"a", "--with", "users"}, "", []string{"--with: there is no component users; did you mean user?"}},
		{[]string{"a", "--with", "kubernetes"}, "", []string{"--with: there is no component kubernetes; there are user, social, password-reset, article, policy, all, none"}},
		{[]string{"a", "--with", ""}, "", []string{"--with needs a list of components: user, social, password-reset, article, policy, or none"}},
		{[]string{"a", "--with", "none,user"}, "", []string{"--with: none stands alone"}},
		{[]string{"a", "--with", "social,article"}, "", []string{"--with: social needs user; write --with user,social,article"}},
		{[]string{"a", "--with", "user", "--without", "policy"}, "", []string{"--with and --without are two ways to say the same; give one"}},
		{[]string{"a", "--without", "artikel"}, "", []string{"--without: there is no component artikel; did you mean article?"}},
		{[]string{"a", "--providers", "gitlab"}, "", []string{"--providers: there is no provider gitlab; did you mean github?"}},
		{[]string{"a", "--providers", "none"}, "", []string{"--providers: there is no provider none; there are facebook, github, google", "--providers: social needs at least one of facebook, github, google; leave social out instead"}},
		{[]string{"a", "--with", "user", "--providers", "google"}, "", []string{"--providers: without social there are none"}},
		{[]string{"--config", "-"}, `{"name":`, []string{"--config -: unexpected end of JSON input", "the project needs a NAME: go run ./scripts/new NAME"}},
		{[]string{"a", "--config", "/no/such/file"}, "", []string{"--config /no/such/file: no such file or directory"}},
		{[]string{"a", "--config", "-"}, `{"modul":"x","with":[1],"config":"y"}`, []string{`--config: there is no answer "config"; there are dir, dry-run, module, providers, with, without, name`, `--config: there is no answer "modul"; did you mean module?`, `--config: "with" must be text, a list of texts, true or false`}},
		{[]string{"upgrade"}, "", []string{"upgrade needs --dir PROJECT"}},
		{[]string{"upgrade", "x", "--dir", "p"}, "", []string{"upgrade takes no word besides --dir: x"}},
		{[]string{"add", "--dir", "p"}, "", []string{"add needs a component: user, social, password-reset, article, policy"}},
		{[]string{"add", "polcy", "--dir", "p"}, "", []string{"there is no component polcy; did you mean policy?"}},
		{[]string{"remove", "user", "--dir", "p", "--with", "x"}, "", []string{"remove takes no --with; the answers are those of the project's .ginseng.json"}},
		{[]string{"../x", "--wiht", "user", "--module", "a b"}, "", []string{"there is no flag --wiht; did you mean --with?", `the name "../x"` + shape, `--module "a b"` + path}},
	} {
		_, err := parseArgs(test.args, strings.NewReader(test.stdin))
		var wrong mistakes
		if !errors.As(err, &wrong) || !slices.Equal([]string(wrong), test.want) {
			t.Errorf("%q:\n%v\nwant\n%s", test.args, err, strings.Join(test.want, "\n"))
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"--help"}, strings.NewReader(""), &out, &errs); code != exitOK || out.String() != usage {
		t.Errorf("--help: %d %s", code, &out)
	}
	if code := run(t.Context(), nil, strings.NewReader(""), &out, &errs); code != exitUsage || errs.String() != usage {
		t.Errorf("nothing: %d %s", code, &errs)
	}
	errs.Reset()
	if code := run(t.Context(), []string{"../x"}, strings.NewReader(""), &out, &errs); code != exitUsage || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("a bad name: %d %s", code, &errs)
	}
}
