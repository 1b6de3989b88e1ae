package listing

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/exchange"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// paramFormat is the parameter that sets the format of an export.
const paramFormat = "format"

// paramBOM is the parameter that sets whether a CSV file begins with a byte order mark.
const paramBOM = "bom"

// exportRows is the number of rows that an export reads with one query.
const exportRows = MaxLimit

// format returns the format of an export. It rejects the page and limit parameters.
func (p *parser) format() exchange.Format {
	for _, name := range []string{"page", "limit"} {
		if p.given(name) {
			p.bad(name, apperr.FieldConflict, "Cannot be given together with format, which exports all rows.", nil)
		}
	}
	text := p.get(paramFormat)
	if !slices.Contains(exchange.Formats, text) {
		p.bad(paramFormat, apperr.OneOf, "Must be one of "+strings.Join(exchange.Formats, ", ")+".", exchange.Formats)
	}
	return exchange.Format(text)
}

// bom returns the value of the bom parameter, which can be true only for CSV.
func (p *parser) bom(format exchange.Format) bool {
	bom := p.flag(paramBOM, false)
	if bom && format != exchange.CSV {
		p.bad(paramBOM, apperr.FieldConflict, "Can be true only together with format=csv.", nil)
	}
	return bom
}

// export has the additional properties of an exported page.
type export[V any] struct {
	format  exchange.Format
	bom     bool   // see Query
	name    string // name of the list
	expands bool   // the rows have the expand field
	after   []any  // the position after the page; nil for the last page
	next    func(context.Context) (Page[V], error)
}

// Then returns p with list as the function that reads the next page of an export. If p is not part of an export, Then returns p
// unchanged. Run calls Then. Call Then again only in a function that changes the pages that Run returns.
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
		Format: p.export.format, BOM: p.export.bom, Name: p.export.name, Columns: exchange.Columns(reflect.TypeFor[V](), names), Whole: p.fields == nil,
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
			p.Rows = nil // free the memory before the next rows are read
			p, err = next(ctx)
			return err == nil, err
		},
	}
}
