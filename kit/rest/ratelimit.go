package middleware

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/ratelimit"
)

// Limited lets a route's answers tell how much of its limits is left: RateLimit-Policy and RateLimit as
// draft-ietf-httpapi-ratelimit-headers writes them, and Retry-After on a 429.
func (r *Router) Limited(h Handler) Handler {
	return func(c *gin.Context) error {
		observeLimits(c)
		return h(c)
	}
}

// observeLimits writes the headers whenever a counter is looked at: the answer has not begun then. A counter that is
// looked at again, because something was counted, replaces what was said of it.
func observeLimits(c *gin.Context) {
	var told []ratelimit.State
	observe := func(states []ratelimit.State) {
		for _, s := range states {
			told = slices.DeleteFunc(told, func(t ratelimit.State) bool { return t.Name == s.Name })
			told = append(told, s)
		}
		policies, left := make([]string, len(told)), make([]string, len(told))
		for i, s := range told {
			policies[i] = fmt.Sprintf("%q;q=%d;w=%d", s.Name, s.Max, seconds(s.Window))
			left[i] = fmt.Sprintf("%q;r=%d;t=%d", s.Name, max(0, s.Left), seconds(s.Reset))
		}
		c.Header("RateLimit-Policy", strings.Join(policies, ", "))
		c.Header("RateLimit", strings.Join(left, ", "))
	}
	c.Request = c.Request.WithContext(ratelimit.WithObserver(c.Request.Context(), observe))
}
