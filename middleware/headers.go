package middleware

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/rs/cors"
)

// CORS allows browser requests from the origins; "*" allows any.
func CORS(origins []string) gin.HandlerFunc {
	rules := cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"},
		AllowedHeaders: []string{"Authorization", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key", "X-Request-Id"},
		ExposedHeaders: []string{"ETag", "X-Request-Id", "Retry-After", "Location", "Link", "Idempotency-Replayed", "RateLimit", "RateLimit-Policy", "Deprecation", "Sunset"},
		MaxAge:         600, // seconds
	})
	return func(c *gin.Context) {
		rules.HandlerFunc(c.Writer, c.Request)
		if c.Request.Method == http.MethodOptions && c.GetHeader("Access-Control-Request-Method") != "" {
			c.Abort() // a preflight request is complete
		}
	}
}

// SecurityHeaders sets headers that keep browsers from treating a response as anything but data (OWASP REST Security
// Cheat Sheet).
func SecurityHeaders() gin.HandlerFunc {
	return func(c *gin.Context) {
		header := c.Writer.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	}
}
