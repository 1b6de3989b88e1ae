package sqlite

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engine"
)

// builder builds a statement. No input becomes SQL: only bind adds values, and names are checked. If err is not nil, the
// statement must not be executed.
type builder struct {
	strings.Builder
	c         *collection
	args      []any
	set       map[string]int // by field, the numbers of the parameters with the values that changedDoc sets
	searches  bool           // the statement has a search
	usesWords bool           // the statement reads the table of words
	plan      *searchPlan
	err       error // the first error
}

// build begins a statement with some SQL.
func (c *collection) build(parts ...string) *builder {
	b := &builder{c: c}
	b.Grow(256) // most statements are shorter
	return b.write(parts...)
}

func (b *builder) write(parts ...string) *builder {
	for _, part := range parts {
		b.WriteString(part)
	}
	return b
}

// bind writes a parameter that has the value v.
func (b *builder) bind(v any) *builder {
	b.args = append(b.args, v)
	return b.write("?")
}

func (b *builder) fail(err error) *builder {
	b.err = cmp.Or(b.err, err)
	return b
}

// field writes an expression for the value of a field. SQLite uses an index only if the index has the same expression.
func (b *builder) field(path string) *builder {
	if !isPath(path) {
		return b.fail(fmt.Errorf("store: %q is not a valid field name", path))
	}
	return b.write(expression(path))
}

// expression returns SQL for the value of a field; the value is NULL if the field is absent.
func expression(path string) string {
	if path == "id" {
		return "id"
	}
	return "json_extract(doc,'$." + path + "')"
}

func expressions(paths []string) string {
	list := make([]string, len(paths))
	for i, path := range paths {
		list[i] = expression(path)
	}
	return strings.Join(list, ",")
}

func quote(name string) string { return `"` + name + `"` }

// isPath reports whether a string consists of field names separated by dots.
var isPath = regexp.MustCompile(`^[a-zA-Z_]\w*(\.[a-zA-Z_]\w*)*$`).MatchString

// isName reports whether s consists of ASCII letters, digits and underscores, and does not begin with a digit.
func isName(s string) bool { return isPath(s) && !strings.Contains(s, ".") }

// where writes the condition for the documents that a filter selects.
func (b *builder) where(f store.Filter) *builder {
	switch f := f.(type) {
	case nil:
		return b.write("1")
	case store.Comparison:
		return b.comparison(f)
	case store.Membership:
		return b.membership(f)
	case store.Connective:
		return b.connective(f)
	case store.TextSearch:
		return b.search(f)
	}
	return b.fail(fmt.Errorf("store: unknown filter %T", f))
}

func (b *builder) comparison(f store.Comparison) *builder {
	v, err := scalar(f.Value)
	if err != nil {
		return b.fail(fmt.Errorf("store: field %s: %w", f.Field, err))
	}
	switch f.Op {
	case store.OpEq:
		if v == nil {
			return b.field(f.Field).write(" IS NULL")
		}
		return b.field(f.Field).write("=").bind(v)
	case store.OpNe:
		if v == nil {
			return b.field(f.Field).write(" IS NOT NULL")
		}
		return b.field(f.Field).write(" IS NOT ").bind(v)
	}
	operator, ok := map[store.Op]string{store.OpGt: ">", store.OpGte: ">=", store.OpLt: "<", store.OpLte: "<="}[f.Op]
	if !ok {
		return b.fail(fmt.Errorf("store: %q is not a comparison", f.Op))
	}
	return b.field(f.Field).write(operator).bind(v) // a comparison with NULL selects nothing
}

func (b *builder) membership(f store.Membership) *builder {
	values := make([]any, 0, len(f.Values))
	absent := false
	for _, v := range f.Values {
		v, err := scalar(v)
		if err != nil {
			return b.fail(fmt.Errorf("store: field %s: %w", f.Field, err))
		}
		if v == nil {
			absent = true
			continue
		}
		values = append(values, v)
	}
	if f.List && f.Field == "id" {
		return b.fail(errors.New(`store: the field "id" is not a list`))
	}
	if f.List {
		return b.write("EXISTS (SELECT 1 FROM json_each(doc,").path(f.Field).write(") WHERE value").oneOf(values).write(")")
	}
	b.write("(").field(f.Field).oneOf(values)
	if absent {
		b.write(" OR ").field(f.Field).write(" IS NULL")
	}
	return b.write(")")
}

