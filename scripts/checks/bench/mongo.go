package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// mongoRows are the names of the rows that are measured with --mongo.
var mongoRows = []string{
	"one record", "first page", "first page, with count", "q, a common word", "create, 20 users", "update, 20 users", "batch of 100", "sign-in",
}

// startMongo starts the service and the driver program on a database of a MongoDB server, which should be empty. It creates the
// articles with POST /articles. It returns the started servers even after an error.
func startMongo(ctx context.Context, o options, work string, stderr io.Writer) (servers []server, err error) {
	n := o.articles[0]
	s, err := startService(ctx, o.binary, filepath.Join(work, "mongo"), "DATABASE_URL="+o.mongo)
	if err != nil {
		return nil, err
	}
	servers = []server{{
		Name: "Ginseng", Version: version(o.binary, "example.com/ginseng"), Articles: n, service: s, addr: s.addr, pid: s.Pid(), stop: s.stop,
		requests: func(row row) ([][]byte, int) { return row.ours(s), row.status },
	}}
	s.data = &dataset{}
	if err := s.data.fill(ctx, s, n, stderr); err != nil {
		return servers, err
	}
	driver, err := startSelf(ctx, driverCommand, o.mongo)
	if err != nil {
		return servers, err
	}
	driver.Name, driver.Version, driver.Articles = "driver", version("/proc/self/exe", driverModule), n
	other := &service{addr: driver.addr, data: s.data}
	driver.requests = func(row row) ([][]byte, int) { return row.ours(other), row.status }
	servers = append(servers, driver)
	if err := other.signIn(); err != nil {
		return servers, fmt.Errorf("driver: %w", err)
	}
	return servers, compare(servers[0], driver, func(row row) bool {
		return slices.Contains(mongoRows, row.name) && strings.HasPrefix(string(row.ours(s)[0]), "GET")
	})
}
