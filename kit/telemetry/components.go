package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/email"
)

// Hasher returns h with its metrics and a span for each call.
func (o *Observer) Hasher(h kit.Hasher) kit.Hasher {
	if o == nil {
		return h
	}
	if metered, ok := h.(Metered); ok {
		o.Register(metered)
	}
	if o.traces == nil {
		return h
	}
	return hasher{h, o.traces}
}

type hasher struct {
	kit.Hasher
	traces *traces
}

func (h hasher) Hash(ctx context.Context, password string) (hash string, err error) {
	ctx, span := h.traces.Start(ctx, "hash password")
	defer func() { endSpan(span, err) }()
	return h.Hasher.Hash(ctx, password)
}

func (h hasher) Verify(ctx context.Context, password, hash string) (match, outdated bool, err error) {
	ctx, span := h.traces.Start(ctx, "verify password")
	defer func() { endSpan(span, err) }()
	return h.Hasher.Verify(ctx, password, hash)
}

// Emails adds metrics and traces of a queue. An email is sent after the response to the request: each attempt is a new
// trace with a link to the request.
func (o *Observer) Emails(q *email.Queue) {
	if o == nil {
		return
	}
	o.Register(q)
	if o.traces == nil {
		return
	}
	q.Trace = func(request context.Context) func(context.Context) (context.Context, func(error)) {
		link := trace.LinkFromContext(request)
		return func(attempt context.Context) (context.Context, func(error)) {
			ctx, span := o.traces.Start(attempt, "send email", trace.WithNewRoot(), trace.WithLinks(link))
			return ctx, func(err error) { endSpan(span, err) }
		}
	}
}
