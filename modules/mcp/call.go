package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
)

// call is the request that calls a tool.
type call struct {
	ctx        context.Context
	remoteAddr string
	header     http.Header // sent with the requests of the tool
	requestID  string
	caller     access.Principal

	panicked error // the panic of a tool
}

type callKey struct{}

func newCall(g *gin.Context) *call {
	c := &call{ctx: g.Request.Context(), remoteAddr: g.Request.RemoteAddr, header: http.Header{}, requestID: rest.RequestID(g), caller: rest.Caller(g)}
	for _, name := range []string{"Authorization", "User-Agent", "X-Forwarded-For"} {
		c.header[name] = g.Request.Header[name]
	}
	c.header.Set("X-Request-Id", c.requestID)
	return c
}

// problem is the error of a tool: the JSON of a rest.Problem.
type problem []byte

func (p problem) Error() string { return string(p) }

func (c *call) invalid(fields ...apperr.Field) error {
	return c.problem(http.StatusBadRequest, apperr.Invalid(fields...))
}

func (c *call) problem(status int, e *apperr.Error) error {
	body, err := json.Marshal(rest.Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: e.Code, Detail: e.Message, RequestID: c.requestID, Errors: e.Fields,
	})
	if err != nil {
		return err
	}
	return problem(body)
}

// send sends a request to a route of a resource, as the caller. The error is a problem.
func (s *service) send(c *call, method, path string, query url.Values, header map[string]string, body Object) (*recorder, error) {
	target := url.URL{Path: s.root + path, RawQuery: query.Encode()}
	request, err := http.NewRequestWithContext(c.ctx, method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.RemoteAddr, request.Header = c.remoteAddr, c.header.Clone()
	if len(body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response := newRecorder()
	s.handler.ServeHTTP(response, request)
	if response.status >= http.StatusBadRequest {
		return nil, response.problem()
	}
	return response, nil
}

// limitProblem returns text, the JSON of a problem. If text is larger than maxText, limitProblem replaces the list of errors.
func limitProblem(text string) string {
	var p map[string]any
	if len(text) <= maxText || json.Unmarshal([]byte(text), &p) != nil {
		return text
	}
	p["errors"] = "There are too many errors to list."
	return encode(p)
}

// problem returns the problem in the response, and adds the value of the Retry-After header.
func (r *recorder) problem() error {
	var fields map[string]json.RawMessage
	wait := r.header.Get("Retry-After")
	if wait == "" || json.Unmarshal(r.body.Bytes(), &fields) != nil {
		return problem(bytes.TrimSpace(r.body.Bytes()))
	}
	fields["retryAfter"] = json.RawMessage(wait)
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return problem(body)
}
