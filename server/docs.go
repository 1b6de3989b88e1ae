package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	ginswagger "github.com/swaggo/gin-swagger"
	"github.com/swaggo/swag"
	"golang.org/x/net/webdav"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
)

// Documents has the description of the API as JSON, in two formats: OpenAPI 3 and Swagger 2.
type Documents struct{ OpenAPI, Swagger []byte }

// docsPolicy is the Content-Security-Policy of Swagger UI. It lets Swagger UI load its own files and call this service, and
// nothing else.
const docsPolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

//go:embed swaggerui/*.html swaggerui/*.js swaggerui/*.gz swaggerui/*.png
var swaggerUI embed.FS

// mountDocs adds /openapi.json and Swagger UI at /docs/. root is the path below which the API is. gin-swagger serves the
// files of Swagger UI and the Swagger 2 document; the page and its initializer are our own, because the page of gin-swagger
// cannot sort operations or hide the server list.
func mountDocs(engine *gin.Engine, docs Documents, root string) {
	openAPI := sync.OnceValue(func() file {
		return newFile(rest.ContentType, withRoot(docs.OpenAPI, "servers", []map[string]string{{"url": "." + root, "description": "this service"}}))
	})
	ui := sync.OnceValue(func() page { return newPage(withRoot(docs.Swagger, "basePath", root+"/")) })
	engine.GET("/openapi.json", ignoreWriteErrors, func(c *gin.Context) {
		if f := openAPI(); !f.notModified(c, f.tag) {
			c.Data(http.StatusOK, f.contentType, f.content)
		}
	})
	engine.GET("/docs", func(c *gin.Context) { redirect(c, "docs/") })
	engine.GET("/docs/*any", ignoreWriteErrors, func(c *gin.Context) {
		c.Header("Content-Security-Policy", docsPolicy)
		ui().serve(c, strings.TrimPrefix(c.Param("any"), "/"))
	})
}

// ignoreWriteErrors removes the errors of handlers that responded with success from the log. Gin adds those of writing to a
// client that has disconnected or does not read; package rest does not.
func ignoreWriteErrors(c *gin.Context) {
	c.Next()
	if c.Writer.Status() < http.StatusInternalServerError {
		c.Errors = nil
	}
}

const (
	indexFile       = "index.html"
	initializerFile = "initializer.js"
	docFile         = "doc.json"
)

// page serves Swagger UI.
type page struct {
	files   map[string]file
	handler gin.HandlerFunc // the handler of gin-swagger
}

// newPage registers the document with swag under a unique name.
func newPage(swagger []byte) page {
	files := uiFiles()
	files[docFile] = newFile(rest.ContentType, swagger)
	instance := rand.Text()
	swag.Register(instance, document(swagger))
	config := ginswagger.Config{InstanceName: instance, URL: "../openapi.json", PersistAuthorization: true, DeepLinking: true}
	return page{files, ginswagger.CustomWrapHandler(&config, &webdav.Handler{FileSystem: assets{files: files}, LockSystem: webdav.NewMemLS()})}
}

// document implements swag.Swagger.
type document string

func (d document) ReadDoc() string { return string(d) }

// serve responds with the file of the name, which is index.html if it is empty, or with 304 if the client has the file.
func (p page) serve(c *gin.Context, name string) {
	if name == "" {
		name = indexFile
	}
	f, ok := p.files[name]
	if !ok {
		rest.Fail(c, apperr.New(apperr.NotFound, "This path does not exist."))
		return
	}
	if f.notModified(c, f.tag) {
		return
	}
	gzipped := f.compressed && acceptsGzip(c.GetHeader("Accept-Encoding"))
	switch {
	case name == indexFile, name == initializerFile:
		c.Data(http.StatusOK, f.contentType, f.content)
		return
	case f.compressed && !gzipped:
		c.Header("Content-Type", f.contentType)
		unzip(c.Writer, f.content)
		return
	case gzipped:
		c.Header("Content-Encoding", "gzip")
	}
	for _, name := range []string{"If-Match", "If-Unmodified-Since", "If-Range", "Range"} {
		c.Request.Header.Del(name) // net/http would respond 412 and 416 without a problem
	}
	// gin-swagger takes the name from RequestURI, and the prefix from that of the first request.
	c.Request.RequestURI = "/docs/" + name
	p.handler(c)
}

// file is a static file.
type file struct {
	contentType, tag string
	content          []byte
	compressed       bool // content is compressed with gzip
}

func newFile(contentType string, content []byte) file {
	return file{contentType: contentType, tag: rest.ContentTag(content), content: content}
}

// notModified lets clients cache the file but revalidate it. It responds 304 and returns true if they have it.
func (f file) notModified(c *gin.Context, tag string) bool {
	c.Header("Cache-Control", "no-cache")
	return rest.NotModified(c, tag)
}

// uiFiles returns the files of Swagger UI by name, without the suffix .gz of compressed ones.
func uiFiles() map[string]file {
	const dir = "swaggerui"
	types := map[string]string{ // only of files that gin-swagger does not serve, or serves only compressed
		indexFile: "text/html; charset=utf-8", initializerFile: "text/javascript; charset=utf-8",
		"swagger-ui-bundle.js": "application/javascript", "swagger-ui.css": "text/css; charset=utf-8",
	}
	entries, err := swaggerUI.ReadDir(dir)
	if err != nil {
		panic(err) // embedded
	}
	files := make(map[string]file, len(entries))
	for _, entry := range entries {
		content, err := swaggerUI.ReadFile(path.Join(dir, entry.Name()))
		if err != nil {
			panic(err)
		}
		name, compressed := strings.CutSuffix(entry.Name(), ".gz")
		f := newFile(types[name], content)
		f.compressed = compressed
		files[name] = f
	}
	return files
}