// oneOf writes the condition that the preceding expression equals an item of list. All items are in one parameter, so that the
// number of items is not limited and does not change the statement.
func (b *builder) oneOf(list any) *builder {
	data, err := encode(list)
	if err != nil {
		return b.fail(err)
	}
	return b.write(" IN (SELECT value FROM json_each(").bind(string(data)).write("))")
}

func (b *builder) connective(f store.Connective) *builder {
	operator, ofNothing := " AND ", "1"
	if f.Op == store.OpOr {
		operator, ofNothing = " OR ", "0"
	}
	if len(f.Filters) == 0 {
		return b.write(ofNothing)
	}
	b.write("(")
	for i, part := range f.Filters {
		if i > 0 {
			b.write(operator)
		}
		b.where(part)
	}
	return b.write(")")
}

func (b *builder) orderBy(order []store.Order) *builder {
	separator := " ORDER BY "
	for _, o := range order {
		b.write(separator).field(o.Field)
		separator = ","
		if o.Desc {
			b.write(" DESC")
		}
	}
	return b
}

// orderByColumns orders the rows of a statement whose columns k0, k1 and so on are those of the order.
func (b *builder) orderByColumns(order []store.Order) *builder {
	separator := " ORDER BY k"
	for i, o := range order {
		b.write(separator, strconv.Itoa(i))
		separator = ",k"
		if o.Desc {
			b.write(" DESC")
		}
	}
	return b
}

// limit limits the rows. A limit of 0 means no limit.
func (b *builder) limit(limit, skip int) *builder {
	// With "+0", SQLite does not prepare the statement again for each value of the parameter.
	return b.write(" LIMIT ").bind(int64(cmp.Or(limit, -1))).write("+0 OFFSET ").bind(int64(skip)).write("+0")
}

// part is a section of a list: the rows that filter selects, sorted by order.
type part struct {
	filter   store.Filter
	order    []store.Order
	position store.Filter // the part of the filter that After adds; nil without After
}

// parts returns the parts of a list, in order.
//
// Without After, the list is one part. With After, each part belongs to one field of the order, beginning with the last field,
// the id. The rows of a part follow After in this field and equal After in the fields before it. Each part is one range of an
// index, and SQLite finds the start of the range directly. A single comparison of row values would exclude absent values, and
// would use only the first field of the index.
func parts(q store.Query) ([]part, error) {
	order := engine.TotalOrder(q.Sort)
	if q.After == nil {
		return []part{{q.Filter, order, nil}}, nil
	}
	if len(q.After) < len(order) {
		return nil, errors.New("store: After must have a value for each field of the sort, and the id")
	}
	if q.Skip != 0 {
		return nil, errors.New("store: a query cannot have both Skip and After")
	}
	var out []part
	for i := len(order) - 1; i >= 0; i-- {
		field, value := order[i].Field, q.After[i]
		var equal []store.Filter
		for j, o := range order[:i] {
			equal = append(equal, store.Eq(o.Field, q.After[j]))
		}
		add := func(beyond store.Filter, order []store.Order) {
			position := append(slices.Clip(equal), beyond)
			out = append(out, part{store.And(slices.Insert(position, 0, q.Filter)...), order, store.And(position...)})
		}
		switch absent := store.IsNil(value); {
		case !order[i].Desc && absent:
			add(store.Gte(field, math.Inf(-1)), order[i:]) // all present values; for IS NOT NULL, SQLite would not use the index
		case !order[i].Desc:
			add(store.Gt(field, value), order[i:])
		case !absent: // in descending order, absent values come last
			add(store.Lt(field, value), order[i:])
			if field != "id" {
				add(store.Eq(field, nil), order[i+1:])
			}
		}
	}
	return out, nil
}

