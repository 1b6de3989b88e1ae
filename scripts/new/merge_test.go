package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func texts(pairs ...string) tree {
	t := tree{}
	for i := 0; i < len(pairs); i += 2 {
		t[pairs[i]] = entry{[]byte(pairs[i+1]), 0o644}
	}
	return t
}

// TestMerge merges file by file: what one side changed is taken, and a conflict is only where both did.
func TestMerge(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
	base := texts("same", text, "theirs", text, "ours", text, "both", text, "hunk", text, "gone", text, "kept", text, "deleted", text, "equal", text, "bin", "a\x00b", recordName, "1")
	ours := texts("same", text, "theirs", text, "ours", "mine\n", "both", "ONE"+text[3:], "hunk", "ONE"+text[3:], "gone", text, "kept", "mine\n", "equal", "new\n", "bin", "mine\x00", "own", "mine\n", recordName, "1")
	theirs := texts("same", text, "theirs", "theirs\n", "ours", text, "both", strings.Replace(text, "seven", "SEVEN", 1), "hunk", "uno"+text[3:], "deleted", "theirs\n", "equal", "new\n", "bin", "theirs\x00", "added", "theirs\n", recordName, "2")
	m := merger{ctx: t.Context(), dir: t.TempDir(), labels: [3]string{"project", "template 1", "template 2"}}
	if err := m.merge(base, ours, theirs); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range m.changes {
		if got[c.name] = string(c.text); c.gone {
			got[c.name] = "(gone)"
		}
	}
	want := map[string]string{
		"theirs": "theirs\n", "both": "ONE" + strings.Replace(text[3:], "seven", "SEVEN", 1), "gone": "(gone)", "added": "theirs\n", recordName: "2",
		"hunk": "<<<<<<< project\nONE\n=======\nuno\n>>>>>>> template 2\n" + text[4:],
	}
	if !maps.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	conflicts := []string{
		"bin was changed here and in the template, and is no text: it stays as it is here",
		"deleted was deleted here, and has changed in the template: it stays deleted",
		"hunk: 1, marked in it",
		"kept is gone from the template, and was changed here: it stays",
	}
	if !slices.Equal(m.conflicts, conflicts) {
		t.Errorf("%q", m.conflicts)
	}
}

