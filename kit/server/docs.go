package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
)

// Documents describe the API: the same in OpenAPI 3 and in Swagger 2.
type Documents struct{ OpenAPI, Swagger []byte }

// docsPolicy lets the page of Swagger UI run its own files and call this service, and nothing else.
const docsPolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

//go:embed swaggerui/*.html swaggerui/*.js swaggerui/*.gz swaggerui/*.png
var swaggerUI embed.FS

// mountDocs mounts Swagger UI, from the binary, and the documents, in which the API's root is put; all when they are first
// asked for.
func mountDocs(engine *gin.Engine, docs Documents, root string) {
	openAPI := sync.OnceValue(func() file {
		return newFile(rest.ContentType, withRoot(docs.OpenAPI, "servers", []map[string]string{{"url": "." + root, "description": "this service"}}))
	})
	files := sync.OnceValue(func() map[string]file {
		files := pageFiles()
		files["doc.json"] = newFile(rest.ContentType, withRoot(docs.Swagger, "basePath", root+"/"))
		return files
	})
	engine.GET("/openapi.json", func(c *gin.Context) { openAPI().serve(c) })
	engine.GET("/docs", func(c *gin.Context) { redirect(c, "docs/") })
	engine.GET("/docs/*file", func(c *gin.Context) {
		c.Header("Content-Security-Policy", docsPolicy)
		name := strings.TrimPrefix(c.Param("file"), "/")
		if name == "" {
			name = "index.html"
		}
		f, ok := files()[name]
		if !ok {
			rest.Fail(c, apperr.New(apperr.NotFound, "This path does not exist."))
			return
		}
		f.serve(c)
	})
}

// file is something that is served as it is.
type file struct {
	contentType, tag string
	content          []byte
	compressed       bool // the content is, by gzip
}

func newFile(contentType string, content []byte) file {
	sum := sha256.Sum256(content)
	return file{contentType: contentType, tag: `"` + hex.EncodeToString(sum[:12]) + `"`, content: content}
}

// pageFiles are those of Swagger UI. A name that ends in .gz is served without that.
func pageFiles() map[string]file {
	const dir = "swaggerui"
	types := map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".png": "image/png",
	}
	entries, err := swaggerUI.ReadDir(dir)
	if err != nil {
		panic(err) // it is embedded
	}
	files := make(map[string]file, len(entries))
	for _, entry := range entries {
		content, err := swaggerUI.ReadFile(path.Join(dir, entry.Name()))
		if err != nil {
			panic(err)
		}
		name, compressed := strings.CutSuffix(entry.Name(), ".gz")
		f := newFile(types[path.Ext(name)], content)
		f.compressed = compressed
		files[name] = f
	}
	return files
}

// serve answers with the file, or with 304 to whoever has it.
func (f file) serve(c *gin.Context) {
	c.Header("Cache-Control", "no-cache") // ask again whether it has changed
	if rest.NotModified(c, f.tag) {
		return
	}
	content := f.content
	if f.compressed && acceptsGzip(c.GetHeader("Accept-Encoding")) {
		c.Header("Content-Encoding", "gzip")
		c.Header("ETag", strings.TrimSuffix(f.tag, `"`)+rest.GzipSuffix+`"`)
	} else if f.compressed {
		var err error
		if content, err = unzip(content); err != nil {
			rest.Fail(c, err)
			return
		}
	}
	c.Data(http.StatusOK, f.contentType, content)
}

func unzip(content []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// acceptsGzip reads an Accept-Encoding (RFC 9110 section 12.5.3).
func acceptsGzip(header string) bool {
	for item := range strings.SplitSeq(header, ",") {
		coding, weight, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(item, " ", "")), ";")
		if coding == "gzip" {
			return strings.Trim(weight, "q=0.") != "" || weight == ""
		}
	}
	return false
}

// redirect names the new address relative to the old one, so that it holds behind a proxy that adds a prefix.
func redirect(c *gin.Context, location string) {
	c.Header("Location", location)
	c.Status(http.StatusFound)
	c.Writer.WriteHeaderNow()
}

// withRoot sets the member of a document that says where the API is.
func withRoot(doc []byte, member string, value any) []byte {
	var spec map[string]json.RawMessage
	if err := json.Unmarshal(doc, &spec); err != nil {
		panic(fmt.Errorf("server: the embedded document of the API: %w", err)) // generated, and tested
	}
	spec[member], _ = json.Marshal(value)
	out, _ := json.Marshal(spec) // raw messages just read
	return out
}
