package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// server is one of the servers that are compared.
type server struct {
	Name     string        `json:"name"`
	Version  string        `json:"version"`
	Articles int           `json:"articles"`
	Size     int64         `json:"size,omitempty"`    // size of the database in bytes
	StartUp  time.Duration `json:"startUp,omitempty"` // time from the start of the process to the first response
	bulk     bool          // the database is bulk-loaded; only searches are measured
	service  *service      // nil unless this is the service
	addr     string
	pid      int
	requests func(row) (requests [][]byte, status int)
	stop     func()
}

// startServers creates missing databases, and starts the service on each database. The other servers are compared to the first
// server. It then starts the servers that are written by hand. It returns the started servers even after an error.
func startServers(ctx context.Context, o options, work string, stderr io.Writer) (servers []server, err error) {
	start := func(name, binary string, articles int, bulk bool) error {
		s := server{Name: name, Version: version(binary, "example.com/ginseng"), Articles: articles, bulk: bulk}
		if err := s.start(ctx, o, binary, work, stderr); err != nil {
			return err
		}
		servers = append(servers, s)
		return nil
	}
	for i, articles := range o.articles {
		name := "Ginseng"
		if len(o.articles) > 1 {
			name += ", " + thousands(articles)
		}
		if err := start(name, o.binary, articles, false); err != nil {
			return servers, err
		}
		if i > 0 || o.before == "" {
			continue
		}
		if err := start("before", o.before, articles, false); err != nil {
			return servers, err
		}
	}
	if o.bulk {
		if err := start("bulk-loaded", o.binary, o.articles[0], true); err != nil {
			return servers, err
		}
	}
	byHand, err := startByHand(ctx, servers[0], work)
	return append(servers, byHand...), err
}

// start starts a binary on a database or, if the database has at most maxCopied articles, on a copy.
func (s *server) start(ctx context.Context, o options, binary, work string, stderr io.Writer) error {
	set, err := seed(ctx, o, s.Articles, s.bulk, stderr)
	if err != nil {
		return err
	}
	database := set.file
	if s.Articles <= maxCopied {
		database = filepath.Join(work, s.Name+".db")
		if err := copyFile(database, set.file); err != nil {
			return err
		}
	}
	if s.StartUp, err = startUp(ctx, binary, database); err != nil {
		return err
	}
	info, err := os.Stat(database)
	if err != nil {
		return err
	}
	running, err := startService(ctx, binary, database, "FILES_URL=file:"+filepath.Join(work, s.Name))
	if err != nil {
		return err
	}
	running.data = set
	s.Size, s.service, s.addr, s.pid, s.stop = info.Size(), running, running.addr, running.Pid(), running.stop
	s.requests = func(row row) ([][]byte, int) {
		if s.bulk && !row.isSearch() {
			return nil, 0
		}
		return row.ours(running), row.status
	}
	if err := running.prepare(ctx); err != nil {
		running.stop()
		return err
	}
	return nil
}

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
	if out, err := exec.Command("cp", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %w: %s", err, out)
	}
	return nil
}
