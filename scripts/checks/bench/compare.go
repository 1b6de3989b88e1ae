package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"

	"example.com/ginseng/testkit/process"
)

// startByHand starts the servers that are written by hand on a copy of the database of the service s, and compares their
// responses with those of s. If the database is too large to be copied, startByHand starts no server.
func startByHand(ctx context.Context, s server, work string) (servers []server, err error) {
	if s.Articles > maxCopied {
		return nil, nil
	}
	database := filepath.Join(work, "by-hand.db")
	if err := copyFile(database, s.service.data.file); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(work, pictureName), []byte(picture()), 0o600); err != nil {
		return nil, err
	}
	for _, c := range []struct{ name, command, module string }{
		{"direct", directCommand, "modernc.org/sqlite"}, {"zombiezen", zombiezenCommand, "zombiezen.com/go/sqlite"},
	} {
		started, err := startSelf(ctx, c.command, database)
		if err != nil {
			return servers, err
		}
		started.Name, started.Version, started.Articles = c.name, c.module+" "+version("/proc/self/exe", c.module), s.Articles
		started.requests = func(row row) ([][]byte, int) { return row.byHand(s.service), row.status }
		servers = append(servers, started)
		if err := compare(s, started, func(row row) bool { return row.byHand(s.service) != nil }); err != nil {
			return servers, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return servers, nil
}

// startSelf starts this program as a server; see commands.
func startSelf(ctx context.Context, command, file string) (s server, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	p, err := process.Start(exec.CommandContext(ctx, self, command, file))
	if err != nil {
		return s, err
	}
	return server{addr: strings.TrimPrefix(p.URL, "http://"), pid: p.Pid(), stop: func() { p.Stop(os.Kill) }}, nil
}

// byHand returns the requests of the row to a server that is written by hand; none if that server lacks the route.
func (r row) byHand(s *service) [][]byte {
	switch r.name {
	case "one record", "one record, cold", "first page", "download, 1 MB":
		return r.ours(s)
	case "by cursor, page 1,000":
		return list("after=" + s.last.CreatedAt + "," + s.last.ID)(s)
	}
	return nil
}

// compare fails unless both servers send the same media type and the same JSON or picture in response to the first request of each row that
// is selected. The cursors of the next page can differ.
func compare(s, byHand server, selected func(row) bool) error {
	for _, row := range rows {
		if !selected(row) {
			continue
		}
		theirs, _ := byHand.requests(row)
		ours, _ := s.requests(row)
		want, err := readContent(s.addr, ours[0])
		if err != nil {
			return err
		}
		got, err := readContent(byHand.addr, theirs[0])
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(got, want) {
			return fmt.Errorf("%s: the response is %v; the service sends %v", row.name, got, want)
		}
	}
	return nil
}

// readContent returns the properties of a response body, or the hash of a picture, and the media type as Content-Type. It replaces
// the value of next with true.
func readContent(addr string, raw []byte) (content map[string]any, err error) {
	response, body, err := send(addr, raw)
	if err != nil {
		return nil, err
	}
	mediaType := response.Header.Get("Content-Type")
	if mediaType == "image/png" {
		return map[string]any{"Content-Type": mediaType, "SHA-256": sha256.Sum256(body)}, nil
	}
	if err := json.Unmarshal(body, &content); err != nil {
		return nil, err
	}
	if content["next"] != nil {
		content["next"] = true
	}
	content["Content-Type"] = mediaType
	return content, nil
}
