package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The secrets of a service that only this program talks to.
const (
	masterKey = "benchmark-master-key-of-no-other-use"
	jwtSecret = "benchmark-token-secret-of-no-other-use"
	password  = "patience is a root"
)

// service is a running server with its articles.
type service struct {
	process *exec.Cmd
	addr    string
	data    *dataset
	token   string // of the first author
}

// startService starts the built service on a database and a free port. Its log is the file beside the database.
func startService(ctx context.Context, binary, database string) (*service, error) {
	s := &service{process: exec.CommandContext(ctx, binary)}
	s.process.Cancel = func() error { return s.process.Process.Signal(syscall.SIGTERM) }
	s.process.WaitDelay = time.Minute
	s.process.Dir = filepath.Dir(database)
	s.process.Env = []string{
		"APP_ENV=production", "HOST=127.0.0.1", "PORT=0", "MASTER_KEY=" + masterKey, "JWT_SECRET=" + jwtSecret, "JWT_TTL=24h",
		"DATABASE_URL=sqlite:" + database,
	}
	log, err := os.Create(database + ".log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.process.Stderr = log
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, after, _ := strings.Cut(line, "http://")
	if s.addr, _, _ = strings.Cut(after, ","); err != nil || s.addr == "" {
		s.stop()
		said, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("the service does not start: %s", said)
	}
	return s, nil
}

// stop ends the service, and waits until it has closed its database.
func (s *service) stop() {
	_ = s.process.Process.Signal(syscall.SIGTERM) // it may have ended
	_ = s.process.Wait()
}

func (s *service) pid() int { return s.process.Process.Pid }

// startUps is how often a start is timed.
const startUps = 5

// startUp is the median of the time from the start of the process to the first answer 200.
func startUp(ctx context.Context, binary, database string) (time.Duration, error) {
	var took []time.Duration
	for range startUps {
		begun := time.Now()
		s, err := startService(ctx, binary, database)
		if err != nil {
			return 0, err
		}
		_, _, err = ask(s.addr, request("GET", "/readyz", "", ""))
		took = append(took, time.Since(begun))
		s.stop()
		if err != nil {
			return 0, err
		}
	}
	slices.Sort(took)
	return took[startUps/2], nil
}

// call asks the service and decodes what it answers.
func (s *service) call(method, path, authorization, body string, into any) error {
	_, answer, err := ask(s.addr, request(method, path, authorization, body))
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, into)
}

// signIn takes a fresh token for the first author.
func (s *service) signIn() (err error) {
	s.token, err = s.tokenOf(0)
	return err
}

// statFields of /proc/PID/stat that tell the CPU time, counted after the name of the program.
const (
	statUser   = 11
	statSystem = 12
)

// ticks is how many of the kernel's clock ticks are in a second, on every Linux that Go runs on.
const ticks = 100

// cpuTime is what a process has used.
func cpuTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[statUser])
	system, _ := strconv.Atoi(fields[statSystem])
	return time.Duration(user+system) * time.Second / ticks
}

// resetPeak has the kernel begin anew with what it takes for the peak of a process.
func resetPeak(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0) // then it is the peak since its start
}

// memory is how much of a process is resident, in bytes, and how much was at most.
func memory(pid int) (now, peak int64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // none of another's process
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			now = n << 10
		case "VmHWM":
			peak = n << 10
		}
	}
	return now, peak
}
