package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "example.com/ginseng"

// TestArrows checks the imports of all packages against the layout. Tests may import more.
func TestArrows(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	packages := 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages++
		from, _ := strings.CutPrefix(strings.TrimPrefix(p.ImportPath, root), "/")
		if from == "server" && !slices.Contains(p.Imports, "time/tzdata") {
			t.Error("server does not import time/tzdata: an image has no other time zones")
		}
		for _, path := range p.Imports {
			to, own := strings.CutPrefix(path, root+"/")
			if why := forbidden(from, to, own, path); why != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, path, why)
			}
		}
	}
	if packages < 10 {
		t.Errorf("only %d packages were looked at", packages)
	}
}

// forbidden returns the reason that a package must not import another, or "".
func forbidden(from, to string, own bool, path string) string {
	testkit := in(from, "testkit")
	switch {
	case !own && strings.HasPrefix(path, "github.com/gin-gonic/"):
		if from != "kit" && !in(from, "kit/adminpage") && !in(from, "kit/audit") && !in(from, "kit/batch") && !in(from, "kit/records") && from != "kit/resource" && !in(from, "kit/rest") && !in(from, "kit/route") && from != "server" && !in(from, "middleware") && !in(from, "modules") {
			return "only kit, middleware and controllers import Gin"
		}
	case !own && (strings.HasPrefix(path, "go.mongodb.org/") || strings.HasPrefix(path, "modernc.org/sqlite")):
		if !in(from, "kit/store") && from != "kit/migrate" {
			return "only the store and migrations know drivers"
		}
	case !own && (strings.HasPrefix(path, "go.opentelemetry.io/") || strings.HasPrefix(path, "github.com/prometheus/")):
		metrics := path == "github.com/prometheus/client_golang/prometheus" && (in(from, "kit") || from == "server")
		if !in(from, "kit/telemetry") && !testkit && !metrics {
			return "only telemetry knows where metrics and traces go"
		}
	case !own, from == "modules/apitest": // starts the service in tests
	case to == "modules" && from != "" && from != "config":
		return "only main and config know the registry"
	case !testkit && (in(to, "testkit/testdb") || in(to, "testkit") || in(to, "kit/email/emailtest") || in(to, "internal/resilience")),
		in(to, "kit/store/storetest"), in(to, "kit/files/filestest"), in(to, "kit/store/mongo/mongotest") && from != "testkit/testdb":
		return "is for tests"
	case in(from, "kit") && !in(to, "kit"):
		return "kit imports only kit"
	case from == "server" && !in(to, "kit") && to != "middleware":
		return "server knows kit and middleware"
	case testkit && !in(to, "kit") && to != "server" && !in(to, "testkit") && !in(to, "internal/resilience"):
		return "testkit knows kit and server"
	case in(from, "middleware") && !in(to, "kit"):
		return "middleware knows only kit"
	case in(from, "config") && !in(to, "kit") && to != "modules" && to != "server":
		return "config knows kit, server and the registry"
	case in(from, "scripts") && !in(to, "scripts/internal") && to != "kit/suggest" && to != "kit/command":
		return "scripts know no package of the service"
	case strings.HasPrefix(from, "modules/") && to == "modules/apitest":
		return "is for tests"
	case strings.HasPrefix(from, "modules/") && strings.HasPrefix(to, "modules/"):
		module := strings.Split(from, "/")[1]
		if sibling := strings.Split(to, "/")[1]; sibling != module && sibling != "user" {
			return "a module knows no sibling but user"
		}
	case strings.HasPrefix(from, "modules/") && !in(to, "kit") && !in(to, "middleware"):
		return "a module knows middleware and kit"
	}
	return ""
}

// in reports whether a package is in the directory or below it.
func in(pkg, dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }

// TestForbidden checks the rules themselves.
func TestForbidden(t *testing.T) {
	t.Parallel()
	for _, arrow := range [][2]string{
		{"kit/store", "github.com/gin-gonic/gin"},
		{"modules/article", "go.mongodb.org/mongo-driver/v2/bson"},
		{"modules/article", "github.com/prometheus/client_golang/prometheus"},
		{"middleware", "go.opentelemetry.io/otel/trace"},
		{"modules/article", root + "/modules"},
		{"modules/article", root + "/modules/auth"},
		{"modules/article", root + "/config"},
		{"middleware", root + "/modules/user"},
		{"kit/listing", root + "/middleware"},
		{"testkit", root + "/modules"},
		{"modules/article", root + "/modules/apitest"},
		{"config", root + "/middleware"},
		{"scripts/x", root + "/config"},
		{"", root + "/testkit"},
		{"", root + "/internal/resilience"},
		{"kit/store/mongo", root + "/kit/store/mongo/mongotest"},
	} {
		to, own := strings.CutPrefix(arrow[1], root+"/")
		if forbidden(arrow[0], to, own, arrow[1]) == "" {
			t.Errorf("%s may import %s", arrow[0], arrow[1])
		}
	}
	for _, arrow := range [][2]string{{"", root + "/modules"}, {"modules/auth", root + "/modules/user"}, {"modules/article", root + "/middleware"}} {
		to, own := strings.CutPrefix(arrow[1], root+"/")
		if why := forbidden(arrow[0], to, own, arrow[1]); why != "" {
			t.Errorf("%s may not import %s: %s", arrow[0], arrow[1], why)
		}
	}
}

// TestMongoDBAddress checks that only mongotest reads the address of the MongoDB server for tests. A test that did would run
// on the database that the address names, which may be in use.
func TestMongoDBAddress(t *testing.T) {
	t.Parallel()
	var readers []string
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || path == "arrows_test.go" {
			return err
		}
		source, err := os.ReadFile(path)
		if strings.Contains(string(source), `"TEST_MONGODB_URI"`) {
			readers = append(readers, filepath.ToSlash(path))
		}
		return err
	})
	if want := []string{"kit/store/mongo/mongotest/mongotest.go"}; err != nil || !slices.Equal(readers, want) {
		t.Errorf("%v, %v read TEST_MONGODB_URI, want %v", err, readers, want)
	}
}
