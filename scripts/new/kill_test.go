package main

import (
	"bytes"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/scripts/internal/command"
	"example.com/ginseng/scripts/internal/files"
)

var kills = flag.Int("kills", 1, "how often TestKilled kills the command for each kind of directory")

// TestMain runs the command instead of the tests in a process that TestKilled started.
func TestMain(m *testing.M) {
	if os.Getenv("GINSENG_NEW") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestKilled kills the command at random moments, every second time soon after it begins to write. The directory has the whole
// project or nothing of it. After the next run, it has the project, and its parent directory has no other files.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the command six times; make test-all runs it")
	}
	t.Run("missing", func(t *testing.T) { killNew(t, nil) })
	t.Run("with files", func(t *testing.T) {
		killNew(t, files.Tree{"LICENSE": []byte("MIT\n"), ".gitignore": []byte("*.log\n")})
	})
}

// killNew kills the command for a directory with existing files.
func killNew(t *testing.T, existing files.Tree) {
	parent, temporary := t.TempDir(), t.TempDir()
	dir, counts := filepath.Join(parent, "shop"), map[string]int{}
	var printed bytes.Buffer // by the last command
	start := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0], "shop", "--dir", dir)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GINSENG_NEW=1", "TMPDIR="+temporary)
		printed.Reset()
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &printed, &printed, time.Second // a killed command's children keep its output open
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	run := func() int {
		cmd := start()
		_ = cmd.Wait() // ProcessState has the result
		return cmd.ProcessState.ExitCode()
	}
	below := func() files.Tree { // without the secrets, which are random
		all := filesOf(t, parent)
		delete(all, "shop/.env")
		return all
	}
	write(t, dir, existing)
	begun := time.Now()
	if code := run(); code != command.ExitOK {
		t.Fatalf("exit code %d: %s", code, &printed)
	}
	project, took := below(), time.Since(begun)
	for i := range *kills {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		write(t, dir, existing)
		if cmd := start(); i%2 == 0 {
			kill(cmd, took/20, func() bool { return writes(parent) })
		} else {
			kill(cmd, took, func() bool { return true })
		}
		now := below()
		beside := files.Tree{}
		maps.Copy(beside, now)
		maps.DeleteFunc(beside, func(name string, _ []byte) bool { return strings.HasPrefix(name, "shop/") })
		maps.DeleteFunc(now, func(name string, _ []byte) bool { return !strings.HasPrefix(name, "shop/") })
		switch {
		case now["shop/.ginseng-undo.json"] != nil:
			counts["in the directory, to be undone"]++
		case len(beside) > 0 && len(now) == len(existing):
			counts["beside the directory"]++
		case len(now) == len(existing):
			counts["before"]++
		case maps.EqualFunc(now, project, bytes.Equal):
			counts["after"]++
		default:
			t.Errorf("killed, and the directory has %d files", len(now))
		}
		if code := run(); code != command.ExitOK && code != command.ExitUsage || !maps.EqualFunc(below(), project, bytes.Equal) {
			t.Fatalf("run again: exit code %d, and not the files of a new project, but %q after %q: %s", code, slices.Sorted(maps.Keys(below())), slices.Sorted(maps.Keys(now)), &printed)
		}
	}
	t.Logf("%v", counts)
}

// writes reports whether the command has begun to write below parent.
func writes(parent string) bool {
	for _, pattern := range []string{".*", "shop/.ginseng-undo.json", "shop/main.go"} {
		if found, _ := filepath.Glob(filepath.Join(parent, pattern)); found != nil {
			return true
		}
	}
	return false
}

// kill waits until begun returns true, kills the process after a random time up to limit, and waits until it has ended.
func kill(cmd *exec.Cmd, limit time.Duration, begun func() bool) {
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	for !begun() {
		select {
		case <-ended:
			return
		default:
		}
	}
	select {
	case <-ended:
	case <-time.After(rand.N(limit)):
		_ = cmd.Process.Kill()
		<-ended
	}
}
