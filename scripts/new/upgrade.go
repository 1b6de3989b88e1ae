package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"example.com/ginseng/scripts/internal/files"
)

// upgrade merges the changes of a newer template into a project: it creates a commit of the old pristine template and,
// as its child, one of the new, and cherry-picks the latter.
func (c cli) upgrade(ctx context.Context, r request) error {
	p, err := openProject(ctx, r.dir)
	if err != nil {
		return err
	}
	if r.Runtime.Path == "" && p.Runtime.Path != "" {
		r.Runtime = runtime{Path: p.Runtime.Path, Version: "latest"}
	}
	if err := p.checkCopy(); err != nil {
		return err
	}
	next, err := readSource(ctx, ".", r.Runtime)
	if err != nil {
		return err
	}
	if next.dir == filepath.Join(p.dir, filepath.FromSlash(runtimeDir)) {
		return mistakes{"run upgrade in a checkout of the newer Ginseng, with --dir PROJECT; or name the new version with --runtime"}
	}
	if running, err := files.Run(ctx, ".", "go", "list", "-m", "-f", "{{.Dir}}", modulePath); r.Runtime.Path != "" && (err != nil || running != next.dir) {
		return c.delegate(ctx, p, next, r.dryRun)
	}
	base, result, err := p.commits(ctx, next)
	switch {
	case err != nil:
		return err
	case base == result:
		c.printf("The project is up to date.\n")
		return nil
	case r.dryRun:
		return c.show(ctx, p, base, result)
	}
	if _, err := files.Run(ctx, p.dir, "git", "-c", "merge.directoryRenames=false", "cherry-pick", "-Xno-renames", result); err != nil {
		conflicts, diffErr := files.Run(ctx, p.dir, "git", "diff", "--name-only", "--diff-filter=U")
		if diffErr != nil || conflicts == "" {
			return err
		}
		return fmt.Errorf("you and the template changed the same lines of:\n%s\nResolve the conflicts (git mergetool), then run:\n"+
			"  git cherry-pick --continue\n  go mod tidy\n  make docs\nor cancel the upgrade with:\n  git cherry-pick --abort", conflicts)
	}
	if err := finish(ctx, p.dir); err != nil {
		return fmt.Errorf("%w\nThe upgrade is committed. Fix the error and run make docs, or undo the upgrade with: git reset --hard HEAD~1", err)
	}
	for _, args := range [][]string{{"add", "--all", "."}, {"commit", "--amend", "--no-edit"}} {
		if _, err := files.Run(ctx, p.dir, "git", args...); err != nil {
			return err
		}
	}
	c.printf("Upgraded in one commit. The runtime is %s. Test the project with: go test ./...\n", next.runtime)
	return nil
}

// delegate runs the new version's own command, because it knows the new template.
func (c cli) delegate(ctx context.Context, p project, next source, dryRun bool) error {
	cmd := exec.CommandContext(ctx, "go", "run", "./scripts/new", commandUpgrade, "--dir", p.dir, "--runtime",
		next.runtime.Path+"@"+next.runtime.Version, fmt.Sprintf("--dry-run=%v", dryRun))
	cmd.Dir, cmd.Stdout, cmd.Stderr = next.dir, c.out, c.err
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	return cmd.Run()
}

// checkCopy returns an error that names the files of the runtime's copy that were edited, added or deleted.
func (p project) checkCopy() error {
	if p.Runtime.Path != "" {
		return nil
	}
	recorded, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(sumFile)))
	if err != nil {
		return err
	}
	if fmt.Sprintf("%x", sha256.Sum256(recorded)) != p.Runtime.Checksum {
		return fmt.Errorf("%s was edited: its checksum differs from that in %s", sumFile, answersFile)
	}
	have, err := files.Read(filepath.Join(p.dir, filepath.FromSlash(runtimeDir)), func(string) bool { return true })
	if err != nil {
		return err
	}
	if changed := files.Changed(recorded, have.Sums(path.Base(runtimeDir))); changed != nil {
		return fmt.Errorf("the copy of the runtime in third_party was edited. Move your changes to the project's own packages, and restore:\n%s",
			strings.Join(changed, "\n"))
	}
	return nil
}

// commits returns a commit of the old pristine template and, as its child, one of the new. Both have the project's other
// files as HEAD has them. They are the same if nothing changed.
func (p project) commits(ctx context.Context, next source) (base, result string, err error) {
	old, err := readSource(ctx, p.dir, p.Runtime)
	if err != nil {
		return "", "", err
	}
	old.runtime = p.Runtime
	before, err := old.pristine(ctx, p.answers)
	if err != nil {
		return "", "", err
	}
	after, err := next.pristine(ctx, p.answers)
	if err != nil {
		return "", "", err
	}
	before, after = old.withRuntime(before), next.withRuntime(after)
	if before["go.mod"], err = os.ReadFile(filepath.Join(p.dir, "go.mod")); err != nil {
		return "", "", err
	}
	if after["go.mod"], err = next.goMod(before["go.mod"]); err != nil {
		return "", "", err
	}
	i, err := files.NewIndex(ctx, p.dir)
	if err != nil {
		return "", "", err
	}
	defer i.Close()
	first, err := i.Replace(nil, before)
	if err != nil {
		return "", "", err
	}
	second, err := i.Replace(before, after)
	if err != nil {
		return "", "", err
	}
	if base, err = i.Git("commit-tree", first, "-m", "Ginseng "+old.runtime.Version); err != nil || first == second {
		return base, base, err
	}
	result, err = i.Git("commit-tree", second, "-p", base, "-m", "Upgrade Ginseng to "+next.runtime.Version)
	return base, result, err
}
