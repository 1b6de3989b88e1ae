package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ginseng/scripts/internal/files"
	"example.com/ginseng/scripts/internal/registry"
)

// project is an existing project.
type project struct {
	answers
	dir string
}

// openProject opens the project in dir. It returns an error unless the git tree is clean.
func openProject(ctx context.Context, dir string) (p project, err error) {
	if p.dir, err = filepath.Abs(dir); err != nil {
		return p, err
	}
	raw, err := os.ReadFile(filepath.Join(p.dir, answersFile))
	if err != nil {
		return p, mistakes{fmt.Sprintf("%s is not a project: %v", dir, err)}
	}
	if err := json.Unmarshal(raw, &p.answers); err != nil {
		return p, fmt.Errorf("%s: %w", answersFile, err)
	}
	status, err := files.Run(ctx, p.dir, "git", "status", "--porcelain")
	if err == nil && status != "" {
		err = fmt.Errorf("commit or stash your changes first:\n%s", status)
	}
	return p, err
}

// change adds or removes components. The changes are staged.
func (c cli) change(ctx context.Context, r request) error {
	p, err := openProject(ctx, r.dir)
	if err != nil {
		return err
	}
	after, err := c.changed(p.answers, r)
	if err != nil {
		return err
	}
	s, err := readSource(ctx, p.dir, p.Runtime)
	if err != nil {
		return err
	}
	s.runtime = p.Runtime
	removed, written, err := c.plan(ctx, s, p, after)
	if err != nil {
		return err
	}
	i, err := files.NewIndex(ctx, p.dir)
	if err != nil {
		return err
	}
	defer i.Close()
	id, err := i.Replace(removed, written)
	if err != nil {
		return err
	}
	if r.dryRun {
		return c.show(ctx, p, "HEAD", id)
	}
	if _, err := files.Run(ctx, p.dir, "git", "read-tree", "-m", "-u", "HEAD", id); err != nil {
		return err
	}
	if err := finish(ctx, p.dir); err != nil {
		return fmt.Errorf("%w\nThe changes are staged. Fix the error and run make docs, or undo the changes with: git reset --hard", err)
	}
	if err := addSecrets(p.dir); err != nil {
		return err
	}
	_, err = files.Run(ctx, p.dir, "git", "add", "--all", ".")
	c.printf("The changes are staged; test them with: go test ./...\n")
	return err
}

// changed returns the answers after add or remove.
func (c cli) changed(a answers, r request) (answers, error) {
	var wrong mistakes
	after := a
	for _, name := range r.components {
		if a.has(name) && r.command == commandAdd {
			wrong.add("the project already has %s", name)
		} else if !a.has(name) && r.command == commandRemove {
			wrong.add("the project does not have %s", name)
		}
	}
	if r.command == commandAdd {
		var extra []string
		after.Components, extra = withNeeds(append(slices.Clone(a.Components), r.components...))
		if extra != nil {
			c.printf("%s is added because other components need it.\n", strings.Join(extra, ", "))
		}
	} else {
		after.Components = slices.DeleteFunc(slices.Clone(a.Components), func(name string) bool { return slices.Contains(r.components, name) })
		if _, missing := withNeeds(after.Components); missing != nil {
			wrong.add("other components need %s; remove them too", strings.Join(missing, ", "))
		}
	}
	if !after.has("social") {
		after.Providers = nil
	} else if !a.has("social") {
		after.Providers = providers
	}
	return after, wrong.orNil()
}

// plan returns the files to remove and to write. Edited files are kept, except in the directories of removed components.
func (c cli) plan(ctx context.Context, s source, p project, after answers) (removed, written files.Tree, err error) {
	old, err := s.pristine(ctx, p.answers)
	if err != nil {
		return nil, nil, err
	}
	next, err := s.pristine(ctx, after)
	if err != nil {
		return nil, nil, err
	}
	removed, err = files.Read(p.dir, func(name string) bool {
		parts := strings.Split(name, "/")
		component := ""
		if parts[0] == "modules" {
			component = componentOf(parts[1])
		}
		return component != "" && p.has(component) && !after.has(component)
	})
	if err != nil {
		return nil, nil, err
	}
	written = files.Tree{}
	for name, data := range next {
		have, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
		_, known := old[name]
		switch {
		case bytes.Equal(data, old[name]), name == registry.Path:
		case err == nil && !known:
			return nil, nil, fmt.Errorf("%s already exists; move it first", name)
		case !bytes.Equal(have, old[name]):
			c.printf("%s was edited and is not changed\n", name)
		default:
			written[name] = data
		}
	}
	for name, data := range old {
		have, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
		if _, ok := next[name]; !ok && err == nil && bytes.Equal(have, data) {
			removed[name] = have
		}
	}
	own, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(registry.Path)))
	if err == nil {
		own, err = registry.Keep(own, after.keeps)
	}
	if err == nil {
		written[registry.Path], err = registry.Merge(own, next[registry.Path])
	}
	return removed, written, err
}

// show prints the names of added and deleted files, and the differences of the others.
func (c cli) show(ctx context.Context, p project, from, to string) error {
	for _, args := range [][]string{{"--name-status", "--diff-filter=AD"}, {"--diff-filter=M"}} {
		args = append([]string{"diff", "--no-renames"}, append(args, from, to, "--", ".", ":(exclude)third_party")...)
		out, err := files.Run(ctx, p.dir, "git", args...)
		if err != nil {
			return err
		}
		c.printf("%s\n", out)
	}
	c.printf("go.mod, go.sum, .env.example and docs are generated; nothing was written\n")
	return nil
}
