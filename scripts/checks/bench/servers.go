package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// server is one of the servers that are compared.
type server struct {
	Name     string        `json:"name"`
	Version  string        `json:"version"`
	Articles int           `json:"articles"`
	Size     int64         `json:"size,omitempty"`    // of the database, in bytes
	StartUp  time.Duration `json:"startUp,omitempty"` // from the start of the process to the first response
	addr     string
	pid      int
	requests func(row) (requests [][]byte, status int)
}

// startServers creates the databases that are missing and starts the service on each: the first is the one that others are
// compared to. stop ends those that were started, whatever the error.
func startServers(ctx context.Context, o options, work string, stderr io.Writer) (servers []server, stop func(), err error) {
	var running []*service
	stop = func() {
		for _, s := range running {
			s.stop()
		}
	}
	start := func(name, binary string, articles int) error {
		server, s, err := startSeeded(ctx, o, binary, articles, work, stderr)
		if s != nil {
			running = append(running, s)
		}
		server.Name = name
		servers = append(servers, server)
		return err
	}
	for i, articles := range o.articles {
		name := "Ginseng"
		if len(o.articles) > 1 {
			name += ", " + thousands(articles)
		}
		if err = start(name, o.binary, articles); err == nil && i == 0 && o.before != "" {
			err = start("before", o.before, articles)
		}
		if err != nil {
			return servers, stop, err
		}
	}
	return servers, stop, nil
}

// startSeeded starts a binary on a database with some articles. The service is not nil if it was started, whatever the
// error.
func startSeeded(ctx context.Context, o options, binary string, articles int, work string, stderr io.Writer) (server, *service, error) {
	r := server{Articles: articles, Version: version(binary, "example.com/ginseng")}
	set, err := seed(ctx, o, articles, stderr)
	if err != nil {
		return r, nil, err
	}
	database := set.file
	if articles <= maxCopied {
		dir, err := os.MkdirTemp(work, "")
		if err != nil {
			return r, nil, err
		}
		database = filepath.Join(dir, filepath.Base(set.file))
		if err := copyFile(database, set.file); err != nil {
			return r, nil, err
		}
	}
	if r.StartUp, err = startUp(ctx, binary, database); err != nil {
		return r, nil, err
	}
	if info, err := os.Stat(database); err == nil {
		r.Size = info.Size()
	}
	s, err := startService(ctx, binary, database)
	if err != nil {
		return r, nil, err
	}
	s.data = set
	r.addr, r.pid = s.addr, s.pid()
	r.requests = func(row row) ([][]byte, int) { return row.ours(s), row.status }
	return r, s, s.prepare(ctx)
}

// version returns the version of a module in a Go binary.
func version(binary, module string) string {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return "unknown version"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module {
			return m.Version
		}
	}
	return "unknown version"
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// cpuModel returns the name of the processor.
func cpuModel() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // empty if there is none
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
