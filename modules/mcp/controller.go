package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
)

type controller struct{ protocol http.Handler }

// newController returns a controller that keeps no sessions, so that every instance can serve every request. The library's check
// of the Host header is off, because it rejects requests from a reverse proxy on the same machine. The Origin middleware checks
// the Origin header.
func newController(s *service) *controller {
	server := s.server()
	return &controller{sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true})}
}

// handle handles a message.
//
//	@Summary		Send a Model Context Protocol message
//	@Description	Provides agents with tools that read and write the resources as the caller. The protocol is Streamable HTTP without sessions (https://modelcontextprotocol.io). Send the user token or API key in the header Authorization.
//	@Tags			mcp
//	@x-tag			"Tools with which agents read and write the resources."
//	@Accept			json
//	@Param			input	body		Message	true	"a JSON-RPC message"
//	@Success		200		{object}	Reply
//	@Success		202
//	@Router			/mcp [post]
func (c *controller) handle(g *gin.Context) error {
	if g.GetHeader("Authorization") == "" {
		return apperr.New(apperr.Unauthorized, `Send the token in the header "Authorization: Bearer …".`)
	}
	in, err := rest.Bind[Message](g)
	if err != nil {
		return err
	}
	params, err := rest.Body(g)
	if err != nil {
		return err
	}
	message := replaceID(params.Canonical(rest.Credential), in.ID, in.ID.quoted())
	call := newCall(g)
	request := g.Request.Clone(context.WithValue(g.Request.Context(), callKey{}, call))
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(message)), int64(len(message))
	request.Header.Set("Accept", "application/json, text/event-stream") // the library requires both
	response := &recorder{header: http.Header{}, status: http.StatusOK}
	c.protocol.ServeHTTP(response, request) // returns when the tools have finished
	if call.panicked != nil {
		return call.panicked
	}
	contentType := response.header.Get("Content-Type")
	if response.status >= http.StatusBadRequest && !strings.HasPrefix(contentType, "application/json") {
		return apperr.New(apperr.MalformedBody, "The message is not valid: %s", strings.TrimSpace(response.body.String()))
	}
	if response.body.Len() == 0 {
		g.Status(response.status)
		g.Writer.WriteHeaderNow()
		return nil
	}
	g.Data(response.status, contentType, replaceID(response.body.Bytes(), in.ID.quoted(), in.ID))
	return nil
}

// replaceID replaces the ID of a JSON-RPC message. The library reads numbers as float64, so that it would change a large one.
// Therefore it receives the numbers as strings. The first field named id is the ID: it sorts before params, and the library writes
// it before result.
func replaceID(message []byte, old, new ID) []byte {
	if bytes.Equal(old, new) {
		return message
	}
	const name = `"id":`
	return bytes.Replace(message, append([]byte(name), old...), append([]byte(name), new...), 1)
}

// recorder records the response of the library.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
