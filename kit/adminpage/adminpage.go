// Package adminpage has the admin page: static files that administer a service with its API, as the API document describes it. The
// module admin serves it.
package adminpage

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
)

//go:embed page
var files embed.FS

const index = "index.html"

// importMap matches the import map in index.html, the only inline script.
var importMap = regexp.MustCompile(`<script type="importmap">([^<]*)</script>`)

// types are the media types of the files. Package mime would use the types of the operating system.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// Page serves the files of the admin page, and the API document for it.
type Page struct {
	name     string
	routes   *route.Table
	files    func() map[string]rest.Asset
	html     func(first bool) rest.Asset
	document func() rest.Asset
}

// New returns the page of the service with the name. routes must be complete when the page handles requests.
func New(name string, routes *route.Table) *Page {
	p := &Page{name: name, routes: routes}
	p.files = sync.OnceValue(readFiles)
	pages := sync.OnceValue(func() [2]rest.Asset { return [2]rest.Asset{p.render(false), p.render(true)} })
	p.html = func(first bool) rest.Asset {
		if first {
			return pages()[1]
		}
		return pages()[0]
	}
	p.document = sync.OnceValue(p.describe)
	return p
}

// Redirect redirects to the page. The URL is relative, so it is also valid behind a proxy that adds a prefix to the path.
func (p *Page) Redirect(g *gin.Context) {
	g.Header("Location", path.Base(g.Request.URL.Path)+"/")
	g.Status(302)
	g.Writer.WriteHeaderNow()
}

// ServeIndex responds with the HTML page. first offers to create the first admin.
func (p *Page) ServeIndex(g *gin.Context, first bool) {
	setPolicy(g)
	g.Header("Cross-Origin-Opener-Policy", "same-origin") // the window of a provider has no opener
	p.html(first).Serve(g)
}

// ServeFile responds with the file that the path parameter file names. NotFound: there is none.
func (p *Page) ServeFile(g *gin.Context) error {
	f, ok := p.files()[g.Param("file")]
	if !ok {
		return apperr.New(apperr.NotFound, "This path does not exist.")
	}
	setPolicy(g)
	f.Serve(g)
	return nil
}

// ServeDocument responds with the API document, without the operations that settings turn off. The URL in servers is relative to the
// page.
func (p *Page) ServeDocument(g *gin.Context) { p.document().Serve(g) }

// policy is the Content-Security-Policy of the page.
var policy = sync.OnceValue(func() string {
	content, _ := files.ReadFile("page/" + index) // cannot fail: the file is embedded
	sum := sha256.Sum256(importMap.FindSubmatch(content)[1])
	return "default-src 'none'; script-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; style-src 'self'; img-src 'self' blob:; " +
		"connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
})

func setPolicy(g *gin.Context) {
	g.Header("Content-Security-Policy", policy())
	g.Header("Referrer-Policy", "no-referrer")
}

// compress returns the content compressed with gzip. The bytes are the same for each start, and so are the ETags.
func compress(content []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // cannot fail: the level is valid
	_, _ = w.Write(content)                                 // cannot fail: writes to memory
	_ = w.Close()
	return out.Bytes()
}

// readFiles returns the files besides index.html by name.
func readFiles() map[string]rest.Asset {
	out := map[string]rest.Asset{}
	for _, name := range names() {
		content, _ := files.ReadFile("page/" + name) // cannot fail: the file is embedded
		out[name] = rest.GzipAsset(types[path.Ext(name)], compress(content))
	}
	return out
}

// names returns the names of the files besides index.html.
func names() (out []string) {
	entries, _ := files.ReadDir("page") // cannot fail: the directory is embedded
	for _, entry := range entries {
		if entry.Name() != index {
			out = append(out, entry.Name())
		}
	}
	return out
}

// has reports whether the service has the route below the root of the API. kind, if given, is a kind of its callers.
func (p *Page) has(method, path string, kinds ...route.Kind) bool {
	r := p.routes.Match(method, p.routes.Root()+path)
	return r != nil && (len(kinds) == 0 || slices.Contains(kinds, r.Kind))
}

// render returns index.html: with the path of the API, and with what the sign-in form needs, because the document is only for admins.
func (p *Page) render(first bool) rest.Asset {
	content, _ := files.ReadFile("page/" + index) // cannot fail: the file is embedded
	data := []string{fmt.Sprintf("data-api=%q data-name=%q", "../"+strings.TrimPrefix(p.routes.Root(), "/"), html.EscapeString(p.name))}
	for name, set := range map[string]bool{
		"data-master-key": p.has("POST", "/auth", route.KindMaster), "data-passkeys": p.has("POST", "/auth/passkey"), "data-email-codes": p.has("POST", "/auth/email-code"),
		"data-providers": p.has("GET", "/auth/providers"), "data-first": first,
	} {
		if set {
			data = append(data, name)
		}
	}
	slices.Sort(data)
	var preload strings.Builder
	for _, name := range names() {
		if ext := path.Ext(name); ext == ".js" || ext == ".mjs" {
			fmt.Fprintf(&preload, "<link rel=\"modulepreload\" href=\"%s\">\n", name)
		}
	}
	text := strings.NewReplacer("{{data}}", strings.Join(data, " "), "{{name}}", html.EscapeString(p.name), "{{preload}}\n", preload.String()).Replace(string(content))
	return rest.GzipAsset("text/html; charset=utf-8", compress([]byte(text)))
}

// describe returns the API document with the operations that the service has, and x-caller public for those of the master key that any
// caller may use. Documents of services without routes are empty.
func (p *Page) describe() rest.Asset {
	var document map[string]json.RawMessage
	var paths map[string]map[string]json.RawMessage
	err := json.Unmarshal(p.routes.Document(), &document)
	if err == nil {
		err = json.Unmarshal([]byte(cmp.Or(string(document["paths"]), "{}")), &paths)
	}
	if err != nil {
		panic(fmt.Errorf("adminpage: API document: %w", err)) // unreachable: the document is embedded
	}
	for path, operations := range paths {
		for method, raw := range operations {
			var operation struct {
				Setting string `json:"x-setting"`
				Caller  string `json:"x-caller"`
			}
			_ = json.Unmarshal(raw, &operation) // an item of the path that is no operation has no setting
			if operation.Setting != "" && !p.has(strings.ToUpper(method), path) {
				delete(operations, method)
			} else if operation.Caller == "master" && !p.has(strings.ToUpper(method), path, route.KindMaster) {
				var fields map[string]json.RawMessage
				_ = json.Unmarshal(raw, &fields) // cannot fail: raw is an object
				fields["x-caller"] = json.RawMessage(`"public"`)
				operations[method], _ = json.Marshal(fields)
			}
		}
	}
	document["paths"], _ = json.Marshal(paths)
	document["servers"], _ = json.Marshal([]map[string]string{{"url": ".." + p.routes.Root()}})
	out, _ := json.Marshal(document)
	return rest.GzipAsset(rest.ContentType, compress(out))
}
