package server

import (
	"cmp"
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"html"
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
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
)

// Documents has the description of the API as JSON, in two formats: OpenAPI 3 and Swagger 2.
type Documents struct{ OpenAPI, Swagger []byte }

// docsPolicy is the Content-Security-Policy of Swagger UI. It lets Swagger UI load its own files and call this service, and
// nothing else.
const docsPolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

//go:embed swaggerui/*.html swaggerui/*.js swaggerui/*.gz swaggerui/*.png
var swaggerUI embed.FS

// documentation has /openapi.json and Swagger UI at /docs/. gin-swagger serves only the Swagger 2 document. Its HTML page is not
// used, because the page can neither sort operations nor hide the server list.
type documentation struct {
	openAPI, swagger func() rest.Asset
	files            func() map[string]rest.Asset
	page             gin.HandlerFunc
}

func newDocumentation(docs Documents, root string) *documentation {
	d := &documentation{files: sync.OnceValue(uiFiles)}
	d.openAPI = sync.OnceValue(func() rest.Asset {
		return rest.NewAsset(rest.ContentType, withRoot(docs.OpenAPI, "servers", []map[string]string{{"url": "." + root, "description": "this service"}}))
	})
	d.swagger = sync.OnceValue(func() rest.Asset {
		return rest.NewAsset(rest.ContentType, withRoot(docs.Swagger, "basePath", root+"/"))
	})
	instance := rand.Text()
	swag.Register(instance, document(func() string { return string(d.swagger().Content()) }))
	d.page = ginswagger.CustomWrapHandler(&ginswagger.Config{InstanceName: instance}, new(webdav.Handler))
	return d
}

// Parts implements kit.Module.
func (d *documentation) Parts() kit.Parts { return kit.Parts{} }

// Routes implements kit.Module.
func (d *documentation) Routes(r *route.Router) {
	r = r.AtRoot()
	r.GET("/openapi.json", route.Open, func(g *gin.Context) error { d.openAPI().Serve(g); return nil }, route.With(ignoreWriteErrors))
	r.GET("/docs", route.Open, func(g *gin.Context) error { redirect(g, "docs/"); return nil })
	r.GET("/docs/*any", route.Open, d.serve, route.With(ignoreWriteErrors))
}

func (d *documentation) serve(g *gin.Context) error {
	g.Header("Content-Security-Policy", docsPolicy)
	name := cmp.Or(strings.TrimPrefix(g.Param("any"), "/"), "index.html")
	f, ok := d.files()[name]
	switch {
	case name == "doc.json":
		if !d.swagger().NotModified(g) {
			d.page(g)
		}
	case ok:
		f.Serve(g)
	default:
		return apperr.New(apperr.NotFound, "This path does not exist.")
	}
	return nil
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

// uiFiles returns the files of Swagger UI by name, without the suffix .gz of compressed files.
func uiFiles() map[string]rest.Asset {
	const dir = "swaggerui"
	entries, err := swaggerUI.ReadDir(dir)
	if err != nil {
		panic(err) // unreachable: the files are embedded
	}
	files := make(map[string]rest.Asset, len(entries))
	for _, entry := range entries {
		content, err := swaggerUI.ReadFile(path.Join(dir, entry.Name()))
		if err != nil {
			panic(err)
		}
		name, compressed := strings.CutSuffix(entry.Name(), ".gz")
		if contentType := fileTypes[path.Ext(name)]; compressed {
			files[name] = rest.GzipAsset(contentType, content)
		} else {
			files[name] = rest.NewAsset(contentType, content)
		}
	}
	return files
}

// fileTypes are the media types of the files of Swagger UI. Package mime would use the types of the operating system.
var fileTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".png": "image/png",
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

const htmlType, textType = "text/html; charset=utf-8", "text/plain; charset=utf-8"

// previews has GET /dev/emails, which lists the modules' email previews, and the previews: /dev/emails/NAME.html and
// /dev/emails/NAME.txt.
type previews struct {
	index []byte
	pages map[string]rest.Asset
}

// newPreviews returns the previews that a function returns; nil: there are none.
func newPreviews(emails func() []email.Preview) previews {
	var list strings.Builder
	var all []email.Preview
	if emails != nil {
		all = emails()
	}
	pages := map[string]rest.Asset{}
	for _, p := range all {
		pages[p.Name+".html"] = rest.NewAsset(htmlType, []byte(p.Message.HTML))
		pages[p.Name+".txt"] = rest.NewAsset(textType, fmt.Appendf(nil, "To: %s\nSubject: %s\n\n%s", p.Message.To, p.Message.Subject, p.Message.Text))
		fmt.Fprintf(&list, "<tr><td>%s<td>%s<td><a href=\"emails/%[1]s.html\">HTML</a><td><a href=\"emails/%[1]s.txt\">text</a>\n",
			html.EscapeString(p.Name), html.EscapeString(p.Message.Subject))
	}
	index := []byte("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Emails</title>\n<style>body { font-family: sans-serif } td { padding: 4px 12px }</style>\n" +
		"<h1>Emails</h1>\n<p>Edit them in <code>modules/*/emails</code>, and restart the service.</p>\n<table>\n" + list.String() + "</table>\n")
	return previews{index, pages}
}

// Parts implements kit.Module.
func (p previews) Parts() kit.Parts { return kit.Parts{} }

// Routes implements kit.Module.
func (p previews) Routes(r *route.Router) {
	r = r.AtRoot()
	r.GET("/dev/emails", route.Open, func(g *gin.Context) error {
		g.Header("Content-Security-Policy", emailsPolicy)
		g.Data(http.StatusOK, htmlType, p.index)
		return nil
	})
	r.GET("/dev/emails/:file", route.Open, func(g *gin.Context) error {
		page, ok := p.pages[g.Param("file")]
		if !ok {
			return apperr.New(apperr.NotFound, "This email does not exist. GET /dev/emails lists the emails.")
		}
		g.Header("Content-Security-Policy", emailsPolicy)
		page.Serve(g)
		return nil
	})
}
