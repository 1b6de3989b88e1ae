package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The environment of a process that TestChild is: the project it works in, and the step at which it is killed.
const (
	childDir  = "GENERATE_TEST_DIR"
	childStep = "GENERATE_TEST_STEP"
	childArgs = "GENERATE_TEST_ARGS"
	killed    = 9
)

// TestChild is the process that other tests start, and kill; by itself it does nothing.
func TestChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("only for other tests")
	}
	last, err := strconv.Atoi(os.Getenv(childStep))
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	c := cli{dir: dir, in: strings.NewReader(""), out: os.Stdout, err: os.Stderr, renew: names, step: func() error {
		if steps++; steps == last {
			os.Exit(killed) // no deferred call runs, as after a SIGKILL
		}
		return nil
	}}
	os.Exit(c.run(strings.Fields(os.Getenv(childArgs))))
}

// child runs the command in a process of its own, which is a test of this binary, and returns its exit code.
func child(t *testing.T, dir string, step int, args, test string) (code int, printed string) {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^"+test+"$")
	command.Env = append(os.Environ(), childDir+"="+dir, childStep+"="+fmt.Sprint(step), childArgs+"="+args)
	out, err := command.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), string(out)
}

// TestKilled kills the process at each of its steps. The next call, whatever it is, finds the old tree or the new one, or
// makes it so.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each step")
	}
	t.Parallel()
	for _, undo := range []bool{false, true} {
		t.Run(fmt.Sprint("undo ", undo), func(t *testing.T) {
			t.Parallel()
			olds, news := 0, 0
			for step := 1; ; step++ {
				dir := project(t)
				other := files(t, dir)
				if got := call(dir, "note", "text"); got.code != 0 {
					t.Fatalf("%+v", got)
				}
				before, after, args := other, files(t, dir), "note text"
				if undo {
					before, after, args = after, before, "--undo note"
				} else if got := call(dir, "--undo", "note"); got.code != 0 {
					t.Fatalf("%+v", got)
				}
				code, printed := child(t, dir, step, args, "TestChild")
				if code != killed {
					if code != 0 || !same(files(t, dir), after) {
						t.Errorf("not killed: %d\n%s", code, printed)
					}
					break
				}
				if got := call(dir, "../x"); got.code != exitUsage {
					t.Errorf("the next call: %+v", got)
				}
				switch now := files(t, dir); {
				case same(now, before):
					olds++
				case same(now, after):
					news++
				default:
					t.Errorf("killed at step %d, the tree is neither the old nor the new one", step)
				}
			}
			if olds < 3 || news < 10 {
				t.Errorf("%d times the old tree, %d times the new one", olds, news)
			}
		})
	}
}

// TestFailing has each step fail, as on a full disk: before the plan counts nothing changes, afterwards any call completes
// it.
func TestFailing(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	for last := 1; ; last++ {
		dir := project(t)
		before := files(t, dir)
		steps := 0
		got := callWith(cli{dir: dir, step: func() error {
			if steps++; steps == last {
				return full
			}
			return nil
		}}, "note", "text")
		if steps < last {
			if got.code != 0 {
				t.Errorf("%+v", got)
			}
			break
		}
		now := files(t, dir)
		switch {
		case got.code != exitFailed || !strings.Contains(got.err, full.Error()):
			t.Errorf("step %d: %+v", last, got)
		case strings.Contains(got.err, "nothing was changed"):
			if !same(now, before) {
				t.Errorf("step %d: something was changed", last)
			}
		case strings.Contains(got.err, "any call of generate completes it"):
			next := call(dir, "note", "text")
			if next.code != exitUsage || !strings.Contains(next.out, "generate: ") || !strings.Contains(next.err, "is there already") {
				t.Errorf("step %d: the next call: %+v", last, next)
			}
			if _, err := os.Stat(filepath.Join(dir, journalDir)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("step %d: %s is left", last, journalDir)
			}
		default:
			t.Errorf("step %d: %s", last, got.err)
		}
	}
}

// TestMeanwhile has somebody write a file after the plan was made.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	dir := project(t)
	path := filepath.Join(dir, registryPath)
	theirs := read(t, path) + "\n// theirs\n"
	got := callWith(cli{dir: dir, step: func() error { put(t, path, theirs); return nil }}, "note", "text")
	if got.code != exitFailed || !strings.Contains(got.err, "nothing was changed: modules/modules.go has changed meanwhile; call again") {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "modules", "note")); !errors.Is(err, os.ErrNotExist) || read(t, path) != theirs {
		t.Error("something was written")
	}
}
