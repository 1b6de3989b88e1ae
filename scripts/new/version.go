package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// current is the template as it is in its folder now.
func current(ctx context.Context, root string) (template, error) {
	files, err := readTree(ctx, root)
	if err != nil {
		return template{}, err
	}
	t := template{files: files, version: "unknown"}
	if version, err := git(ctx, root, "describe", "--tags", "--always", "--dirty"); err == nil {
		t.version = strings.TrimSpace(version)
	}
	if commit, err := git(ctx, root, "rev-parse", "HEAD"); err == nil {
		t.commit = strings.TrimSpace(commit)
	}
	return t, nil
}

// digest is of all that a project can be made of: two states with the same digest make the same projects.
func (t template) digest() string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		if isOwn(name) {
			continue
		}
		e := t.files[name]
		fmt.Fprintf(sum, "%q %o %d\n", name, e.mode, len(e.text))
		sum.Write(e.text)
	}
	return hex.EncodeToString(sum.Sum(nil))[:32]
}

// isOwn reports whether a file is the template's own, which no project has.
func isOwn(name string) bool {
	return slices.ContainsFunc(rooms, func(r room) bool {
		return slices.Contains(r.needs, never) && (name == r.path || strings.HasPrefix(name, r.path+"/"))
	})
}

// was is the template of which a project was made: the one that is there now, if it is the same, or that of the commit.
func was(ctx context.Context, root string, now template, r recordedTemplate) (t template, note string, err error) {
	if r.Digest == now.digest() {
		return template{now.files, r.Version, r.Commit}, "", nil
	}
	if r.Commit == "" {
		return t, "", fmt.Errorf("the project's %s names no commit of the template, and the template has changed since (%s then, %s now): check out in %s what it was made of",
			recordName, r.Version, now.version, root)
	}
	archive, err := git(ctx, root, "archive", "--format=tar", r.Commit)
	if err != nil {
		return t, "", fmt.Errorf("the project was made of the template's commit %s (%s), which is not in the repository of %s: fetch it (git fetch --unshallow, or git fetch --all), and try again",
			r.Commit, r.Version, root)
	}
	t = template{tree{}, r.Version, r.Commit}
	for reader := tar.NewReader(strings.NewReader(archive)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return t, "", err
		}
		if header.Typeflag != tar.TypeReg || private(header.Name) {
			continue
		}
		var text bytes.Buffer
		if _, err := io.Copy(&text, reader); err != nil {
			return t, "", err
		}
		t.files[header.Name] = entry{text.Bytes(), mode(header.FileInfo().Mode())}
	}
	if t.digest() != r.Digest {
		note = "The project was made of " + r.Version + ", which had changes that no commit has: what they were counts as the project's own."
	}
	return t, note, nil
}
