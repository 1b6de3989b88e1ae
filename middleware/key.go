package middleware

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
)

// resourceKey is the key, in a gin.Context, of the name of the resource that the route belongs to.
const resourceKey = "ginseng.resource"

// Resource returns the middleware for the routes of a resource. It must run before the middleware of Authenticator. The routes
// then accept API keys with the scope of the resource: ScopeRead for GET, otherwise ScopeWrite. Without ScopeRead, the responses
// to writes have only the ID of the record.
func Resource(name string) gin.HandlerFunc {
	return func(g *gin.Context) { g.Set(resourceKey, name) }
}

// checkKey returns nil if the route accepts the API key of the caller, or if the caller has no API key. InsufficientScope: the
// key does not have the scope. Forbidden: the route accepts no API key.
func (a Authenticator) checkKey(g *gin.Context, caller access.Principal) error {
	if caller.Key == nil || a.anyKey {
		return nil
	}
	name := g.GetString(resourceKey)
	if name == "" {
		return apperr.New(apperr.Forbidden, "This operation does not accept an API key. Sign in, and send the user token instead.")
	}
	action := access.ScopeWrite
	if g.Request.Method == http.MethodGet {
		action = access.ScopeRead
	}
	if !caller.Key.Has(name, action) {
		return apperr.New(apperr.InsufficientScope, "The API key does not have the scope %s. Create a key with this scope: POST /users/me/api-keys.", name+action)
	}
	if !caller.Key.Has(name, access.ScopeRead) {
		rest.OnlyID(g)
	}
	return nil
}
