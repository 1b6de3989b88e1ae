package server

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
)

// mounter mounts routes on an engine.
type mounter struct {
	limitBody, authenticate      func(*route.Route) gin.HandlerFunc
	origin, idempotency, streams gin.HandlerFunc
	downloads                    map[string]bool // the paths of downloads
}

// mount mounts a route. The order of its middleware: the limits of the body, what rejects a request without reading it, then
// authentication, which reads the body, then what needs the caller.
func (m mounter) mount(engine *gin.Engine, r *route.Route) {
	handlers := append([]gin.HandlerFunc{route.External(m.limitBody(r))}, r.With...)
	add := func(needed bool, handler gin.HandlerFunc) {
		if needed {
			handlers = append(handlers, handler)
		}
	}
	add(m.downloads[r.Path] && r.Method != http.MethodGet, rejectLink)
	add(r.Origin, m.origin)
	add(r.JSONOnly, rest.JSONOnly)
	if r.Kind == route.KindOpen {
		add(true, func(g *gin.Context) {
			if err := r.Handler(g); err != nil {
				rest.Fail(g, err)
			}
		})
	} else {
		add(true, m.authenticate(r))
		add(r.Idempotent, m.idempotency)
		add(r.Stream, m.streams)
		add(true, rest.Handle(r.Handler, r.Query...))
	}
	engine.Handle(r.Method, r.Path, handlers...)
}

// rejectLink responds 405 to a request that uses a link to a file for a method other than GET and HEAD.
func rejectLink(g *gin.Context) {
	if files.IsLink(g.Request.URL.Query()) {
		g.Header("Allow", "GET, HEAD")
		rest.Fail(g, apperr.New(apperr.MethodNotAllowed, "A link only reads a file."))
	}
}
