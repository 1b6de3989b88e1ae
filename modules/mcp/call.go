package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/middleware"
)

// call is the request that calls a tool.
type call struct {
	ctx       context.Context
	requestID string
	caller    access.Principal

	panicked error // the panic of a tool
}

type callKey struct{}

func newCall(g *gin.Context) *call {
	return &call{ctx: g.Request.Context(), requestID: rest.RequestID(g), caller: rest.Caller(g)}
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

// call calls a route of a resource, as the caller, and logs the call. The error is a problem.
func (s *service) call(c *call, r route.Request) (route.Response, error) {
	r.ID = c.requestID
	begun := time.Now()
	response, err := s.routes.Call(c.ctx, c.caller, r)
	level, attrs := slog.LevelInfo, []slog.Attr{
		slog.String("requestId", r.ID), slog.String("method", r.Method), slog.String("path", r.Path), slog.Int("status", response.Status),
		slog.Duration("duration", time.Since(begun)), slog.String("userId", c.caller.UserID.Hex()),
	}
	if response.Logged != nil {
		level, attrs = middleware.Severity(response.Logged), append(attrs, slog.Any("error", response.Logged))
	}
	s.log.LogAttrs(c.ctx, level, "tool", attrs...)
	switch {
	case err == nil:
		return response, nil
	case len(response.Body) == 0:
		return response, c.problem(http.StatusInternalServerError, apperr.New(apperr.Internal, "Internal error. Report the requestId: the log has the details."))
	}
	return response, problemOf(response)
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

// problemOf returns the problem in the response, and adds the value of the Retry-After header.
func problemOf(r route.Response) error {
	var fields map[string]json.RawMessage
	wait := r.Header.Get("Retry-After")
	if wait == "" || json.Unmarshal(r.Body, &fields) != nil {
		return problem(bytes.TrimSpace(r.Body))
	}
	fields["retryAfter"] = json.RawMessage(wait)
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return problem(body)
}
