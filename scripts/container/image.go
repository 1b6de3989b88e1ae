package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
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
	"time"
)

// maxImage is what the image may have, in bytes. If it has become much larger, see whether a library has come in that calls
// methods by name, such as text/template: then no method is left out of the binary. This shows it:
//
//	go build -ldflags=-dumpdep -o /dev/null . 2>&1 | grep ReflectMethod
const maxImage = 30e6

const (
	binary      = "usr/local/bin/ginseng"
	otherFolder = "some/other/folder"
)

// contents are the files of the image.
var contents = []string{"etc/passwd", "etc/ssl/certs/ca-certificates.crt", binary}

// decoys are files that must not get into an image, nor into the stage that compiles it.
var decoys = []string{
	".env", "production.env", ".git/config", "data/ginseng.db", "config/.env", "config/production.env", "internal/.git/HEAD",
	"modules/.env.local", "modules/user/ginseng.db", "modules/user/ginseng.db-wal", "docs/notes_test.go",
}

// copyTree copies what an image could be built from, and what is left out of it, with times of its own.
func copyTree(from, to string, modified time.Time) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch {
		case entry.IsDir() && slices.Contains([]string{".git", "data", "tmp", "scripts"}, name):
			return filepath.SkipDir
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case !entry.Type().IsRegular() || strings.HasSuffix(name, ".env"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, text, 0o644); err != nil {
			return err
		}
		return os.Chtimes(target, modified, modified)
	})
}

// prepare makes two folders to build from. One has secrets in it, where they are by mistake; the other has other times.
func (t *trial) prepare(context.Context) error {
	if err := copyTree(t.root, t.source("a"), time.Now()); err != nil {
		return err
	}
	if err := copyTree(t.root, t.source(otherFolder), time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)); err != nil {
		return err
	}
	for _, name := range decoys {
		name = filepath.Join(t.source("a"), name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte("SECRET="+t.canary+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) source(name string) string { return filepath.Join(t.work, name) }

// buildFrom builds an image, which clean removes, from a folder that prepare made.
func (t *trial) buildFrom(ctx context.Context, folder, image string, flags ...string) error {
	t.images = append(t.images, image)
	args := append([]string{"build", "--tag", image, "--build-arg", "VERSION=" + version, "--build-arg", "REVISION=" + revision}, flags...)
	_, err := t.run(ctx, append(args, t.source(folder))...)
	return err
}

func (t *trial) build(ctx context.Context) error { return t.buildFrom(ctx, "a", t.image) }

func (t *trial) inspect(ctx context.Context) error {
	out, err := t.run(ctx, "image", "inspect", t.image)
	if err != nil {
		return err
	}
	var images []struct {
		Size   int64
		Config struct {
			User         string
			Env          []string
			Labels       map[string]string
			Volumes      map[string]struct{}
			ExposedPorts map[string]struct{}
		}
	}
	if err := json.Unmarshal([]byte(out), &images); err != nil {
		return err
	}
	if len(images) != 1 {
		return fmt.Errorf("docker image inspect shows %d images", len(images))
	}
	image := images[0]
	t.say("the image has %.1f MB", float64(image.Size)/1e6)
	_, volume := image.Config.Volumes["/data"]
	_, port := image.Config.ExposedPorts["9000/tcp"]
	labels := image.Config.Labels
	switch {
	case image.Size > maxImage:
		return fmt.Errorf("that is more than %.0f MB", maxImage/1e6)
	case image.Config.User != "65532:65532", !volume, !port, !slices.Contains(image.Config.Env, "APP_ENV=production"):
		return fmt.Errorf("its configuration is %+v", image.Config)
	case labels["org.opencontainers.image.version"] != version, labels["org.opencontainers.image.revision"] != revision:
		return fmt.Errorf("its labels are %v", labels)
	}
	out, err = t.run(ctx, "run", "--rm", t.image, "version")
	if err == nil && out != "ginseng "+version {
		err = fmt.Errorf("its version is %q", out)
	}
	return err
}

// search looks at every file of every layer, and at what the image says of itself.
func (t *trial) search(ctx context.Context) error {
	files, all, err := t.saved(ctx, t.image)
	if err != nil {
		return err
	}
	if names := slices.Sorted(maps.Keys(files)); !slices.Equal(names, contents) {
		return fmt.Errorf("its files are %q", names)
	}
	if !bytes.Contains(all, []byte(version)) {
		return errors.New("the search does not even find the version")
	}
	if bytes.Contains(all, []byte(t.canary)) {
		return errors.New("a layer has a secret that lay beside the source")
	}
	builder := t.name + ":builder"
	if err := t.buildFrom(ctx, "a", builder, "--target", "build"); err != nil {
		return err
	}
	out, err := t.run(ctx, "run", "--rm", "--network", "none", builder, "sh", "-c", "grep -rl -e "+t.canary+" -e '^go 1' . || test $? = 1")
	if err == nil && out != "./go.mod" {
		err = fmt.Errorf("the stage that compiles has a secret, or not go.mod: %s", out)
	}
	return err
}

// saved reads an image as it would be given away: the files of its layers, and all bytes, uncompressed.
func (t *trial) saved(ctx context.Context, image string) (files map[string][]byte, all []byte, err error) {
	cmd := exec.CommandContext(ctx, t.docker, "save", image)
	out, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("docker save: %w", err)
	}
	entries, err := untar(out)
	if err != nil {
		return nil, nil, err
	}
	files = map[string][]byte{}
	for _, entry := range entries {
		if unzipped, err := gzip.NewReader(bytes.NewReader(entry)); err == nil {
			if entry, err = io.ReadAll(unzipped); err != nil {
				return nil, nil, err
			}
		}
		all = append(all, entry...)
		if layer, err := untar(entry); err == nil { // else it is no layer
			maps.Copy(files, layer)
		}
	}
	return files, all, nil
}

// untar returns the files of an archive.
func untar(archive []byte) (map[string][]byte, error) {
	files := map[string][]byte{}
	reader := tar.NewReader(bytes.NewReader(archive))
	for {
		header, err := reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			return files, nil
		case err != nil:
			return nil, err
		case header.Typeflag == tar.TypeDir:
			continue
		}
		if files[header.Name], err = io.ReadAll(reader); err != nil {
			return nil, err
		}
	}
}

