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

// Secrets of the measured service.
const (
	masterKey = "benchmark-master-key-of-no-other-use"
	jwtSecret = "benchmark-token-secret-of-no-other-use"
	password  = "analytical engine"
)

// service is a running server with its articles.
type service struct {
	process *exec.Cmd
	addr    string
	data    *dataset
	cursor  string   // before the page at depth
	token   string   // of the first author
	tokens  []string // of all authors
}

// startService starts the built service on a database and a free port, with more settings. Its log is a file next to the
// database.
func startService(ctx context.Context, binary, database string, env ...string) (*service, error) {
	s := &service{process: exec.CommandContext(ctx, binary)}
	s.process.Cancel = func() error { return s.process.Process.Signal(syscall.SIGTERM) }
	s.process.WaitDelay = time.Minute
	s.process.Dir = filepath.Dir(database)
	s.process.Env = []string{
		"APP_ENV=production", "HOST=127.0.0.1", "PORT=0", "MASTER_KEY=" + masterKey, "JWT_SECRET=" + jwtSecret, "JWT_TTL=24h",
		"DATABASE_URL=sqlite:" + database, "GOMEMLIMIT=200MiB", "GOGC=300", // as in the Dockerfile
	}
	s.process.Env = append(s.process.Env, env...) // the last value of a setting counts
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
		return nil, fmt.Errorf("the service did not start: %s", said)
	}
	return s, nil
}

// stop stops the service and waits until it has closed its database.
func (s *service) stop() {
	_ = s.process.Process.Signal(syscall.SIGTERM) // no effect if it has exited
	_ = s.process.Wait()
}

func (s *service) pid() int { return s.process.Process.Pid }

// startUps is the number of measured starts.
const startUps = 5

// startUp returns the median time from the start of the process to the first response.
func startUp(ctx context.Context, binary, database string) (time.Duration, error) {
	var took []time.Duration
	for range startUps {
		begun := time.Now()
		s, err := startService(ctx, binary, database)
		if err != nil {
			return 0, err
		}
		_, _, err = send(s.addr, request("GET", "/readyz", "", ""))
		took = append(took, time.Since(begun))
		s.stop()
		if err != nil {
			return 0, err
		}
	}
	slices.Sort(took)
	return took[startUps/2], nil
}

// call sends a request and decodes the response.
func (s *service) call(method, path, authorization, body string, into any) error {
	_, response, err := send(s.addr, request(method, path, authorization, body))
	if err != nil {
		return err
	}
	return json.Unmarshal(response, into)
}

// signIn gets new tokens for the authors.
func (s *service) signIn() (err error) {
	s.tokens = make([]string, authors)
	for i := range s.tokens {
		if s.tokens[i], err = s.tokenOf(i); err != nil {
			return err
		}
	}
	s.token = s.tokens[0]
	return nil
}

// Fields of /proc/PID/stat with the CPU time, counted after the name of the program.
const (
	statUser   = 11
	statSystem = 12
)

// ticks is the number of clock ticks per second, on every Linux that Go supports.
const ticks = 100

// cpuTime returns the CPU time of a process, 0 if it is unknown.
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

// resetPeak resets the peak memory of a process.
func resetPeak(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0) // on error, the peak is that since its start
}

// memory returns the current and the peak resident memory of a process in bytes.
func memory(pid int) (now, peak int64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // zero if it is unknown
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
