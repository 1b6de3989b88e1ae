package middleware

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/gin-gonic/gin"
	ginswagger "github.com/swaggo/gin-swagger"
	"golang.org/x/net/webdav"

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

//go:embed swaggerui/*.js swaggerui/*.css swaggerui/*.png
var swaggerUI embed.FS

// mountDocs mounts Swagger UI, from the binary, and the document it shows, whose basePath becomes the API's root.
func mountDocs(engine *gin.Engine, doc []byte, root string) {
	page := ginswagger.WrapHandler(new(webdav.Handler), // for the distribution's files, which are served here
		ginswagger.URL("doc.json"), ginswagger.PersistAuthorization(true), ginswagger.DefaultModelsExpandDepth(-1), ginswagger.DeepLinking(true))
	doc = withBasePath(doc, root)
	engine.GET("/docs", func(c *gin.Context) { redirect(c, "docs/") })
	engine.GET("/docs/*file", func(c *gin.Context) {
		c.Header("Content-Security-Policy", docsPolicy)
		switch file := c.Param("file"); file {
		case "/":
			redirect(c, "index.html")
		case "/doc.json":
			write(c, http.StatusOK, jsonType, doc)
		case "/index.html", "/index.css", "/swagger-initializer.js":
			c.Request.RequestURI = file // gin-swagger looks for the name anywhere in it, be it in the query
			page(c)
		default:
			if info, err := fs.Stat(swaggerUI, "swaggerui"+file); err != nil || info.IsDir() {
				fail(c, apperr.New(apperr.NotFound, "There is nothing at this address."))
				return
			}
			http.ServeFileFS(c.Writer, c.Request, swaggerUI, "swaggerui"+file)
		}
	})
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
