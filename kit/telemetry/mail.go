package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"example.com/ginseng/kit/email"
)

// Mails adds the metrics of a queue of mails, and has it traced. A mail is sent after the request that asked for it has
// been answered: each try is a trace of its own, with a link to the request.
func (o *Observer) Mails(q *email.Queue) {
	if o == nil {
		return
	}
	o.Meter(q)
	if o.traces != nil {
		q.Trace = o.traces.mail
	}
}

func (t *traces) mail(request context.Context) func(context.Context) (context.Context, func(error)) {
	link := trace.LinkFromContext(request)
	return func(try context.Context) (context.Context, func(error)) {
		ctx, span := t.Start(try, "send mail", trace.WithNewRoot(), trace.WithLinks(link))
		return ctx, func(err error) { end(span, err) }
	}
}
