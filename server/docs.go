package server

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"

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

// mountDocs adds /openapi.json and Swagger UI at /docs/. root is the path of the API. gin-swagger serves only the Swagger 2
// document. Its HTML page is not used, because the page can neither sort operations nor hide the server list.
func mountDocs(engine *gin.Engine, docs Documents, root string) {
	openAPI := sync.OnceValue(func() file {
		return newFile(rest.ContentType, withRoot(docs.OpenAPI, "servers", []map[string]string{{"url": "." + root, "description": "this service"}}))
	})
	swagger := sync.OnceValue(func() file { return newFile(rest.ContentType, withRoot(docs.Swagger, "basePath", root+"/")) })
	instance := rand.Text()
	swag.Register(instance, document(func() string { return string(swagger().content) }))
	doc := ginswagger.CustomWrapHandler(&ginswagger.Config{InstanceName: instance}, new(webdav.Handler))
	files := sync.OnceValue(uiFiles)

	engine.GET("/openapi.json", ignoreWriteErrors, func(g *gin.Context) { openAPI().serve(g) })
	engine.GET("/docs", func(g *gin.Context) { redirect(g, "docs/") })
	engine.GET("/docs/*any", ignoreWriteErrors, func(g *gin.Context) {
		g.Header("Content-Security-Policy", docsPolicy)
		name := cmp.Or(strings.TrimPrefix(g.Param("any"), "/"), "index.html")
		f, ok := files()[name]
		switch {
		case name == "doc.json":
			if !swagger().notModified(g) {
				doc(g)
			}
		case ok:
			f.serve(g)
		default:
			rest.Fail(g, apperr.New(apperr.NotFound, "This path does not exist."))
		}
	})
}

// ignoreWriteErrors removes the errors of handlers from the log, unless the status is 500 or more. Gin records an error if a
// write fails because the client has disconnected or does not read.
func ignoreWriteErrors(g *gin.Context) {
	g.Next()
	if g.Writer.Status() < http.StatusInternalServerError {
		g.Errors = nil
	}
}

// document implements swag.Swagger.
type document func() string

func (d document) ReadDoc() string { return d() }

type file struct {
	contentType, tag string
	content          []byte
	compressed       bool // content is compressed with gzip
}

func newFile(contentType string, content []byte) file {
	return file{contentType: contentType, tag: rest.ContentTag(content), content: content}
}

// notModified makes clients revalidate a cached file. If the client has the file, notModified responds 304 and returns true.
func (f file) notModified(g *gin.Context) bool {
	g.Header("Cache-Control", "no-cache")
	return rest.NotModified(g, f.tag)
}

// serve responds with the file, or with 304 if the client has it.
func (f file) serve(g *gin.Context) {
	switch {
	case f.notModified(g):
	case !f.compressed:
		g.Data(http.StatusOK, f.contentType, f.content)
	case acceptsGzip(g.GetHeader("Accept-Encoding")):
		g.Header("ETag", strings.TrimSuffix(f.tag, `"`)+rest.GzipSuffix+`"`)
		g.Header("Content-Encoding", "gzip")
		g.Data(http.StatusOK, f.contentType, f.content)
	default:
		g.Header("Content-Type", f.contentType)
		unzip(g.Writer, f.content)
	}
}

// uiFiles returns the files of Swagger UI by name, without the suffix .gz of compressed files.
func uiFiles() map[string]file {
	const dir = "swaggerui"
	entries, err := swaggerUI.ReadDir(dir)
	if err != nil {
		panic(err) // unreachable: the files are embedded
	}
	files := make(map[string]file, len(entries))
	for _, entry := range entries {
		content, err := swaggerUI.ReadFile(path.Join(dir, entry.Name()))
		if err != nil {
			panic(err)
		}
		name, compressed := strings.CutSuffix(entry.Name(), ".gz")
		f := newFile(fileTypes[path.Ext(name)], content)
		f.compressed = compressed
		files[name] = f
	}
	return files
}

// fileTypes are the media types of the files of Swagger UI. Package mime would use the types of the operating system.
var fileTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".png": "image/png",
}

// unzip writes the uncompressed content in small parts, so that only a part is in memory while a client reads slowly. It stops if
// a write fails.
func unzip(w io.Writer, content []byte) {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		panic(err) // unreachable: the files are embedded
	}
	_, _ = io.Copy(w, reader) // fails if the client has disconnected
}

// acceptsGzip reports whether an Accept-Encoding header accepts gzip (RFC 9110 section 12.5.3).
func acceptsGzip(header string) bool {
	for item := range strings.SplitSeq(header, ",") {
		coding, weight, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(item, " ", "")), ";")
		if coding == "gzip" {
			return strings.Trim(weight, "q=0.") != "" || weight == ""
		}
	}
	return false
}

// redirect redirects to a relative URL. A relative URL is also valid behind a proxy that adds a prefix to the path.
func redirect(g *gin.Context, location string) {
	g.Header("Location", location)
	g.Status(http.StatusFound)
	g.Writer.WriteHeaderNow()
}

// withRoot returns a JSON document with a property set to value. value contains the path of the API.
func withRoot(doc []byte, property string, value any) []byte {
	var spec map[string]json.RawMessage
	if err := json.Unmarshal(doc, &spec); err != nil {
		panic(fmt.Errorf("server: API document: %w", err)) // unreachable: the document is embedded
	}
	spec[property], _ = json.Marshal(value)
	out, _ := json.Marshal(spec)
	return out
}

// emailsPolicy is the Content-Security-Policy of email previews. It allows inline styles and nothing else.
const emailsPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

// mountEmails adds GET /dev/emails, which lists the modules' email previews. It also adds the previews: /dev/emails/NAME.html
// and /dev/emails/NAME.txt.
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
	engine.GET("/dev/emails", func(g *gin.Context) {
		g.Header("Content-Security-Policy", emailsPolicy)
		g.Data(http.StatusOK, htmlType, index)
	})
	engine.GET("/dev/emails/:file", func(g *gin.Context) {
		page, ok := pages[g.Param("file")]
		if !ok {
			rest.Fail(g, apperr.New(apperr.NotFound, "This email does not exist. GET /dev/emails lists the emails."))
			return
		}
		g.Header("Content-Security-Policy", emailsPolicy)
		g.Data(http.StatusOK, page.contentType, page.content)
	})
}
