package documents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Table is the table of routes of a service, as ginseng routes prints it: see package route.
type Table struct {
	Routes []row
	Codes  []string // error codes besides the general ones
	// References has for each resource the resources that its fields refer to, by field.
	References map[string]map[string]string
}

// row is a route.Route.
type row struct {
	Method, Path, Resource                                             string
	List                                                               *list
	Caller                                                             string
	Roles                                                              []string
	Restricted, AnyKey, AdminKey, Idempotent, Stream, JSONOnly, Origin bool
	Raw                                                                int64
	Documented, Setting                                                string
	Files                                                              bool  // multipart forms can have the files of the record
	Upload                                                             *file // the body is a file
	Download                                                           bool  // the response is a file
	Read                                                               bool  // needs only the scope :read
}

// list is a listing.Spec.
type list struct {
	Name, Title          string
	Search, Sort, Expand []string
	Filter               []filter
	ETag                 string // "none": the list has no parameter etags
	Files                []file
}

// filter is a listing.Filter.
type filter struct {
	Field, Type string
	Values      []string
	List        bool
}

// compileTimeout is how long the first compilation of a service may take on a slow machine.
const compileTimeout = 15 * time.Minute

// ErrRoutes means that the routes of a service are unknown, because it does not compile or cannot start.
var ErrRoutes = errors.New("the routes of the service are unknown")

// Routes returns the table of routes of the service in dir, which it compiles and runs. overlay replaces files of the service; see
// go help build. It maps the absolute path of a file to that of another file, or to "" if the service does not have the file.
// ErrRoutes: the service does not compile, or fails.
func Routes(ctx context.Context, dir string, overlay map[string]string) (table Table, err error) {
	temporary, err := os.MkdirTemp("", "routes-")
	if err != nil {
		return table, err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	replace, err := withDocuments(dir, temporary, overlay)
	if err != nil {
		return table, err
	}
	encoded, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return table, err
	}
	file := filepath.Join(temporary, "overlay.json")
	if err := os.WriteFile(file, encoded, 0o600); err != nil {
		return table, err
	}
	ctx, cancel := context.WithTimeout(ctx, compileTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "run", "-buildvcs=false", "-overlay="+file, ".", "routes")
	var printed bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &printed
	out, err := cmd.Output()
	if err != nil {
		return table, fmt.Errorf("%w: go run . routes: %w\n%s", ErrRoutes, err, bytes.TrimSpace(printed.Bytes()))
	}
	if err := json.Unmarshal(out, &table); err != nil {
		return table, fmt.Errorf("%w: go run . routes does not print JSON: %w", ErrRoutes, err)
	}
	return table, nil
}

// withDocuments returns the overlay with an empty document, in the directory temporary, for each API document that dir does not
// have yet: the service embeds the documents.
func withDocuments(dir, temporary string, overlay map[string]string) (map[string]string, error) {
	out := maps.Clone(overlay)
	if out == nil {
		out = map[string]string{}
	}
	for _, name := range []string{SwaggerFile, OpenAPIFile} {
		name, err := filepath.Abs(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(name); err == nil {
			continue
		}
		out[name] = filepath.Join(temporary, filepath.Base(name))
		if err := os.WriteFile(out[name], []byte("{}"), 0o600); err != nil {
			return nil, err
		}
	}
	return out, nil
}
