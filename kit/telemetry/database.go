package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Database is db with every operation seen: its collection, what it does, how long it takes and how it fails; nothing
// of what it asks for.
func (o *Observer) Database(db store.DB) store.DB {
	if o == nil {
		return db
	}
	if embedded, ok := db.(interface {
		ObserveCommits(func(writes int, took time.Duration))
	}); ok && o.metrics != nil {
		embedded.ObserveCommits(o.metrics.committed)
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
	system   string // as OpenTelemetry names it
}

func (d database) Open(spec store.Spec) store.Engine {
	return collection{d.DB.Open(spec), d.observer, spec.Name, d.system}
}

// collection is an engine that is seen.
type collection struct {
	engine       store.Engine
	observer     *Observer
	name, system string
}

// begin is told of an operation; what it returns, of its outcome. What is done on no request's behalf, such as sweeping, is
// counted, but is no trace of its own.
func (c collection) begin(ctx context.Context, operation string) (context.Context, func(error)) {
	begun := time.Now()
	var span trace.Span
	if t := c.observer.traces; t != nil && trace.SpanContextFromContext(ctx).IsValid() {
		ctx, span = t.Start(ctx, operation+" "+c.name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			semconv.DBSystemNameKey.String(c.system), semconv.DBCollectionName(c.name), semconv.DBOperationName(operation),
		))
	}
	return ctx, func(err error) {
		code := codeOf(err)
		if m := c.observer.metrics; m != nil {
			m.operations.WithLabelValues(c.name, operation).Observe(time.Since(begun).Seconds())
			if err != nil {
				m.failures.WithLabelValues(c.name, operation, code).Inc()
			}
		}
		if span != nil {
			end(span, err)
		}
	}
}

// codeOf is that of an error; Internal where it has none.
func codeOf(err error) string {
	var e *apperr.Error
	if errors.As(err, &e) {
		return string(e.Code)
	}
	return string(apperr.Internal)
}

// end ends a span of a part of the service. Its error is named by its code: the text may tell too much. NotFound,
// Conflict and other codes that blame the caller are no fault.
func end(span trace.Span, err error) {
	if err != nil {
		code := codeOf(err)
		span.SetAttributes(semconv.ErrorTypeKey.String(code))
		if code == string(apperr.Internal) || code == string(apperr.Unavailable) {
			span.SetStatus(codes.Error, "")
		}
	}
	span.End()
}

func (c collection) Insert(ctx context.Context, id store.ID, doc any) error {
	ctx, end := c.begin(ctx, "insert")
	err := c.engine.Insert(ctx, id, doc)
	end(err)
	return err
}

func (c collection) First(ctx context.Context, f store.Filter, into any) error {
	ctx, end := c.begin(ctx, "first")
	err := c.engine.First(ctx, f, into)
	end(err)
	return err
}

func (c collection) List(ctx context.Context, q store.Query, next func() any) error {
	ctx, end := c.begin(ctx, "list")
	err := c.engine.List(ctx, q, next)
	end(err)
	return err
}

func (c collection) Count(ctx context.Context, f store.Filter) (int64, error) {
	ctx, end := c.begin(ctx, "count")
	n, err := c.engine.Count(ctx, f)
	end(err)
	return n, err
}

func (c collection) Page(ctx context.Context, q store.Query, next func() any) (int64, error) {
	ctx, end := c.begin(ctx, "page")
	n, err := c.engine.Page(ctx, q, next)
	end(err)
	return n, err
}

func (c collection) Update(ctx context.Context, f store.Filter, changes []store.Change, into any) error {
	ctx, end := c.begin(ctx, "update")
	err := c.engine.Update(ctx, f, changes, into)
	end(err)
	return err
}

func (c collection) Delete(ctx context.Context, f store.Filter) (int64, error) {
	ctx, end := c.begin(ctx, "delete")
	n, err := c.engine.Delete(ctx, f)
	end(err)
	return n, err
}

func (c collection) Load(ctx context.Context, ids []store.ID, docs []any) error {
	ctx, end := c.begin(ctx, "load")
	err := c.engine.Load(ctx, ids, docs)
	end(err)
	return err
}
