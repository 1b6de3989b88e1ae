package testkit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/testkit"
)

// faulty has a route that fails, one that panics, and one that sends a secret in a header.
type faulty struct{}

func (faulty) Parts() kit.Parts { return kit.Parts{} }

func (faulty) Routes(r *route.Router) {
	r.GET("/fails", route.Public, func(*gin.Context) error { return errors.New("the disk is full") })
	r.GET("/leaks", route.Public, func(g *gin.Context) error {
		g.Header("Location", "/?key="+testkit.MasterKey)
		return rest.NoContent(g)
	})
	r.GET("/panics", route.Public, func(*gin.Context) error { panic("no disk") })
}

// recorder is a test that records what is logged, and the errors.
type recorder struct {
	testing.TB
	text, errors string
}

func (r *recorder) Logf(format string, args ...any) { r.text += fmt.Sprintf(format, args...) + "\n" }

func (r *recorder) Errorf(format string, args ...any) {
	r.errors += fmt.Sprintf(format, args...) + "\n"
}

func (r *recorder) Error(args ...any) { r.errors += fmt.Sprintln(args...) }

// TestCause checks that the output of a test has the cause of a response with status 500, and of no other request.
func TestCause(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	api := testkit.Start(r, testkit.Service{Modules: testkit.Modules(func(kit.Deps, struct{}) []kit.Module { return []kit.Module{faulty{}} })})
	api.Do(testkit.Request{Method: "GET", Path: "/unknown"}).Want(404)
	if r.text != "" {
		t.Errorf("logged for status 404: %s", r.text)
	}
	api.Do(testkit.Request{Method: "GET", Path: "/fails"}).Want(500)
	if !strings.Contains(r.text, "GET /fails: ") || !strings.Contains(r.text, `error="the disk is full"`) {
		t.Errorf("no cause in %q", r.text)
	}
	r.text = ""
	api.Do(testkit.Request{Method: "GET", Path: "/panics"}).Want(500)
	if !strings.Contains(r.text, "panic: no disk\ngoroutine ") || !strings.Contains(r.text, "testkit_test.go:") || strings.Contains(r.text, "/fails") {
		t.Errorf("no cause in %q", r.text)
	}
}

// TestSecretInHeader checks that a test fails if a header of a response has a secret.
func TestSecretInHeader(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	api := testkit.Start(r, testkit.Service{Modules: testkit.Modules(func(kit.Deps, struct{}) []kit.Module { return []kit.Module{faulty{}} })})
	api.Do(testkit.Request{Method: "GET", Path: "/leaks"})
	if want := "the response has \"" + testkit.MasterKey; !strings.Contains(r.errors, want) {
		t.Errorf("no %q in %q", want, r.errors)
	}
}
