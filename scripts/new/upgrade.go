package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"example.com/ginseng/scripts/internal/files"
)

// upgrade renders the unmodified project with the old and with the new version of Ginseng, and merges the difference into the
// project. The difference includes the copy of the runtime, or the version of the runtime in go.mod. Before, it rewrites code that
// uses the API of an earlier version.
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
	old, err := readSource(ctx, p.dir, p.Runtime)
	if err != nil {
		return err
	}
	old.runtime = p.Runtime
	u, err := p.planUpgrade(ctx, old, next)
	if err != nil {
		return err
	}
	for _, note := range u.notes {
		c.printf("%s\n", note)
	}
	if err := c.rewrite(ctx, p, u, r); err != nil {
		return err
	}
	err = c.merge(ctx, p, u.before, u.after, r, "Upgrade Ginseng to "+next.runtime.Version)
	if r.dryRun || errors.As(err, new(files.Conflict)) {
		return err
	}
	return c.reportLeft(ctx, p, err)
}

// delegate runs the upgrade command of the new version, because only that version can render its template.
func (c cli) delegate(ctx context.Context, p project, next source, dryRun bool) error {
	cmd := exec.CommandContext(ctx, "go", "run", "./scripts/new", commandUpgrade, "--dir", p.dir, "--runtime",
		next.runtime.Path+"@"+next.runtime.Version, fmt.Sprintf("--dry-run=%v", dryRun))
	cmd.Dir, cmd.Stdout, cmd.Stderr = next.dir, c.out, c.err
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	return cmd.Run()
}

// checkCopy fails if files of the project's copy of the runtime were edited, added or deleted. The error names these files.
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
