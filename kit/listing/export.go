package listing

import (
	"context"
	"reflect"
	"slices"

	"example.com/ginseng/kit/exchange"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// export has what a page of an export has in addition to its rows.
type export[V any] struct {
	format  exchange.Format
	name    string // of the list
	expands bool   // the rows have the field expand
	after   []any  // the position after the page; nil if it is the last
	next    func(context.Context) (Page[V], error)
}

// Then returns the page with list as the function that reads the pages after it, if the page is exported. A function that calls
// Run needs Then only if it does more than Run, such as change the rows.
func (p Page[V]) Then(q Query, list func(context.Context, Query) (Page[V], error)) Page[V] {
	if p.export == nil {
		return p
	}
	e := *p.export
	q.Skip, q.After = 0, e.after
	e.next = func(ctx context.Context) (Page[V], error) { return list(ctx, q) }
	p.export = &e
	return p
}

// Export implements rest.Exporter.
func (p Page[V]) Export() *rest.Export {
	if p.export == nil {
		return nil
	}
	names := p.fields
	if names == nil {
		names = store.FieldNames(reflect.TypeFor[V]())
		if !p.export.expands {
			names = slices.DeleteFunc(names, func(name string) bool { return name == paramExpand })
		}
	}
	return &rest.Export{
		Format: p.export.format, Name: p.export.name, Columns: exchange.Columns(reflect.TypeFor[V](), names), Whole: p.fields == nil,
		Write: func(w *exchange.Writer) (int, error) {
			for i, row := range p.Rows {
				if err := w.Write(row); err != nil {
					return i, err
				}
			}
			return len(p.Rows), nil
		},
		Next: func(ctx context.Context) (more bool, err error) {
			if p.export.after == nil {
				return false, nil
			}
			next := p.export.next
			p.Rows = nil // not in memory while the next ones are read
			p, err = next(ctx)
			return err == nil, err
		},
	}
}
