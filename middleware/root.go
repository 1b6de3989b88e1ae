package middleware

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"
	swaggerfiles "github.com/swaggo/files"
	ginswagger "github.com/swaggo/gin-swagger"

	"example.com/ginseng/internal/apperr"
)

// mountHealth mounts what load balancers and orchestrators ask: /livez answers while the process does, /readyz while it
// can do its work.
func mountHealth(engine *gin.Engine, ready func(context.Context) error) {
	ok := map[string]string{"status": "ok"}
	engine.GET("/livez", func(c *gin.Context) { _ = OK(c, ok) })
	engine.GET("/readyz", func(c *gin.Context) {
		if err := ready(c.Request.Context()); err != nil {
			fail(c, err)
			return
		}
		_ = OK(c, ok)
	})
}

// docsPolicy lets the page of Swagger UI run its own files and call this service, and nothing else.
const docsPolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

// mountDocs mounts Swagger UI, from the binary, and the document it shows, whose basePath becomes the API's root.
func mountDocs(engine *gin.Engine, doc []byte, root string) {
	ui := ginswagger.WrapHandler(swaggerfiles.Handler,
		ginswagger.URL("doc.json"), ginswagger.PersistAuthorization(true), ginswagger.DefaultModelsExpandDepth(-1), ginswagger.DeepLinking(true))
	doc = withBasePath(doc, root)
	engine.GET("/docs", func(c *gin.Context) { redirect(c, "docs/") })
	engine.GET("/docs/*file", func(c *gin.Context) {
		switch file := c.Param("file"); {
		case file == "/":
			redirect(c, "index.html")
		case file == "/doc.json":
			write(c, http.StatusOK, jsonType, doc)
		case !isDocsFile(c, file):
			fail(c, apperr.New(apperr.NotFound, "There is nothing at this address."))
		default:
			// gin-swagger reads the raw request line, and takes the folder of the first one it sees for that of all.
			c.Request.RequestURI = c.Request.URL.Path
			c.Header("Content-Security-Policy", docsPolicy)
			ui(c)
		}
	})
}

// isDocsFile reports whether Swagger UI has the file: three that gin-swagger makes, and those of the distribution.
func isDocsFile(c *gin.Context, file string) bool {
	if file == "/index.html" || file == "/index.css" || file == "/swagger-initializer.js" {
		return true
	}
	info, err := swaggerfiles.FS.Stat(c.Request.Context(), file)
	return err == nil && !info.IsDir()
}

// redirect names the new address relative to the old one, so that it holds behind a proxy that adds a prefix.
func redirect(c *gin.Context, location string) {
	c.Header("Location", location)
	c.Status(http.StatusFound)
	c.Writer.WriteHeaderNow()
}

func withBasePath(doc []byte, root string) []byte {
	var spec map[string]json.RawMessage
	if err := json.Unmarshal(doc, &spec); err != nil {
		panic(fmt.Errorf("middleware: the embedded Swagger document: %w", err)) // generated, and tested
	}
	spec["basePath"], _ = json.Marshal(root + "/")
	out, _ := json.Marshal(spec) // raw messages just read
	return out
}
