package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// planAdd is the changes that add a resource.
func (t *tree) planAdd(r Resource, reg *registry) ([]change, error) {
	files, err := r.render()
	if err != nil {
		return nil, err
	}
	var changes []change
	for _, name := range fileNames {
		changes = append(changes, change{Path: "modules/" + r.Name + "/" + name, New: files[name]})
	}
	added, err := reg.added(r)
	if err != nil {
		return nil, unknownRegistry(err, "add", r)
	}
	changes = append(changes, change{Path: registryPath, Old: reg.source, New: added})
	return t.withDocs(changes)
}

// unknownRegistry is the error of a registry that was rewritten, with what to do by hand.
func unknownRegistry(err error, verb string, r Resource) error {
	return fmt.Errorf("nothing was changed: %w. To go on, make it as it was, or %s these lines by hand:\n%s", err, verb, r.byHand())
}

// planUndo is the changes that take a resource back.
func (t *tree) planUndo(name string, force bool, problems *problems) ([]change, error) {
	dir := "modules/" + name
	source, err := os.ReadFile(t.path(dir + "/module.go"))
	if errors.Is(err, fs.ErrNotExist) {
		hint := ""
		if near := nearest(name, t.modules); near != "" {
			hint = "; did you mean " + near + "?"
		}
		problems.add("name %s: there is no %s/module.go to take back%s", show(name), dir, hint)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	args := declared(string(source), t.module)
	if args == nil || args[0] != name {
		problems.add("name %s: %s/module.go has no go:generate line that declares it, so this command has not made it; delete it by hand", show(name), dir)
		return nil, nil
	}
	mistakes := newProblems()
	r := declare(parseCommand(args, mistakes), t.module, t.hasUser(), mistakes)
	if len(mistakes.lines) > 0 {
		return nil, fmt.Errorf("%s/module.go: its go:generate line is not as it was written: %s", dir, strings.Join(mistakes.lines, "; "))
	}
	changes, edited, err := t.takeFiles(r)
	if err != nil {
		return nil, err
	}
	if len(edited) > 0 && !force {
		for _, path := range edited {
			problems.add("file %s: was edited, or added, since it was generated; --force takes it away all the same", path)
		}
		return nil, nil
	}
	registrySource, err := os.ReadFile(t.path(registryPath))
	if err != nil {
		return nil, err
	}
	reg, err := readRegistry(registrySource)
	if err != nil {
		return nil, unknownRegistry(err, "take away", r)
	}
	removed, err := reg.removed(r)
	if err != nil {
		return nil, unknownRegistry(err, "take away", r)
	}
	return t.withDocs(append(changes, change{Path: registryPath, Old: registrySource, New: removed}))
}

// takeFiles is the removal of every file of the module, and the names of those that are not as they were rendered.
func (t *tree) takeFiles(r Resource) (changes []change, edited []string, err error) {
	files, err := r.render()
	if err != nil {
		return nil, nil, err
	}
	err = filepath.WalkDir(t.path("modules/"+r.Name), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(t.root, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(relative)
		changes = append(changes, change{Path: name, Old: content})
		if want, known := files[strings.TrimPrefix(name, "modules/"+r.Name+"/")]; !known || !bytes.Equal(want, content) {
			edited = append(edited, name)
		}
		return nil
	})
	return changes, edited, err
}

// withDocs adds the documentation as it is after the changes.
func (t *tree) withDocs(changes []change) ([]change, error) {
	renewed, err := t.renew(t, changes)
	if err != nil {
		return nil, fmt.Errorf("nothing was changed: the documentation could not be made: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(renewed)) {
		old, err := os.ReadFile(t.path(name))
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(old, renewed[name]) {
			changes = append(changes, change{Path: name, Old: old, New: renewed[name]})
		}
	}
	return changes, nil
}

// document runs scripts/docs on a copy of the tree with the changes in it.
func document(t *tree, changes []change) (docs map[string][]byte, err error) {
	dir, err := os.MkdirTemp("", "generate-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := t.copySources(dir); err != nil {
		return nil, err
	}
	for _, c := range changes {
		target := filepath.Join(dir, filepath.FromSlash(c.Path))
		if c.New == nil {
			err = os.Remove(target)
		} else if err = os.MkdirAll(filepath.Dir(target), 0o755); err == nil {
			err = os.WriteFile(target, c.New, 0o644)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	out := filepath.Join(dir, "made")
	for _, step := range []struct {
		dir  string
		args []string
	}{
		{t.root, []string{"run", "example.com/ginseng/scripts/docs", "-dir", dir, "-out", out}},
	} {
		command := exec.Command("go", step.args...)
		command.Dir = step.dir
		if printed, err := command.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(step.args, " "), err, bytes.TrimSpace(printed))
		}
	}
	docs = map[string][]byte{}
	for _, name := range []string{swaggerPath, openAPIPath} {
		if docs[name], err = os.ReadFile(filepath.Join(out, path.Base(name))); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// unread are folders in the root, and node_modules anywhere, that hold no source of the project's, however large they are.
var unread = []string{".git", journalDir, "data", "tmp"}

// copySources copies what swag reads.
func (t *tree) copySources(to string) error {
	return filepath.WalkDir(t.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(t.root, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			if slices.Contains(unread, relative) || e.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" && relative != "go.mod" && relative != "go.sum" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
}
