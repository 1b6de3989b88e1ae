package server

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
)

// mounter mounts routes on an engine.
type mounter struct {
	limitBody, authenticate      func(*route.Route) gin.HandlerFunc
	origin, idempotency, streams gin.HandlerFunc
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
