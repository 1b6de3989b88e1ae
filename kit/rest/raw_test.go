package rest

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
)

func bodyContext(body io.Reader) *gin.Context {
	g, _ := gin.CreateTestContext(httptest.NewRecorder())
	g.Request = httptest.NewRequest("POST", "/events", body)
	g.Request.Header.Set("Content-Type", form)
	return g
}

// programmingMistake reports whether err is an error that clients see as an internal one, and the log as text.
func programmingMistake(err error, text string) bool {
	var e *apperr.Error
	return err != nil && !errors.As(err, &e) && strings.Contains(err.Error(), text)
}

// TestConsumedBody reads bodies in every order in which a handler can read them twice. No read returns an empty body without an error.
func TestConsumedBody(t *testing.T) {
	t.Parallel()
	const body = "a=1"
	for name, first := range map[string]func(*gin.Context) error{
		"parameters": func(g *gin.Context) error { _, err := Body(g); return err },
		"RawBody":    func(g *gin.Context) error { SetRaw(g, nil); _, err := RawBody(g); return err },
	} {
		g := bodyContext(strings.NewReader(body))
		if err := first(g); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if read, err := io.ReadAll(g.Request.Body); !programmingMistake(err, "rest.RawBody") || len(read) > 0 {
			t.Errorf("after %s: %q, %v", name, read, err)
		}
	}

	g := bodyContext(strings.NewReader(body))
	for range 2 {
		if _, err := RawBody(g); !programmingMistake(err, "add route.Raw") {
			t.Errorf("without route.Raw: %v", err)
		}
	}
	if params, err := Body(g); err != nil || len(params.Strings("a")) != 1 {
		t.Errorf("the parameters after RawBody without route.Raw: %v", err)
	}

	g = bodyContext(strings.NewReader(body))
	SetRaw(g, nil)
	if _, err := Body(g); !programmingMistake(err, "rest.RawBody") {
		t.Errorf("parameters with route.Raw: %v", err)
	}
	for range 2 {
		if read, err := RawBody(g); string(read) != body || err != nil {
			t.Errorf("RawBody: %q, %v", read, err)
		}
	}

	for _, length := range []int64{int64(len(body)), -1} {
		g = bodyContext(strings.NewReader(body))
		g.Request.ContentLength = length
		SetRaw(g, nil)
		if read, err := io.ReadAll(g.Request.Body); string(read) != body || err != nil {
			t.Errorf("a stream: %q, %v", read, err)
		}
		if read, err := RawBody(g); !programmingMistake(err, "g.Request.Body") || read != nil {
			t.Errorf("RawBody after a stream: %q, %v", read, err)
		}
	}
	for _, none := range []io.Reader{nil, http.NoBody} {
		g = bodyContext(none)
		SetRaw(g, nil)
		if read, err := RawBody(g); err != nil || len(read) != 0 {
			t.Errorf("no body: %q, %v", read, err)
		}
	}
}

// TestRawMemory reads a body that is too large for the memory.
func TestRawMemory(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]bool{maxRawBody: true, maxRawBody + 1: false} {
		g := bodyContext(strings.NewReader(strings.Repeat("x", size)))
		SetRaw(g, nil)
		read, err := RawBody(g)
		if (err == nil) != want || want && len(read) != size || !want && !apperr.Is(err, apperr.PayloadTooLarge) {
			t.Errorf("%d bytes: %d, %v", size, len(read), err)
		}
	}
}

// TestDropBody frees the bytes of a body, which a context in the pool of Gin would keep.
func TestDropBody(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(*gin.Context){
		"raw":        func(g *gin.Context) { SetRaw(g, nil); _, _ = RawBody(g) },
		"parameters": func(g *gin.Context) { _, _ = Body(g) },
	} {
		g := bodyContext(strings.NewReader("title=x"))
		read(g)
		if r := requestOf(g); r.raw == nil && r.params.form == nil {
			t.Fatalf("%s: nothing was read", name)
		}
		DropBody(g)
		if r := requestOf(g); r.raw != nil || r.params.form != nil || g.Request.Body != http.NoBody {
			t.Errorf("%s: the body is kept", name)
		}
	}
}

// TestRawErrors reads raw bodies that end early, as a whole and as a stream. Both have the errors of Body.
func TestRawErrors(t *testing.T) {
	t.Parallel()
	for want, cause := range map[apperr.Code]error{
		apperr.RequestTimeout: os.ErrDeadlineExceeded, apperr.MalformedBody: io.ErrUnexpectedEOF, apperr.PayloadTooLarge: &http.MaxBytesError{Limit: 1},
		apperr.Unavailable: apperr.New(apperr.Unavailable, "Full."),
	} {
		read := map[string]func(*gin.Context) error{
			"whole":  func(g *gin.Context) error { _, err := RawBody(g); return err },
			"stream": func(g *gin.Context) error { _, err := io.Copy(io.Discard, g.Request.Body); return err },
		}
		for name, read := range read {
			g := bodyContext(io.MultiReader(strings.NewReader("abc"), failing{cause}))
			g.Request.ContentLength = -1
			buffered := false
			SetRaw(g, func() { buffered = true })
			for range 2 {
				if err := read(g); !apperr.Is(err, want) {
					t.Errorf("%s, %v: %v", name, cause, err)
				}
			}
			if buffered != (name == "whole") {
				t.Errorf("%s: buffered %v", name, buffered)
			}
		}
	}
}
