package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// change brings a project to the template as it is now, or changes its components, on a new branch of its git repository.
func change(ctx context.Context, r request, root string, stdout io.Writer) error {
	p, err := openProject(ctx, r.dir)
	if err != nil {
		return err
	}
	now, err := current(ctx, root)
	if err != nil {
		return err
	}
	before, note, err := was(ctx, root, now, p.Template)
	if err != nil {
		return err
	}
	after, answers, branch := before, p.answers, ""
	switch r.verb {
	case "upgrade":
		after, branch = now, "ginseng-upgrade-"+now.version
	default:
		if answers, err = p.changed(r.verb, r.words); err != nil {
			return err
		}
		branch = "ginseng-" + r.verb + "-" + strings.Join(ordered(r.words), "-")
	}
	work, err := os.MkdirTemp("", "ginseng-new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	base, err := before.render(ctx, filepath.Join(work, "base", "project"), p.answers)
	if err != nil {
		return fmt.Errorf("the project as it was made cannot be made again: %w", err)
	}
	theirs, err := after.render(ctx, filepath.Join(work, "theirs", "project"), answers)
	if err != nil {
		return err
	}
	m := merger{ctx: ctx, dir: work, labels: [3]string{"project", "template " + before.version, "template " + after.version}}
	if err := m.merge(base, p.files, theirs); err != nil {
		return err
	}
	if err := m.generated(base, p.files, theirs, filepath.Join(work, "merged")); err != nil {
		return err
	}
	m.secrets(p)
	if len(m.changes) == 0 {
		_, err := fmt.Fprintln(stdout, "Nothing changes.")
		return err
	}
	if !r.dryRun {
		if err := p.write(ctx, branch, m.changes); err != nil {
			return err
		}
	}
	m.tell(stdout, r, p, branch, note)
	if len(m.conflicts) > 0 {
		return errConflicts
	}
	return nil
}

// errConflicts is what is left to a person: the exit code tells it to a script.
var errConflicts = errors.New("the conflicts named above are left to you")

// project is one that was made by this program.
type project struct {
	record
	dir, gitDir string
	files       tree
	env         []byte // its .env, if it has one
	dirty       bool
}

func openProject(ctx context.Context, dir string) (*project, error) {
	text, err := os.ReadFile(filepath.Join(dir, recordName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, mistakes{fmt.Sprintf("--dir %s: there is no %s, so it was not made by this program", dir, recordName)}
	}
	p := &project{dir: dir}
	if err == nil {
		err = json.Unmarshal(text, &p.record)
	}
	if err != nil {
		return nil, reason("--dir "+dir, err)
	}
	gitDir, err := git(ctx, dir, "rev-parse", "--absolute-git-dir")
	if err == nil {
		_, err = git(ctx, dir, "rev-parse", "HEAD")
	}
	if err != nil {
		return nil, mistakes{fmt.Sprintf("--dir %s has no git repository with a commit, in which a branch could be made; in it: git init && git add -A && git commit -m 'Made from the template'", dir)}
	}
	p.gitDir = strings.TrimSpace(gitDir)
	if err := p.finishWriting(ctx); err != nil {
		return nil, err
	}
	if p.files, err = readTree(ctx, dir); err != nil {
		return nil, err
	}
	p.env, _ = os.ReadFile(filepath.Join(dir, ".env")) // may be absent
	status, err := git(ctx, dir, "status", "--porcelain", "--", ".")
	p.dirty = status != ""
	return p, err
}

// changed are the answers with components added or removed.
func (p *project) changed(verb string, words []string) (answers, error) {
	a := p.answers
	var wrong mistakes
	words = ordered(words) // and each once
	if slices.Contains(words, user) {
		for _, module := range p.resources() {
			wrong.add("%s was generated for a project %s users: take it back first, and generate it again after", module, map[bool]string{true: "without", false: "with"}[verb == "add"])
		}
	}
	for _, word := range words {
		if slices.Contains(a.Components, word) == (verb == "add") {
			wrong.add("the project has %s%s", map[bool]string{true: "no ", false: ""}[verb == "remove"], word)
		}
	}
	if verb == "add" {
		a.Components = ordered(append(slices.Clone(a.Components), words...))
		for _, c := range components {
			if slices.Contains(a.Components, c.name) && c.needs != "" && !slices.Contains(a.Components, c.needs) {
				wrong.add("%s needs %s; add %s,%s", c.name, c.needs, c.needs, c.name)
			}
		}
		if slices.Contains(words, social) {
			a.Providers = slices.Clone(providers)
		}
	} else {
		a.Components = slices.DeleteFunc(slices.Clone(a.Components), func(name string) bool { return slices.Contains(words, name) })
		for _, name := range a.Components {
			if n := need(name); n != "" && !slices.Contains(a.Components, n) {
				wrong.add("%s needs %s; remove %s as well: remove %s,%s", name, n, name, n, name)
			}
		}
		if !slices.Contains(a.Components, social) {
			a.Providers = nil
		}
	}
	if len(wrong) > 0 {
		return a, wrong
	}
	return a, nil
}

// resources are the modules that scripts/generate made in the project.
func (p *project) resources() (out []string) {
	for name, e := range p.files {
		dir, file := filepath.Split(name)
		if file == "module.go" && dir != "modules/"+article+"/" && bytes.Contains(e.text, []byte("\n//go:generate go run ")) && bytes.Contains(e.text, []byte("/scripts/generate ")) {
			out = append(out, strings.TrimSuffix(dir, "/"))
		}
	}
	slices.Sort(out)
	return out
}

// fileChange is what becomes of a file: nil text takes it away.
type fileChange struct {
	name string
	entry
	gone bool
}

// merger merges trees file by file.
type merger struct {
	ctx       context.Context
	dir       string
	labels    [3]string
	changes   []fileChange
	conflicts []string // what a person has to look at
}

// made are the files that tools make of others, or a part of them.
var made = []string{"go.mod", "go.sum", "docs/swagger.json", "docs/openapi.json", "docs/licenses.md", "docs/operations.md", ".env.example"}

func same(a, b tree, name string) bool {
	x, inA := a[name]
	y, inB := b[name]
	return inA == inB && bytes.Equal(x.text, y.text)
}

// merge finds what changes in ours for what changed from base to theirs.
func (m *merger) merge(base, ours, theirs tree) error {
	names := map[string]bool{}
	for _, t := range []tree{base, theirs} {
		for name := range t {
			names[name] = name != ".env"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		b, inBase := base[name]
		o, inOurs := ours[name]
		t, inTheirs := theirs[name]
		switch {
		case !names[name], same(base, theirs, name), same(ours, theirs, name):
		case name == recordName, same(base, ours, name):
			m.changes = append(m.changes, fileChange{name, t, !inTheirs})
		case slices.Contains(made, name):
		case !inTheirs:
			m.conflicts = append(m.conflicts, name+" is gone from the template, and was changed here: it stays")
		case !inOurs && inBase:
			m.conflicts = append(m.conflicts, name+" was deleted here, and has changed in the template: it stays deleted")
		case !textual(o.text) || !textual(t.text):
			m.conflicts = append(m.conflicts, name+" was changed here and in the template, and is no text: it stays as it is here")
		default:
			merged, conflicts, err := m.file(b.text, o.text, t.text)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if conflicts > 0 {
				m.conflicts = append(m.conflicts, fmt.Sprintf("%s: %d, marked in it", name, conflicts))
			}
			m.changes = append(m.changes, fileChange{name, entry{merged, o.mode}, false})
		}
	}
	return nil
}

// file merges three states of a file with git merge-file, which marks conflicts.
func (m *merger) file(base, ours, theirs []byte) (merged []byte, conflicts int, err error) {
	var names [3]string
	for i, text := range [][]byte{ours, base, theirs} {
		names[i] = filepath.Join(m.dir, fmt.Sprint("side", i))
		if err := os.WriteFile(names[i], text, 0o600); err != nil {
			return nil, 0, err
		}
	}
	cmd := exec.CommandContext(m.ctx, "git", "merge-file", "--stdout", "-L", m.labels[0], "-L", m.labels[1], "-L", m.labels[2], names[0], names[1], names[2])
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	merged, err = cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() < 128 {
		return merged, exit.ExitCode(), nil
	}
	if err != nil {
		err = fmt.Errorf("git merge-file: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return merged, 0, err
}

// generated makes the files anew that tools make of others, where both sides changed them; where that cannot be, because a
// conflict is in what they are made of, it merges their text.
func (m *merger) generated(base, ours, theirs tree, dir string) error {
	var both []string
	for _, name := range made {
		if !same(base, theirs, name) && !same(base, ours, name) && !same(ours, theirs, name) {
			both = append(both, name)
		}
	}
	if len(both) == 0 {
		return nil
	}
	merged := maps.Clone(ours)
	for _, c := range m.changes {
		if merged[c.name] = c.entry; c.gone {
			delete(merged, c.name)
		}
	}
	for _, name := range both[:] {
		text, conflicts, err := m.file(base[name].text, ours[name].text, theirs[name].text)
		if err != nil {
			return err
		}
		if conflicts > 0 && strings.HasPrefix(name, "go.") {
			text = theirs[name].text // tidy adds what is missing
		}
		merged[name] = entry{text, 0o644}
	}
	if err := writeTree(dir, merged); err != nil {
		return err
	}
	if err := finish(m.ctx, dir, merged); err != nil {
		m.conflicts = append(m.conflicts, strings.Join(both, ", ")+" could not be made anew: when the rest is right, run go mod tidy and make docs")
	} else if err := reread(dir, merged); err != nil {
		return err
	}
	for _, name := range both {
		if bytes.Contains(merged[name].text, []byte("\n<<<<<<< ")) {
			m.conflicts = append(m.conflicts, name+": marked in it")
		}
		m.changes = append(m.changes, fileChange{name, merged[name], false})
	}
	return nil
}

// secrets adds to the project's .env, if it has one, those that it now needs.
func (m *merger) secrets(p *project) {
	if p.env == nil {
		return
	}
	for _, c := range m.changes {
		if c.name != ".env.example" {
			continue
		}
		text := bytes.Clone(p.env)
		for line := range strings.Lines(string(secrets(c.text).text)) {
			name, _, isSetting := strings.Cut(line, "=")
			if isSetting && !bytes.Contains(append([]byte("\n"), text...), []byte("\n"+name+"=")) {
				text = append(bytes.TrimRight(text, "\n"), "\n"+line...)
			}
		}
		if !bytes.Equal(text, p.env) {
			m.changes = append(m.changes, fileChange{".env", entry{text, 0o600}, false})
		}
		return
	}
}

// The folder in the project's git directory where changes are gathered. It counts only once it is renamed to its second
// name: a run that was killed before has changed nothing, and the next call completes one that was killed after.
const gathering, gathered = "ginseng-gathering", "ginseng-gathered"

type plan struct {
	Branch  string
	Changes []plannedChange
}

type plannedChange struct {
	Name string
	Mode fs.FileMode
	Gone bool
}

// write makes the branch and the changes on it. Whatever is uncommitted comes along, as with git switch.
func (p *project) write(ctx context.Context, branch string, changes []fileChange) error {
	if _, err := git(ctx, p.dir, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch); err == nil {
		return fmt.Errorf("the project has a branch %s already: merge or delete it first", branch)
	}
	dir := filepath.Join(p.gitDir, gathering)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	planned := plan{Branch: branch}
	for i, c := range changes {
		planned.Changes = append(planned.Changes, plannedChange{c.name, c.mode, c.gone})
		if err := writeFile(filepath.Join(dir, fmt.Sprint(i)), entry{c.text, 0o600}); err != nil {
			return err
		}
	}
	list, err := json.Marshal(planned)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "list"), list, 0o600); err != nil {
		return err
	}
	if err := os.Rename(dir, filepath.Join(p.gitDir, gathered)); err != nil {
		return err
	}
	return p.finishWriting(ctx)
}

// finishWriting goes to the branch of what is gathered, and puts it in its place.
func (p *project) finishWriting(ctx context.Context) error {
	dir := filepath.Join(p.gitDir, gathered)
	list, err := os.ReadFile(filepath.Join(dir, "list"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var planned plan
	if err == nil {
		err = json.Unmarshal(list, &planned)
	}
	if err != nil {
		return err
	}
	if _, err := git(ctx, p.dir, "switch", "--quiet", planned.Branch); err != nil {
		if _, err := git(ctx, p.dir, "switch", "--quiet", "--create", planned.Branch); err != nil {
			return err
		}
	}
	for i, c := range planned.Changes {
		target := filepath.Join(p.dir, filepath.FromSlash(c.Name))
		if c.Gone {
			if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			for up := filepath.Dir(target); up != p.dir && os.Remove(up) == nil; up = filepath.Dir(up) {
			}
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		if err := writeFile(target, entry{text, c.Mode}); err != nil {
			return err
		}
		if err := os.Chmod(target, c.Mode); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// diff shows the changes as git does.
func (m *merger) diff(p *project) string {
	before, after := tree{}, tree{}
	for _, c := range m.changes {
		if old, ok := p.files[c.name]; ok {
			before[c.name] = old
		}
		if !c.gone && c.name != ".env" { // holds secrets
			after[c.name] = c.entry
		}
	}
	for name, t := range map[string]tree{"a": before, "b": after} {
		if err := os.MkdirAll(filepath.Join(m.dir, name), 0o755); err != nil {
			return err.Error()
		}
		if err := writeTree(filepath.Join(m.dir, name), t); err != nil {
			return err.Error()
		}
	}
	out, _ := git(m.ctx, m.dir, "diff", "--no-index", "--no-prefix", "--no-color", "a", "b") // exits with 1 where they differ
	return out
}

// tell says what has changed, and how to go on.
func (m *merger) tell(out io.Writer, r request, p *project, branch, note string) {
	if note != "" {
		_, _ = fmt.Fprintln(out, note)
	}
	added, gone := 0, 0
	for _, c := range m.changes {
		_, was := p.files[c.name]
		switch {
		case c.gone:
			gone++
		case !was:
			added++
		}
	}
	if r.dryRun {
		_, _ = fmt.Fprint(out, m.diff(p))
	}
	_, _ = fmt.Fprintf(out, "%d files change, %d of them new; %d go.\n", len(m.changes)-gone, added, gone)
	for _, conflict := range m.conflicts {
		_, _ = fmt.Fprintln(out, "conflict:", conflict)
	}
	if r.dryRun {
		_, _ = fmt.Fprintln(out, "Nothing was written.")
		return
	}
	if p.dirty {
		_, _ = fmt.Fprintln(out, "There were changes that are not committed: they are on the branch, too.")
	}
	_, _ = fmt.Fprintf(out, "They are on the branch %s, and not committed yet:\n\n  cd %s\n  git add -A && git diff --cached\n  go test ./...\n", branch, r.dir)
}
