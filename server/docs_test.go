package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
)

// pageSums are the SHA-256 sums of the files in the package of Swagger UI.
func pageSums(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("swaggerui/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		sums[name] = sum
	}
	return sums
}

// unzip returns the uncompressed content.
func unzip(t *testing.T, content []byte) []byte {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	content, err = io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestPage loads the page with and without gzip. The files must be those of the package.
func TestPage(t *testing.T) {
	t.Parallel()
	s := newHandler(t, io.Discard, func(*route.Router) {})
	page := do(s, "GET", "/docs/", "", "").Body.String()
	sums := pageSums(t)
	for name, contentType := range map[string]string{
		"swagger-ui-bundle.js": "text/javascript; charset=utf-8", "swagger-ui.css": "text/css; charset=utf-8",
		"initializer.js": "text/javascript; charset=utf-8", "favicon-16x16.png": "image/png", "favicon-32x32.png": "image/png",
	} {
		if !strings.Contains(page, `"`+name+`"`) {
			t.Errorf("the page does not load %s: %s", name, page)
		}
		for _, accepted := range []string{"", "gzip", "br, GZIP;q=0.5", "gzip;q=0, br", "identity", "gzip;q=0.000"} {
			w := do(s, "GET", "/docs/"+name, "", "", "Accept-Encoding", accepted)
			content := w.Body.Bytes()
			gzipped := w.Header().Get("Content-Encoding") == "gzip"
			if tag := w.Header().Get("ETag"); strings.HasSuffix(tag, rest.GzipSuffix+`"`) != gzipped {
				t.Errorf("%s for %q: the ETag is %s", name, accepted, tag)
			} else if again := do(s, "GET", "/docs/"+name, "", "", "Accept-Encoding", accepted, "If-None-Match", tag); again.Code != 304 {
				t.Errorf("%s for %q again: %d", name, accepted, again.Code)
			} else if part := do(s, "GET", "/docs/"+name, "", "", "If-Match", `"x"`, "Range", "bytes=9999999-"); part.Code != 200 {
				t.Errorf("%s with If-Match and Range: %d", name, part.Code)
			}
			if gzipped && !slices.Contains([]string{"gzip", "br, GZIP;q=0.5"}, accepted) {
				t.Errorf("%s is compressed for %q", name, accepted)
			} else if gzipped {
				content = unzip(t, content)
			} else if len(content) > 100_000 && accepted == "gzip" {
				t.Errorf("%s is not compressed", name)
			}
			if w.Code != 200 || w.Header().Get("Content-Type") != contentType || len(content) == 0 || !strings.Contains(w.Header().Get("Vary"), "Accept-Encoding") {
				t.Errorf("%s: %d, %d bytes, %v", name, w.Code, len(content), w.Header())
			}
			if sum := sha256.Sum256(content); name != "initializer.js" && hex.EncodeToString(sum[:]) != sums[name] {
				t.Errorf("%s for %q is not that of SHA256SUMS", name, accepted)
			}
		}
	}
	if index := do(s, "GET", "/docs/index.html", "", ""); index.Body.String() != page || index.Header().Get("Content-Security-Policy") != docsPolicy {
		t.Errorf("index.html: %s", index.Body)
	}
	if strings.Contains(page, "//") || strings.Contains(page, "<script>") {
		t.Errorf("the page names another host, or has a script that its policy forbids: %s", page)
	}
}

// writes records the largest write of a response.
type writes struct {
	http.ResponseWriter
	all, largest int
}

func (w *writes) Write(p []byte) (int, error) {
	w.all, w.largest = w.all+len(p), max(w.largest, len(p))
	return w.ResponseWriter.Write(p)
}

// TestPageInParts checks that the largest file, requested without gzip, is decompressed while it is written.
func TestPageInParts(t *testing.T) {
	t.Parallel()
	s := newHandler(t, io.Discard, func(*route.Router) {})
	w := &writes{ResponseWriter: httptest.NewRecorder()}
	s.ServeHTTP(w, httptest.NewRequest("GET", "/docs/swagger-ui-bundle.js", nil))
	if w.all < 1<<20 || w.largest > 64<<10 {
		t.Errorf("%d bytes, at most %d at once", w.all, w.largest)
	}
}

// TestPageAfterStrangeRequests requests files of the page first by unusual URLs. gin-swagger derives the prefix of its files
// from the first request.
func TestPageAfterStrangeRequests(t *testing.T) {
	t.Parallel()
	s := newHandler(t, io.Discard, func(*route.Router) {})
	for _, path := range []string{"/docs/swagger-ui.css?x=/a/index.html", "/docs/favicon-16x16.png?/doc.json", "/docs/swagger-ui-bundle.js"} {
		if w := do(s, "GET", path, "", ""); w.Code != 200 || strings.Contains(w.Header().Get("Content-Type"), "html") {
			t.Errorf("%s: %d %s", path, w.Code, w.Header().Get("Content-Type"))
		}
	}
}

// TestDocuments reads the documents below a root twice. The second response is 304.
func TestDocuments(t *testing.T) {
	t.Parallel()
	s := newHandler(t, io.Discard, func(*route.Router) {}, func(o *HandlerOptions) { o.Settings.APIRoot = "/api/v1" })
	for path, want := range map[string]string{
		"/openapi.json":  `{"openapi":"3.0.3","servers":[{"description":"this service","url":"./api/v1"}]}`,
		"/docs/doc.json": `{"basePath":"/api/v1/","swagger":"2.0"}`,
	} {
		for _, accepted := range []string{"identity", "gzip"} {
			w := do(s, "GET", path, "", "", "Accept-Encoding", accepted)
			if w.Code != 200 || w.Header().Get("Content-Type") != rest.ContentType || w.Body.String() != want {
				t.Errorf("%s: %d %s %s", path, w.Code, w.Header().Get("Content-Type"), w.Body)
			}
			again := do(s, "GET", path, "", "", "Accept-Encoding", accepted, "If-None-Match", w.Header().Get("ETag"))
			if again.Code != 304 || again.Body.Len() > 0 || again.Header().Get("Cache-Control") != "no-cache" {
				t.Errorf("%s again: %d %v %s", path, again.Code, again.Header(), again.Body)
			}
		}
	}
	root := newHandler(t, io.Discard, func(*route.Router) {})
	if w := do(root, "GET", "/openapi.json", "", ""); !bytes.Contains(w.Body.Bytes(), []byte(`"servers":[{"description":"this service","url":"."}]`)) || !json.Valid(w.Body.Bytes()) {
		t.Errorf("at the root: %s", w.Body)
	}
	if w := do(s, "GET", "/docs", "", ""); w.Code != 302 || w.Header().Get("Location") != "docs/" {
		t.Errorf("/docs: %d to %q", w.Code, w.Header().Get("Location"))
	}
	off := newHandler(t, io.Discard, func(*route.Router) {}, func(o *HandlerOptions) { o.Settings.Docs = false })
	for _, path := range []string{"/docs", "/docs/", "/docs/index.html", "/docs/doc.json", "/openapi.json"} {
		if w := do(off, "GET", path, "", ""); w.Code != 404 {
			t.Errorf("DOCS=false: %s: %d", path, w.Code)
		}
	}
	if slices.Contains(off.Routes(), "GET /docs/*any") || !slices.Contains(s.Routes(), "GET /docs/*any") {
		t.Error("Routes differs from the mounted routes")
	}
}

// broken is the connection to a client that does not read.
type broken struct{ *httptest.ResponseRecorder }

func (broken) Write([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

func (b broken) WriteString(string) (int, error) { return b.Write(nil) }

// TestLogOfSlowReaders sends documents to clients that do not read. This must not be logged as an error.
func TestLogOfSlowReaders(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/openapi.json", "/docs/", "/docs/index.html", "/docs/initializer.js", "/docs/doc.json", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css"} {
		for _, accepted := range []string{"identity", "gzip"} {
			var log bytes.Buffer
			s := newHandler(t, &log, func(*route.Router) {})
			r := httptest.NewRequest("GET", path, nil)
			r.Header.Set("Accept-Encoding", accepted)
			s.ServeHTTP(broken{httptest.NewRecorder()}, r)
			if !strings.Contains(log.String(), "level=INFO") || strings.Contains(log.String(), "level=ERROR") {
				t.Errorf("%s, %s: %s", path, accepted, log.String())
			}
		}
	}
}