// changedDoc writes an expression for the document after the changes, with the next version.
func (b *builder) changedDoc(changes []store.Change) *builder {
	b.write("json_set(")
	b.unsetFields(changes)
	for _, change := range changes {
		switch change.Op {
		case store.OpSet:
			data, err := encode(change.Value)
			if err != nil {
				return b.fail(err)
			}
			b.write(",").path(change.Field).write(",json_patch('{}',").bind(string(data)).write(")")
			if b.set == nil {
				b.set = make(map[string]int)
			}
			b.set[change.Field] = len(b.args)
		case store.OpInc:
			b.write(",").path(change.Field).write(",coalesce(").field(change.Field).write(",0)+").bind(change.Value)
		case store.OpUnset: // see unsetFields
		default:
			return b.fail(fmt.Errorf("store: %q is not a change", change.Op))
		}
	}
	return b.write(",'$.version',coalesce(", expression("version"), ",0)+1)")
}

// modifies writes a further condition: one of the changes modifies the document. changes is a result of engine.Conditions, and
// changedDoc must have written them.
func (b *builder) modifies(changes []store.Change) *builder {
	separator, end := " AND (", ""
	for _, change := range changes {
		b.write(separator, "doc->").path(change.Field)
		separator, end = " OR ", ")"
		n := b.set[change.Field]
		switch {
		case n == 0:
			b.write(" IS NOT NULL")
		case strings.Contains(b.args[n-1].(string), "null"): // see insert
			b.write(" IS NOT json_patch('{}',?", strconv.Itoa(n), ")")
		default: // the parameter is not bound again, because its value can be large
			b.write(" IS NOT ?", strconv.Itoa(n))
		}
	}
	return b.write(end)
}

// unsetFields writes an expression for the document without the fields that the changes unset.
func (b *builder) unsetFields(changes []store.Change) {
	unset := func(c store.Change) bool { return c.Op == store.OpUnset }
	if !slices.ContainsFunc(changes, unset) {
		b.write("doc")
		return
	}
	b.write("json_remove(doc")
	for _, change := range changes {
		if unset(change) {
			b.write(",").path(change.Field)
		}
	}
	b.write(")")
}

// docColumn writes a column with the document as a BLOB. If fields is not nil, the BLOB has only the id and these fields.
func (b *builder) docColumn(fields []string) *builder {
	if fields == nil {
		return b.write("CAST(doc AS BLOB)")
	}
	b.write("CAST(json_object('id',id")
	for _, field := range fields {
		if !isName(field) {
			return b.fail(fmt.Errorf("store: %q is not a valid field name", field))
		}
		if field != "id" {
			b.write(",'", field, "',doc->'$.", field, "'")
		}
	}
	return b.write(") AS BLOB)")
}

// textColumn writes a comma and a column with the searched text: the searched fields, separated by spaces.
func (b *builder) textColumn() *builder {
	if len(b.c.spec.Search) == 0 {
		return b.write(",''")
	}
	return b.write(",concat_ws(' ',", expressions(b.c.spec.Search), ")")
}

// path writes the JSON path of a field. It fails for the id, which cannot be changed.
func (b *builder) path(field string) *builder {
	if !isPath(field) || field == "id" {
		return b.fail(fmt.Errorf("store: the field %q cannot be changed", field))
	}
	return b.write("'$.", field, "'")
}

// scalar converts the value of a filter to a type of SQLite: nil, string, bool, int64 or float64.
func scalar(v any) (any, error) {
	v, err := engine.Scalar(v)
	switch v := v.(type) {
	case store.ID:
		return v.Hex(), nil
	case store.Time:
		text, err := v.MarshalText()
		return string(text), err
	}
	return v, err
}

// encode returns the JSON of a document or value as store.EncodeStored writes it.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	if err := store.EncodeStored(&buf, v); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return buf.Bytes(), nil
}
