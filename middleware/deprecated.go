package middleware

import (
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// Deprecation says that routes will go, and when.
type Deprecation struct {
	Since  time.Time // they are deprecated, be it in the future
	Sunset time.Time // they may answer 404 from then on; the zero value where that is not settled
	Guide  string    // the address of the page that says what to call instead; "" is none
}

// Deprecated is a Router of routes that will go. All their answers, the errors too, say so: in Deprecation (RFC 9745), Sunset
// (RFC 8594), and Link with the relations deprecation and sunset. Their annotations say @Deprecated; a test holds the two
// together.
//
//	old := r.Deprecated(middleware.Deprecation{Since: …, Sunset: …, Guide: "https://example.com/news#drafts"})
//	old.GET("/drafts", access.User, m.controller.list)
func (r *Router) Deprecated(d Deprecation) *Router {
	if !d.Sunset.IsZero() && d.Sunset.Before(d.Since) {
		panic("middleware: routes are to go before they are deprecated (RFC 9745 section 4)")
	}
	out := *r
	out.group = r.group.Group("", d.tell)
	return &out
}

// tell runs before the route's own rule does, so that a refused caller is told too.
func (d Deprecation) tell(c *gin.Context) {
	header := c.Writer.Header()
	header.Set("Deprecation", fmt.Sprintf("@%d", d.Since.Unix()))
	if !d.Sunset.IsZero() {
		header.Set("Sunset", d.Sunset.UTC().Format(http.TimeFormat))
	}
	if d.Guide == "" {
		return
	}
	header.Add("Link", fmt.Sprintf(`<%s>; rel="deprecation"; type="text/html"`, d.Guide))
	if !d.Sunset.IsZero() {
		header.Add("Link", fmt.Sprintf(`<%s>; rel="sunset"; type="text/html"`, d.Guide))
	}
}
