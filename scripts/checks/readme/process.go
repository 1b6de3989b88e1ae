//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The program's patience.
const (
	startTime = 5 * time.Minute // go run builds first
	printTime = 30 * time.Second
	stopTime  = 45 * time.Second
)

// shell is a POSIX shell that takes one command after another.
type shell struct {
	cmd            *exec.Cmd
	stdin          io.WriteCloser
	codes          *bufio.Reader // the exit code of each command, a line each
	stdout, stderr string        // files with what the last command printed
}

func newShell(ctx context.Context, dir, temporary string, env []string) (*shell, error) {
	s := &shell{stdout: filepath.Join(temporary, "stdout"), stderr: filepath.Join(temporary, "stderr")}
	s.cmd = exec.CommandContext(ctx, "sh")
	s.cmd.Dir, s.cmd.Env = dir, env
	s.cmd.Stdout, s.cmd.Stderr = os.Stdout, os.Stderr
	codes, tell, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer tell.Close()
	s.cmd.ExtraFiles = []*os.File{tell} // descriptor 3
	s.codes = bufio.NewReader(codes)
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return s, s.cmd.Start()
}

// run runs a command in the shell itself, so that the variables it sets stay.
func (s *shell) run(command string) (result, error) {
	var r result
	const frame = "{\n%s\n} >'%s' 2>'%s' </dev/null 3>&-; echo $? >&3\n"
	if _, err := fmt.Fprintf(s.stdin, frame, command, s.stdout, s.stderr); err != nil {
		return r, fmt.Errorf("the shell has ended: %w", err)
	}
	if _, err := fmt.Fscanln(s.codes, &r.code); err != nil {
		return r, errors.New("the shell ended at this command")
	}
	stdout, err := os.ReadFile(s.stdout)
	if err != nil {
		return r, err
	}
	stderr, err := os.ReadFile(s.stderr)
	r.stdout, r.stderr = string(stdout), string(stderr)
	return r, err
}

// folder is where the shell is, after each cd.
func (s *shell) folder() (string, error) {
	r, err := s.run("pwd")
	return strings.TrimSpace(r.stdout), err
}

func (s *shell) close() error {
	_ = s.stdin.Close() // a shell that has ended has closed it
	return s.cmd.Wait()
}

// service is a command that serves until it is interrupted. It has a process group of its own, which gets the
// interrupt as from a terminal.
type service struct {
	address string
	cmd     *exec.Cmd
	ended   chan struct{}
	mu      sync.Mutex
	out     bytes.Buffer
	grown   chan struct{} // holds a value when out has grown
	read    int           // how much of out next has passed
}

func startService(command, address, dir string, env []string) (*service, error) {
	s := &service{address: address, ended: make(chan struct{}), grown: make(chan struct{}, 1)}
	s.cmd = exec.Command("sh", "-c", command)
	s.cmd.Dir, s.cmd.Env = dir, env
	s.cmd.Stdout, s.cmd.Stderr = s, s
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = s.cmd.Wait() // the code of an interrupted make or go run says nothing
		close(s.ended)
	}()
	return s, nil
}

// Write takes what the service prints.
func (s *service) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.grown <- struct{}{}:
	default:
	}
	return s.out.Write(p)
}

func (s *service) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// waitFor waits until the service has printed each of the lines.
func (s *service) waitFor(ctx context.Context, lines []string) error {
	return s.wait(ctx, startTime, func(output string) string { return firstMissing(lines, output) })
}

// next waits until the service prints what is like the pattern, in whole lines and after what next found before. It
// returns what was printed.
func (s *service) next(ctx context.Context, pattern string) (found string, err error) {
	like := regexp.MustCompile(`(?ms)^` + expression(pattern, ".*?") + `\n`)
	err = s.wait(ctx, printTime, func(output string) string {
		at := like.FindStringIndex(output[s.read:])
		if at == nil {
			return pattern
		}
		found, s.read = output[s.read+at[0]:s.read+at[1]], s.read+at[1]
		return ""
	})
	return found, err
}

// wait waits until nothing is missing in what the service has printed.
func (s *service) wait(ctx context.Context, patience time.Duration, missing func(output string) string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		missing := missing(s.output())
		if missing == "" {
			return nil
		}
		select {
		case <-s.grown:
		case <-s.ended:
			return fmt.Errorf("it has ended and not printed: %s", missing)
		case <-ctx.Done():
			return fmt.Errorf("it has not printed: %s: %w", missing, ctx.Err())
		}
	}
}

// firstMissing is the first of the lines that the output does not hold as a line.
func firstMissing(lines []string, output string) string {
	for _, line := range lines {
		if !strings.Contains("\n"+output, "\n"+line+"\n") {
			return line
		}
	}
	return ""
}

// stop interrupts the service and waits for its end.
func (s *service) stop() error {
	select {
	case <-s.ended:
		return fmt.Errorf("the service has ended before its time; it printed:\n%s", s.output())
	default:
	}
	if err := syscall.Kill(-s.cmd.Process.Pid, syscall.SIGINT); err != nil {
		return err
	}
	select {
	case <-s.ended:
		return nil
	case <-time.After(stopTime):
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-s.ended
		return fmt.Errorf("the service did not stop in %s after an interrupt; it printed:\n%s", stopTime, s.output())
	}
}
