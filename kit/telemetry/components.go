package telemetry

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/store"
)

// Hasher registers the metrics of h, and returns h with a span for each call.
func (o *Observer) Hasher(h kit.Hasher) kit.Hasher {
	if o == nil {
		return h
	}
	if metered, ok := h.(kit.Metered); ok {
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

// Emails registers the metrics of q, and adds a trace for each attempt of q to send an email. An attempt runs after the
// response to the request that queued the email, so it has its own trace, with a link to the request.
func (o *Observer) Emails(q *email.Queue) {
	if o == nil {
		return
	}
	o.Register(q)
	if o.traces != nil {
		q.Tracer = emails{o.traces}
	}
}

type emails struct{ traces *traces }

// Link implements email.Tracer. It returns the traceparent of the request, or "" if the request is not traced.
func (e emails) Link(requestCtx context.Context) string {
	header := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(requestCtx, header)
	return header.Get(traceParent)
}

// Begin implements email.Tracer.
func (e emails) Begin(attemptCtx context.Context, link string) (context.Context, func(error)) {
	request := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{traceParent: link})
	ctx, span := e.traces.Start(attemptCtx, "send email", trace.WithNewRoot(), trace.WithLinks(trace.LinkFromContext(request)))
	return ctx, func(err error) { endSpan(span, err) }
}

// Database returns db with metrics for each operation, and a span for each operation of a request. Metrics and spans record the
// collection, the operation, the duration and the code of the error.
func (o *Observer) Database(db store.DB) store.DB {
	if o == nil {
		return db
	}
	if embedded, ok := db.(interface {
		ObserveCommits(func(writes int, took time.Duration))
	}); ok && o.metrics != nil {
		embedded.ObserveCommits(o.metrics.observeCommit)
	}
	out := database{DB: db, observer: o}
	if named, ok := db.(interface{ System() string }); ok {
		out.system = named.System()
	}
	return out
}

type database struct {
	store.DB
	observer *Observer
	system   string // db.system.name of OpenTelemetry
}

func (d database) Open(spec store.Spec) store.Engine {
	return collection{d.DB.Open(spec), d.observer, spec.Name, d.system}
}

// collection is an observed engine. It does not observe Lock, Load or Reset.
type collection struct {
	store.Engine
	observer     *Observer
	name, system string
}

// observe calls do and records the operation. Operations outside of a request, such as sweeps, have metrics but no span.
func (c collection) observe(ctx context.Context, operation string, do func(context.Context) error) (err error) {
	started := time.Now()
	var span trace.Span
	if t := c.observer.traces; t != nil && trace.SpanContextFromContext(ctx).IsValid() {
		ctx, span = t.Start(ctx, operation+" "+c.name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			semconv.DBSystemNameKey.String(c.system), semconv.DBCollectionName(c.name), semconv.DBOperationName(operation),
		))
	}
	defer func() { // deferred, to run even after a panic
		if m := c.observer.metrics; m != nil {
			m.operations.WithLabelValues(c.name, operation).Observe(time.Since(started).Seconds())
			if err != nil {
				m.failures.WithLabelValues(c.name, operation, string(apperr.CodeOf(err))).Inc()
			}
		}
		if span != nil {
			endSpan(span, err)
		}
	}()
	return do(ctx)
}

// endSpan ends a span. It records the code of the error, but not the message, which can contain data. Only Internal and
// Unavailable set the status of the span to an error, because clients cause the other errors.
func endSpan(span trace.Span, err error) {
	if err != nil {
		code := apperr.CodeOf(err)
		span.SetAttributes(semconv.ErrorTypeKey.String(string(code)))
		if code == apperr.Internal || code == apperr.Unavailable {
			span.SetStatus(codes.Error, "")
		}
	}
	span.End()
}

func (c collection) Insert(ctx context.Context, id store.ID, doc any) error {
	return c.observe(ctx, "insert", func(ctx context.Context) error { return c.Engine.Insert(ctx, id, doc) })
}

func (c collection) First(ctx context.Context, f store.Filter, into any) error {
	return c.observe(ctx, "first", func(ctx context.Context) error { return c.Engine.First(ctx, f, into) })
}

func (c collection) List(ctx context.Context, q store.Query, next func() any) (int64, error) {
	operation := "list"
	if next == nil {
		operation = "count"
	} else if q.MaxCount > 0 {
		operation = "page"
	}
	return c.counted(ctx, operation, func(ctx context.Context) (int64, error) { return c.Engine.List(ctx, q, next) })
}

func (c collection) Update(ctx context.Context, f store.Filter, changes []store.Change, into any) error {
	return c.observe(ctx, "update", func(ctx context.Context) error { return c.Engine.Update(ctx, f, changes, into) })
}

func (c collection) Delete(ctx context.Context, f store.Filter) (int64, error) {
	return c.counted(ctx, "delete", func(ctx context.Context) (int64, error) { return c.Engine.Delete(ctx, f) })
}

// counted is like observe, for an operation that returns a number.
func (c collection) counted(ctx context.Context, operation string, do func(context.Context) (int64, error)) (n int64, err error) {
	err = c.observe(ctx, operation, func(ctx context.Context) error {
		n, err = do(ctx)
		return err
	})
	return n, err
}

// Transport returns base with a span for each outgoing request. It sets the header traceparent of outgoing requests. It does
// not forward the headers tracestate and baggage of incoming requests.
func (o *Observer) Transport(base http.RoundTripper) http.RoundTripper {
	if o == nil || o.traces == nil {
		return base
	}
	return transport{base, o.traces}
}

type transport struct {
	base   http.RoundTripper
	traces *traces
}

// traceParent is the header of W3C Trace Context, section 3.2.
const traceParent = "traceparent"

// RoundTrip implements http.RoundTripper. The span has the host, but not the path or the query, which can contain tokens.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	method := knownMethod(r.Method)
	ctx, span := t.traces.Start(r.Context(), method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		semconv.HTTPRequestMethodKey.String(method), semconv.ServerAddress(r.URL.Hostname()),
	))
	defer span.End()
	r = r.Clone(ctx)
	carrier := propagation.MapCarrier{}
	t.traces.propagator.Inject(ctx, carrier)
	if parent := carrier[traceParent]; parent != "" {
		r.Header.Set(traceParent, parent)
	}
	response, err := t.base.RoundTrip(r)
	if err != nil {
		span.SetAttributes(semconv.ErrorType(err)) // records only the name of the type of err
		span.SetStatus(codes.Error, "")
		return response, err
	}
	span.SetAttributes(semconv.HTTPResponseStatusCode(response.StatusCode))
	if response.StatusCode >= http.StatusBadRequest {
		span.SetAttributes(semconv.ErrorTypeKey.String(strconv.Itoa(response.StatusCode)))
		span.SetStatus(codes.Error, "")
	}
	return response, nil
}
