//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"example.com/ginseng/testkit/process"
)

const (
	startTimeout = 5 * time.Minute // go run builds first
	logTimeout   = 30 * time.Second
	stopTimeout  = 45 * time.Second
)

// shell is a POSIX shell that runs one command after another. It exits when a command fails.
type shell struct {
	cmd            *exec.Cmd
	stdin          io.WriteCloser
	codes          *bufio.Reader // exit codes of the commands, one per line
	stdout, stderr string        // files with the output of the last command
}

func newShell(ctx context.Context, dir, temporary string, env []string) (*shell, error) {
	s := &shell{stdout: filepath.Join(temporary, "stdout"), stderr: filepath.Join(temporary, "stderr")}
	s.cmd = exec.CommandContext(ctx, "sh", "-e")
	s.cmd.Dir, s.cmd.Env = dir, env
	s.cmd.Stdout, s.cmd.Stderr = os.Stdout, os.Stderr
	codes, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer write.Close()
	s.cmd.ExtraFiles = []*os.File{write} // descriptor 3
	s.codes = bufio.NewReader(codes)
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return s, s.cmd.Start()
}

// run runs a command in the shell itself, so that variables stay.
func (s *shell) run(command string) (r result, err error) {
	const frame = "{\n%s\n} >'%s' 2>'%s' </dev/null 3>&-; echo $? >&3\n"
	if _, err := fmt.Fprintf(s.stdin, frame, command, s.stdout, s.stderr); err != nil {
		return r, fmt.Errorf("the shell has exited: %w", err)
	}
	_, exited := fmt.Fscanln(s.codes, &r.code)
	stdout, err := os.ReadFile(s.stdout)
	if err != nil {
		return r, err
	}
	stderr, err := os.ReadFile(s.stderr)
	r.stdout, r.stderr = string(stdout), string(stderr)
	if err == nil && exited != nil {
		err = fmt.Errorf("a command failed, or the shell exited:\n%s%s", r.stdout, r.stderr)
	}
	return r, err
}

func (s *shell) close() error {
	_ = s.stdin.Close() // already closed if the shell has exited
	return s.cmd.Wait()
}

// service is a command that runs until it is interrupted. It has its own process group, which receives the interrupt as from
// a terminal.
type service struct {
	address string
	cmd     *exec.Cmd
	exited  chan struct{}
	output  process.Buffer
	read    int // offset in the output after the last match of next
}

func startService(command, address, dir string, env []string) (*service, error) {
	s := &service{address: address, cmd: exec.Command("sh", "-ec", command), exited: make(chan struct{})}
	s.cmd.Dir, s.cmd.Env = dir, env
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = s.cmd.Wait() // the exit code of an interrupted make or go run has no meaning
		close(s.exited)
	}()
	return s, nil
}

// next waits for output that matches the pattern, in whole lines and after the previous match, and returns it.
func (s *service) next(ctx context.Context, pattern string) (string, error) {
	found, end, err := s.wait(ctx, logTimeout, regexp.MustCompile(`(?ms)^`+expression(pattern, ".*?")+`\n`), s.read)
	if err != nil {
		return "", fmt.Errorf("%s: %w", pattern, err)
	}
	s.read = end
	return found, nil
}

// wait waits until the output after an offset matches the pattern, and returns the match and the offset of its end.
func (s *service) wait(ctx context.Context, timeout time.Duration, like *regexp.Regexp, offset int) (found string, end int, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for exited := false; ; {
		output := s.output.String()
		if at := like.FindStringIndex(output[offset:]); at != nil {
			return output[offset+at[0] : offset+at[1]], offset + at[1], nil
		}
		if exited {
			return "", 0, fmt.Errorf("the service exited and did not print: %s", like)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.exited:
			exited = true // compare the rest of the output once more
		case <-ctx.Done():
			return "", 0, fmt.Errorf("the service did not print: %s: %w", like, ctx.Err())
		}
	}
}

// stop interrupts the service and waits until it exits.
func (s *service) stop() error {
	select {
	case <-s.exited:
		return fmt.Errorf("the service exited too early:\n%s", s.output.String())
	default:
	}
	if err := syscall.Kill(-s.cmd.Process.Pid, syscall.SIGINT); err != nil {
		return err
	}
	select {
	case <-s.exited:
		return nil
	case <-time.After(stopTimeout):
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-s.exited
		return fmt.Errorf("the service did not exit within %s after an interrupt:\n%s", stopTimeout, s.output.String())
	}
}
