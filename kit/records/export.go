package records

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/exchange"
	"example.com/ginseng/kit/store"
)

// ExportOptions are the arguments of Export.
type ExportOptions struct {
	Resource string
	Format   exchange.Format
	Progress func(records int) // receives the number of records that were written since the last call
}

// Count returns the number of records of a resource.
func (s *Service) Count(ctx context.Context, resource string) (int64, error) {
	t, err := s.target(resource)
	if err != nil {
		return 0, err
	}
	return t.Engine.List(ctx, store.Query{MaxCount: store.CountAll}, nil)
}

// Export writes all records of a resource, with all fields that the resource's list has. If the list can be sorted, the oldest
// record comes first. Records that have parents are grouped by parent.
func (s *Service) Export(ctx context.Context, out io.Writer, o ExportOptions) error {
	t, err := s.target(o.Resource)
	if err != nil {
		return err
	}
	if !t.has(http.MethodGet, false) {
		return fmt.Errorf("the API cannot list records of %s", o.Resource)
	}
	x := exporter{Service: s, ExportOptions: o, target: t, out: out}
	return x.under(ctx, nil)
}

// exporter is the state of a call to Export.
type exporter struct {
	*Service
	ExportOptions
	target *target
	out    io.Writer
	lists  int // number of exported lists
}

// under exports all lists below the given parents. parents has the IDs of the parents, outermost first. If parents is empty,
// under exports all lists.
func (x *exporter) under(ctx context.Context, parents []store.ID) error {
	if len(parents) == len(x.target.parents) {
		return x.list(ctx, x.target.list(parents))
	}
	e := x.target.parents[len(parents)]
	q := store.Query{Limit: pageRecords, Fields: []string{"id"}}
	if len(parents) > 0 {
		q.Filter = store.Eq(e.Spec.Parent, parents[len(parents)-1])
	}
	for {
		var docs []store.Document
		_, err := e.Engine.List(ctx, q, func() any {
			docs = append(docs, e.NewDocument())
			return docs[len(docs)-1]
		})
		if err != nil || len(docs) == 0 {
			return err
		}
		for _, doc := range docs {
			if err := x.under(ctx, append(parents, store.IDOf(doc))); err != nil {
				return err
			}
		}
		q.After = []any{store.IDOf(docs[len(docs)-1])}
	}
}

// list exports a list. In a CSV file, only the first list has a header.
func (x *exporter) list(ctx context.Context, path string) error {
	x.lists++
	skipHeader := x.Format == exchange.CSV && x.lists > 1
	out := writerFunc(func(data []byte) (int, error) {
		n := len(data)
		if skipHeader {
			_, data, _ = bytes.Cut(data, []byte("\r\n"))
			skipHeader = false
		}
		_, err := x.out.Write(data)
		return n, err
	})
	query := url.Values{"format": {string(x.Format)}, "sort": {"createdAt"}}
	err := x.table.Export(ctx, operator, path, query, out, x.Progress)
	if apperr.Is(err, apperr.ValidationFailed) { // the list cannot be sorted
		query.Del("sort")
		err = x.table.Export(ctx, operator, path, query, out, x.Progress)
	}
	return err
}

// writerFunc is a function that is an io.Writer.
type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
