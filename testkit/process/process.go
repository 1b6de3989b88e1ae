// Package process builds the service and runs it as a process, which tests can signal, kill and measure.
package process

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
)

// Build builds the service into dir, and returns the path of the binary. The compiler flags come from the environment, so that
// the build shares the build cache of the tests.
func Build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "service")
	build := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w", "-o", binary, "example.com/ginseng")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the service does not build: %w\n%s", err, out)
	}
	return binary, nil
}

// Process is a running service.
type Process struct {
	Line string // the line that the service prints when it listens
	URL  string // address of the service, from Line

	cmd *exec.Cmd
	log *Buffer
}

// Start starts the service, and waits until the service listens. When the context of cmd ends, the process is killed. If
// cmd.Stderr is set, Log returns "".
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, log: new(Buffer)}
	if cmd.Stderr == nil {
		cmd.Stderr = p.log
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		code := p.Wait()
		return nil, fmt.Errorf("the service did not listen: exit code %d\n%s", code, p.Log())
	}
	p.Line = strings.TrimSuffix(line, "\n")
	p.URL = regexp.MustCompile(`http://[^,]+`).FindString(p.Line)
	return p, nil
}

// Signal sends a signal to the process.
func (p *Process) Signal(signal os.Signal) error { return p.cmd.Process.Signal(signal) }

// Wait waits until the process ends and returns the exit code, or -1 if a signal killed the process.
func (p *Process) Wait() int {
	_ = p.cmd.Wait() // ProcessState has the result
	return p.cmd.ProcessState.ExitCode()
}

// Stop sends a signal, waits until the process ends and returns the exit code, or -1 if a signal killed the process.
func (p *Process) Stop(signal os.Signal) int {
	_ = p.Signal(signal) // the process may have ended
	return p.Wait()
}

// Pid returns the process ID.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Log returns the standard error output so far.
func (p *Process) Log() string { return p.log.String() }

// Memory returns the resident memory in bytes, or 0 if the size is unknown.
func (p *Process) Memory() int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.Pid()))
	var size, resident int64 // in pages
	_, _ = fmt.Sscan(string(text), &size, &resident)
	return resident * int64(os.Getpagesize())
}

// Files returns the number of open files and connections, or 0 if the number is unknown.
func (p *Process) Files() int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Pid()))
	return len(entries)
}

// Goroutines ends the process with SIGQUIT, and returns the number of its goroutines by the function that started them.
func (p *Process) Goroutines() map[string]int {
	p.Stop(syscall.SIGQUIT)
	counts := make(map[string]int)
	for _, m := range regexp.MustCompile(`(?m)^created by (\S+)`).FindAllStringSubmatch(p.Log(), -1) {
		counts[m[1]]++
	}
	return counts
}

// Buffer is a bytes.Buffer for concurrent use.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns the content.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