// repository makes a project's repository.
func repository(t *testing.T, files tree) *project {
	t.Helper()
	dir := t.TempDir()
	if err := writeTree(dir, files); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"}, {"add", "--all"},
		{"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "--message", "x"},
	} {
		if _, err := git(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	p, err := openProject(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const recorded1 = `{"template":{"version":"v1","digest":"0"},"name":"shop","module":"example.com/shop","components":["user"]}`

// TestWrite makes the changes on a branch; a run that is killed in the middle is completed by the next.
func TestWrite(t *testing.T) {
	t.Parallel()
	p := repository(t, texts(recordName, recorded1, "a/b/c", "1", "d", "1", ".gitignore", ".env\n"))
	if p.dirty || p.Name != "shop" || !slices.Equal(p.Components, []string{user}) {
		t.Errorf("%+v", p)
	}
	write(t, filepath.Join(p.dir, "uncommitted"), "x")
	changes := []fileChange{{"a/b/c", entry{}, true}, {"d", entry{[]byte("2"), 0o755}, false}, {"e/f", entry{[]byte("2"), 0o644}, false}}
	if err := p.write(t.Context(), "ginseng-x", changes); err != nil {
		t.Fatal(err)
	}
	check := func(when, branch string) {
		t.Helper()
		if on, _ := git(t.Context(), p.dir, "branch", "--show-current"); on != branch+"\n" {
			t.Errorf("%s: on %q", when, on)
		}
		if _, err := os.Stat(filepath.Join(p.dir, "a")); err == nil {
			t.Errorf("%s: an empty folder is left", when)
		}
		d, _ := os.ReadFile(filepath.Join(p.dir, "d"))
		f, _ := os.ReadFile(filepath.Join(p.dir, "e", "f"))
		if info, err := os.Stat(filepath.Join(p.dir, "d")); err != nil || info.Mode() != 0o755 || string(d) != "2" || string(f) != "2" {
			t.Errorf("%s: %q %q %v", when, d, f, err)
		}
		if left, _ := filepath.Glob(filepath.Join(p.gitDir, "ginseng-*")); left != nil {
			t.Errorf("%s: %v is left", when, left)
		}
	}
	check("written", "ginseng-x")
	if again, err := openProject(t.Context(), p.dir); err != nil || !again.dirty {
		t.Errorf("%v, %v", again, err)
	}
	if err := p.write(t.Context(), "ginseng-x", changes); err == nil || !strings.Contains(err.Error(), "has a branch ginseng-x already") {
		t.Errorf("a second time: %v", err)
	}
	// Killed after the changes were gathered, before the branch was made, and in a folder where one is half made.
	dir := filepath.Join(p.gitDir, gathered)
	write(t, filepath.Join(dir, "0"), "")
	write(t, filepath.Join(dir, "1"), "2")
	write(t, filepath.Join(dir, "2"), "2")
	write(t, filepath.Join(dir, "list"), `{"Branch":"ginseng-y","Changes":[{"Name":"a/b/c","Gone":true},{"Name":"d","Mode":493},{"Name":"e/f","Mode":420}]}`)
	write(t, filepath.Join(p.dir, "d"), "half")
	if _, err := openProject(t.Context(), p.dir); err != nil {
		t.Fatal(err)
	}
	check("completed", "ginseng-y")
}

// TestChanged holds adding and removing components to what the project has, and to what they need.
func TestChanged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		has, verb, words, want string
	}{
		{"user", "add", "policy,article", "user article policy"},
		{"user", "add", "user", "the project has user"},
		{"article", "add", "social", "social needs user; add user,social"},
		{"article", "add", "user,social", "user social article / facebook github google"},
		{"user,social", "remove", "social", "user"},
		{"user,social", "remove", "user", "social needs user; remove social as well: remove user,social"},
		{"user", "remove", "policy", "the project has no policy"},
	} {
		p := &project{record: record{answers: answers{Components: splitList(test.has)}}}
		a, err := p.changed(test.verb, splitList(test.words))
		got := strings.Join(a.Components, " ")
		if a.Providers != nil {
			got += " / " + strings.Join(a.Providers, " ")
		}
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s %s to %s: %s, want %s", test.verb, test.words, test.has, got, test.want)
		}
	}
}

// TestGeneratedForUsers refuses to take users from under a resource, or to bring them: it would be another resource.
func TestGeneratedForUsers(t *testing.T) {
	t.Parallel()
	for verb, components := range map[string][]string{"remove": {user}, "add": nil} {
		p := &project{record: record{answers: answers{Components: components}}, files: texts(
			"modules/blog/module.go", "package blog\n\n//go:generate go run example.com/x/scripts/generate blog title\n",
			"modules/article/module.go", "package article\n\n//go:generate go run example.com/x/scripts/generate article title\n",
			"modules/own/module.go", "package own\n",
		)}
		_, err := p.changed(verb, []string{user})
		if err == nil || !strings.HasPrefix(err.Error(), "modules/blog was generated for a project with") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", verb, err)
		}
	}
}

// TestNoTemplate says where it looked for the template of which a project was made.
func TestNoTemplate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := template{files: texts("go.mod", "module x\n"), version: "v2"}
	if got, _, err := was(t.Context(), dir, now, recordedTemplate{Version: "v1", Digest: now.digest()}); err != nil || got.version != "v1" {
		t.Errorf("the same: %v", err)
	}
	_, _, err := was(t.Context(), dir, now, recordedTemplate{Version: "v1", Digest: "0"})
	if err == nil || !strings.Contains(err.Error(), "names no commit") {
		t.Errorf("no commit: %v", err)
	}
	_, _, err = was(t.Context(), dir, now, recordedTemplate{Version: "v1", Digest: "0", Commit: "0123456789"})
	if err == nil || !strings.Contains(err.Error(), "commit 0123456789 (v1), which is not in the repository of "+dir+": fetch it") {
		t.Errorf("an unknown commit: %v", err)
	}
	p := repository(t, texts(recordName, recorded1, "go.mod", "module x\n"))
	commit, err := git(t.Context(), p.dir, "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	old, note, err := was(t.Context(), p.dir, now, recordedTemplate{Version: "v1-dirty", Digest: "0", Commit: strings.TrimSpace(commit)})
	if err != nil || string(old.files["go.mod"].text) != "module x\n" || !strings.Contains(note, "which had changes that no commit has") {
		t.Errorf("of a commit: %v %q", err, note)
	}
}
