package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"example.com/ginseng/testkit/process"
)

// Secrets of the measured service.
const (
	masterKey = "benchmark-master-key-of-no-other-use"
	jwtSecret = "benchmark-token-secret-of-no-other-use"
	password  = "analytical engine"
)

// service is a running server with its articles.
type service struct {
	*process.Process
	addr   string
	data   *dataset
	cursor string   // cursor of page depth
	last   position // position of the cursor
	tokens []string // tokens of the authors
	key    string   // an API key of the first author

	pictures bool     // the service has pictures of the authors
	page     []string // paths of the files of the admin page; none: the service has no such page
}

// startService starts a binary of the service on a database and a free port, with the settings that an operator must choose,
// and env ("NAME=value"). Its log is a file next to the database.
func startService(ctx context.Context, binary, database string, env ...string) (*service, error) {
	log, err := os.Create(database + ".log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, binary)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	cmd.Dir, cmd.Stderr = filepath.Dir(database), log
	cmd.Env = append([]string{
		"APP_ENV=production", "HOST=127.0.0.1", "PORT=0", "MASTER_KEY=" + masterKey, "JWT_SECRET=" + jwtSecret,
		"JWT_TTL=24h",                 // longer than a run
		"PUBLIC_URL=http://localhost", // required for pictures
		"ADMIN=true",
		"DATABASE_URL=sqlite:" + database,
	}, env...)
	p, err := process.Start(cmd)
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%w%s", err, text)
	}
	return &service{Process: p, addr: strings.TrimPrefix(p.URL, "http://")}, nil
}

// stop stops the service and waits until it has closed its database.
func (s *service) stop() { s.Stop(syscall.SIGTERM) }

// call sends a request and decodes the response.
func (s *service) call(method, path, authorization, body string, into any) error {
	_, response, err := send(s.addr, request(method, path, authorization, body))
	if err != nil {
		return err
	}
	return json.Unmarshal(response, into)
}

// cpuTime returns the CPU time that a process has used; 0 if the time is unknown.
func cpuTime(pid int) time.Duration {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	stat, err := p.Stat()
	if err != nil {
		return 0
	}
	return time.Duration(stat.CPUTime() * float64(time.Second))
}

// resetPeak resets the peak memory of a process.
func resetPeak(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0) // on error, the peak is not reset
}

// peakMemory returns the peak resident memory of a process in bytes; 0 if the peak is unknown.
func peakMemory(pid int) int64 {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	status, err := p.NewStatus()
	if err != nil {
		return 0
	}
	return int64(status.VmHWM)
}