// rebuild compiles once more, in a folder with other times: with make on this machine, which has a cache of its own, or, if
// its Go is another, in a new image that takes nothing from the first. It gives the same bytes.
func (t *trial) rebuild(ctx context.Context) error {
	files, _, err := t.saved(ctx, t.image)
	if err != nil {
		return err
	}
	first := files[binary]
	t.say("the binary's hash is %x", sha256.Sum256(first))
	info, err := buildinfo.Read(bytes.NewReader(first))
	if err != nil {
		return err
	}
	folder := t.source(otherFolder)
	here, err := exec.CommandContext(ctx, "go", "-C", folder, "env", "GOVERSION").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	var second []byte
	if strings.TrimSpace(string(here)) == info.GoVersion {
		second, err = t.make(ctx, folder, info)
	} else {
		again := t.name + ":again"
		if err := t.buildFrom(ctx, otherFolder, again, "--no-cache"); err != nil {
			return err
		}
		files, _, err = t.saved(ctx, again)
		second = files[binary]
	}
	if err == nil && !bytes.Equal(first, second) {
		err = fmt.Errorf("another build gives %x", sha256.Sum256(second))
	}
	return err
}

// make builds with make, for the processor of the image.
func (t *trial) make(ctx context.Context, folder string, info *buildinfo.BuildInfo) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "make", "-C", folder, "build", "VERSION="+version)
	cmd.Env = os.Environ()
	for _, setting := range info.Settings {
		if strings.HasPrefix(setting.Key, "GO") {
			cmd.Env = append(cmd.Env, setting.Key+"="+setting.Value)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make build: %w\n%s", err, out)
	}
	return os.ReadFile(filepath.Join(folder, "ginseng"))
}

// cross builds the image for another processor.
func (t *trial) cross(ctx context.Context) error {
	image := t.name + ":arm64"
	if err := t.buildFrom(ctx, "a", image, "--platform", "linux/arm64"); err != nil {
		return err
	}
	architecture, err := t.run(ctx, "image", "inspect", "--format", "{{.Os}}/{{.Architecture}}", image)
	if err != nil || architecture != "linux/arm64" {
		return errors.Join(err, fmt.Errorf("it is for %q", architecture))
	}
	files, _, err := t.saved(ctx, image)
	if err != nil {
		return err
	}
	program, err := elf.NewFile(bytes.NewReader(files[binary]))
	if err != nil {
		return err
	}
	if program.Machine != elf.EM_AARCH64 {
		return fmt.Errorf("its binary is for %s", program.Machine)
	}
	return nil
}
