package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ginseng/scripts/internal/collections"
	"example.com/ginseng/scripts/internal/files"
	"example.com/ginseng/scripts/internal/registry"
)

// project is an existing project.
type project struct {
	answers
	dir    string
	commit string // HEAD before the change
}

// openProject opens the project in dir. First, it undoes the changes of a run that was killed. It fails if the git repository has
// uncommitted changes.
func openProject(ctx context.Context, dir string) (p project, err error) {
	if p.dir, err = filepath.Abs(dir); err != nil {
		return p, err
	}
	if err := files.Restore(p.dir); err != nil {
		return p, err
	}
	raw, err := os.ReadFile(filepath.Join(p.dir, answersFile))
	if err != nil {
		return p, mistakes{fmt.Sprintf("%s is not a project: %v", dir, err)}
	}
	if err := json.Unmarshal(raw, &p.answers); err != nil {
		return p, fmt.Errorf("%s: %w", answersFile, err)
	}
	if err := files.CheckClean(ctx, p.dir); err != nil {
		return p, err
	}
	p.commit, err = files.Run(ctx, p.dir, "git", "rev-parse", "--short", "HEAD")
	return p, err
}

// change adds or removes components. It renders the unmodified project with the old and with the new components, and merges the
// difference into the project. It edits the registry of the project directly.
func (c cli) change(ctx context.Context, r request) error {
	p, err := openProject(ctx, r.dir)
	if err != nil {
		return err
	}
	chosen, err := c.changedAnswers(p.answers, r)
	if err != nil {
		return err
	}
	s, err := readSource(ctx, p.dir, p.Runtime)
	if err != nil {
		return err
	}
	s.runtime = p.Runtime
	before, err := s.pristine(ctx, p.answers)
	if err != nil {
		return err
	}
	after, err := s.pristine(ctx, chosen)
	if err != nil {
		return err
	}
	own, err := files.Read(p.dir, func(name string) bool {
		parts := strings.Split(name, "/")
		component := componentOf(parts[min(1, len(parts)-1)])
		return name == registry.Path || parts[0] == "modules" && p.has(component) && !chosen.has(component)
	})
	if err != nil {
		return err
	}
	maps.Copy(before, own) // so that the files of a removed component are deleted even if they were edited
	modules := own[registry.Path]
	if bytes.Contains(after[registry.Path], ownedArticles) {
		modules = bytes.Replace(modules, plainArticles, ownedArticles, 1)
	} else {
		modules = bytes.Replace(modules, ownedArticles, plainArticles, 1)
	}
	kept, err := registry.Keep(modules, chosen.keeps)
	if err == nil {
		after[registry.Path], err = registry.Merge(kept, after[registry.Path])
	}
	if err != nil {
		return fmt.Errorf("%w; change that code first", err)
	}
	stay, err := p.collectionsOf(own)
	if err != nil {
		return err
	}
	err = c.merge(ctx, p, before, after, r, strings.ToUpper(r.command[:1])+r.command[1:]+" "+strings.Join(r.components, ", "))
	if err == nil {
		c.printf("%s", collections.Stay(stay...))
	}
	return err
}

// collectionsOf returns the collections that the modules of removed files declare, sorted.
func (p project) collectionsOf(removed files.Tree) ([]string, error) {
	found := map[string]bool{}
	for name := range removed {
		if name == registry.Path {
			continue
		}
		declared, err := collections.In(filepath.Join(p.dir, filepath.FromSlash(path.Dir(name))))
		if err != nil {
			return nil, err
		}
		for collection := range declared {
			found[collection] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// changedAnswers returns the answers of a project after add or remove.
func (c cli) changedAnswers(a answers, r request) (answers, error) {
	var wrong mistakes
	after := a
	for _, name := range r.components {
		if a.has(name) && r.command == commandAdd {
			wrong.Add("the project already has %s", name)
		} else if !a.has(name) && r.command == commandRemove {
			wrong.Add("the project does not have %s", name)
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
		for _, name := range r.components {
			if others := needing(name, after.Components); others != nil {
				wrong.Add("%s is needed by %s; to remove all: new remove %s %s", name, strings.Join(others, ", "), strings.Join(r.components, " "), strings.Join(others, " "))
			}
		}
	}
	if !after.has("social") {
		after.Providers = nil
	} else if !a.has("social") {
		after.Providers = providers
	}
	return after, wrong.Err()
}

// merge merges the difference between the trees before and after into the project, as one commit. It creates a commit of before
// and a child commit of after, and cherry-picks the child. If files conflict, the error says how to continue, and the cherry-pick
// stays in progress.
func (c cli) merge(ctx context.Context, p project, before, after files.Tree, r request, message string) error {
	base, result, err := files.Commits(ctx, p.dir, before, after, message)
	switch {
	case err != nil:
		return err
	case base == result:
		c.printf("The project is up to date.\n")
		return nil
	case r.dryRun:
		return c.show(ctx, p, base, result)
	}
	if err := files.CherryPick(ctx, p.dir, result); err != nil {
		return err
	}
	unfinished := finish(ctx, p.dir)
	if err := p.addSecrets(); err != nil {
		return err
	}
	for _, args := range [][]string{{"add", "--all", "."}, {"commit", "--amend", "--no-edit"}} {
		if _, err := files.Run(ctx, p.dir, "git", args...); err != nil {
			return err
		}
	}
	if unfinished != nil {
		return fmt.Errorf("%w\nThe change is committed. Fix the error and run make docs, or undo the change with: git reset --hard %s", unfinished, p.commit)
	}
	c.printf("Committed: %s. Test the project with: make test\n", message)
	return nil
}

// addSecrets writes the secrets that .env lacks.
func (p project) addSecrets() error {
	file := filepath.Join(p.dir, envFile)
	example, err := os.ReadFile(file + ".example")
	if err != nil {
		return err
	}
	env, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(file, addSecrets(env, example), 0o600)
}

// show prints the names of added and deleted files, and the differences of changed files.
func (c cli) show(ctx context.Context, p project, base, result string) error {
	for _, args := range [][]string{{"--name-status", "--diff-filter=AD"}, {"--diff-filter=M"}} {
		args = append([]string{"diff", "--no-renames"}, append(args, base, result, "--", ".", ":(exclude)third_party")...)
		out, err := files.Run(ctx, p.dir, "git", args...)
		if err != nil {
			return err
		}
		c.printf("%s\n", out)
	}
	c.printf("go.mod, go.sum, .env.example and docs are generated; nothing was written\n")
	return nil
}