// unzip writes the uncompressed content in small parts: all of it would stay in memory while a client reads slowly. An error
// of the client ends it.
func unzip(w io.Writer, content []byte) {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		panic(err) // embedded
	}
	_, _ = io.Copy(w, reader) // fails if the client has disconnected
}

// acceptsGzip reports whether a header Accept-Encoding accepts gzip (RFC 9110 section 12.5.3).
func acceptsGzip(header string) bool {
	for item := range strings.SplitSeq(header, ",") {
		coding, weight, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(item, " ", "")), ";")
		if coding == "gzip" {
			return strings.Trim(weight, "q=0.") != "" || weight == ""
		}
	}
	return false
}

// redirect redirects to a relative URL, which is also valid behind a proxy that adds a prefix to the path.
func redirect(c *gin.Context, location string) {
	c.Header("Location", location)
	c.Status(http.StatusFound)
	c.Writer.WriteHeaderNow()
}

// withRoot returns a JSON document with another value of a property, which has the path of the API.
func withRoot(doc []byte, property string, value any) []byte {
	var spec map[string]json.RawMessage
	if err := json.Unmarshal(doc, &spec); err != nil {
		panic(fmt.Errorf("server: API document: %w", err)) // embedded
	}
	spec[property], _ = json.Marshal(value)
	out, _ := json.Marshal(spec)
	return out
}

// assets is the webdav.FileSystem of the files in one directory, which gin-swagger only opens, to read them.
type assets struct {
	webdav.FileSystem // nil
	files             map[string]file
}

// OpenFile implements webdav.FileSystem. It does not decompress files.
func (a assets) OpenFile(_ context.Context, name string, _ int, _ os.FileMode) (webdav.File, error) {
	f, ok := a.files[path.Base(name)]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return asset{Reader: bytes.NewReader(f.content), file: f}, nil
}

// asset is an open file, which is also its fs.FileInfo.
type asset struct {
	*bytes.Reader
	fs.FileInfo // nil
	file
}

func (asset) Close() error { return nil }

func (asset) Write([]byte) (int, error) { return 0, fs.ErrPermission }

func (asset) Readdir(int) ([]fs.FileInfo, error) { return nil, fs.ErrInvalid }

func (a asset) Stat() (fs.FileInfo, error) { return a, nil }

func (asset) ModTime() time.Time { return time.Time{} }

func (asset) IsDir() bool { return false }

// Size implements fs.FileInfo.
func (a asset) Size() int64 { return a.Reader.Size() }

// ETag implements webdav.ETager.
func (a asset) ETag(context.Context) (string, error) {
	if a.compressed {
		return strings.TrimSuffix(a.tag, `"`) + rest.GzipSuffix + `"`, nil
	}
	return a.tag, nil
}

// emailsPolicy is the Content-Security-Policy of emails. It allows inline styles and nothing else.
const emailsPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

// mountEmails adds GET /dev/emails, a list of the modules' previews of emails, and /dev/emails/NAME.html and NAME.txt, the
// previews.
func mountEmails(engine *gin.Engine, modules []kit.Module) {
	const htmlType, textType = "text/html; charset=utf-8", "text/plain; charset=utf-8"
	var list strings.Builder
	pages := map[string]file{}
	for _, m := range modules {
		previewer, ok := m.(kit.EmailPreviewer)
		if !ok {
			continue
		}
		for _, p := range previewer.EmailPreviews() {
			pages[p.Name+".html"] = file{contentType: htmlType, content: []byte(p.Message.HTML)}
			pages[p.Name+".txt"] = file{contentType: textType, content: fmt.Appendf(nil, "To: %s\nSubject: %s\n\n%s", p.Message.To, p.Message.Subject, p.Message.Text)}
			fmt.Fprintf(&list, "<tr><td>%s<td>%s<td><a href=\"emails/%[1]s.html\">HTML</a><td><a href=\"emails/%[1]s.txt\">text</a>\n",
				html.EscapeString(p.Name), html.EscapeString(p.Message.Subject))
		}
	}
	index := []byte("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Emails</title>\n<style>body { font-family: sans-serif } td { padding: 4px 12px }</style>\n" +
		"<h1>Emails</h1>\n<p>Edit them in <code>modules/*/emails</code>, and restart the service.</p>\n<table>\n" + list.String() + "</table>\n")
	engine.GET("/dev/emails", func(c *gin.Context) {
		c.Header("Content-Security-Policy", emailsPolicy)
		c.Data(http.StatusOK, htmlType, index)
	})
	engine.GET("/dev/emails/:file", func(c *gin.Context) {
		page, ok := pages[c.Param("file")]
		if !ok {
			rest.Fail(c, apperr.New(apperr.NotFound, "There is no such email. GET /dev/emails lists them."))
			return
		}
		c.Header("Content-Security-Policy", emailsPolicy)
		c.Data(http.StatusOK, page.contentType, page.content)
	})
}
