package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// compose starts the image and its volume with deploy/compose/embedded.yaml, tries it, and takes all of it away.
func (t *trial) compose(ctx context.Context) (err error) {
	command := t.composeCommand(ctx)
	if command == nil {
		t.say("*** NOT TRIED: neither docker compose nor docker-compose is there ***")
		return nil
	}
	folder := t.source("a")
	settings := filepath.Join(folder, "production.env")
	text := "MASTER_KEY=" + t.masterKey + "\nJWT_SECRET=" + t.masterKey[1:] + "x\n"
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return err
	}
	file := filepath.Join(folder, "deploy/compose/embedded.yaml")
	if strings.HasSuffix(command[0], "docker-compose") { // the old one, whose files have no name
		if err := withoutName(file); err != nil {
			return err
		}
	}
	project := t.name + "-compose"
	run := func(ctx context.Context, args ...string) (string, error) {
		args = append(append(command[1:len(command):len(command)], "--project-name", project, "--env-file", settings, "--file", file), args...)
		cmd := exec.CommandContext(ctx, command[0], args...)
		cmd.Env = append(os.Environ(), "IMAGE="+t.image, "PUBLISH=127.0.0.1:0")
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(exit.Stderr))
		}
		return strings.TrimSpace(string(out)), err
	}
	defer func() {
		_, downErr := run(context.WithoutCancel(ctx), "down", "--volumes")
		err = errors.Join(err, downErr)
	}()
	if _, err := run(ctx, "up", "--detach", "--no-build"); err != nil {
		return err
	}
	id, err := run(ctx, "ps", "--quiet", "service")
	if err != nil {
		return err
	}
	began := *t
	defer func() { t.name, t.base, t.token = began.name, began.base, began.token }()
	t.name = id
	if err := t.awaitHealth(ctx); err != nil {
		return err
	}
	return t.use(ctx)
}

// composeCommand is Docker Compose, as a plugin of the client or by itself; nil if there is none.
func (t *trial) composeCommand(ctx context.Context) []string {
	for _, command := range [][]string{{t.docker, "compose"}, {"docker-compose"}} {
		if exec.CommandContext(ctx, command[0], append(command[1:], "version")...).Run() == nil {
			return command
		}
	}
	return nil
}

func withoutName(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, bytes.Replace(text, []byte("\nname: ginseng\n"), []byte("\n"), 1), 0o644)
}
