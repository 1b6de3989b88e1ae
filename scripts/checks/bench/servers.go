package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// servers are the servers that are measured.
type servers struct {
	main  *service // with as many articles as was asked for
	small *service // with 10,000; nil if main has no more
	equal *service // with as many as the peer; nil without a peer
	peer  *peer    // nil if none is running
}

// startServers creates the articles that are missing and starts the servers. stop ends those that were started, whatever
// the error.
func startServers(
	ctx context.Context, o options, p *peer, work string, stderr io.Writer, r *report,
) (s servers, stop func(), err error) {
	running := make(map[int]*service)
	stop = func() {
		for _, service := range running {
			service.stop()
		}
	}
	sized := func(articles int) (*service, error) {
		if running[articles] != nil {
			return running[articles], nil
		}
		service, err := startSeeded(ctx, o, articles, work, stderr, r)
		if service != nil {
			running[articles] = service
		}
		return service, err
	}
	if s.main, err = sized(o.articles); err != nil {
		return s, stop, err
	}
	if o.articles > small {
		if s.small, err = sized(small); err != nil {
			return s, stop, err
		}
	}
	if p != nil {
		s.peer = p
		s.equal, err = sized(p.articles)
	}
	return s, stop, err
}

// startSeeded starts a service on a copy of a database with some articles. The service is not nil if it was started,
// whatever the error.
func startSeeded(ctx context.Context, o options, articles int, work string, stderr io.Writer, r *report) (*service, error) {
	set, err := seed(ctx, o, articles, stderr)
	if err != nil {
		return nil, err
	}
	database := filepath.Join(work, filepath.Base(set.file))
	if err := copyFile(database, set.file); err != nil {
		return nil, err
	}
	took, err := startUp(ctx, o.binary, database)
	if err != nil {
		return nil, err
	}
	r.StartUp = append(r.StartUp, startUpTime{articles, took})
	s, err := startService(ctx, o.binary, database)
	if err != nil {
		return nil, err
	}
	s.data = set
	return s, s.prepare(ctx, stderr)
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
