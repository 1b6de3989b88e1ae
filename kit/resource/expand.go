package resource

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

const (
	expandBatch = listing.MaxLimit // maximum number of records per query
	expandBytes = 512 << 10        // maximum bytes of the records that a query reads
	readBytes   = 4 * expandBytes  // memory for the records of a query while they are read and encoded
	maxExpanded = 4 << 20          // maximum bytes of expanded records in a response
)

// Expanded is embedded in the views of records with references.
type Expanded struct {
	Expand map[string]json.RawMessage `json:"expand,omitempty" swaggertype:"object" extensions:"x-omitempty"` // the referenced records, by the names in the expand parameter; null if the record does not exist or is not visible to the caller
}

func (e *Expanded) add(name string, value json.RawMessage) {
	if e.Expand == nil {
		e.Expand = map[string]json.RawMessage{}
	}
	e.Expand[name] = value
}

// ExpandTag returns the part of an ETag that identifies the expanded records: a dot and 16 hexadecimal characters, or "" if
// there are no expanded records.
func (e Expanded) ExpandTag() string {
	if e.Expand == nil {
		return ""
	}
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(e.Expand)) {
		fmt.Fprintf(hash, "%q:%s\n", name, e.Expand[name])
	}
	return "." + hex.EncodeToString(hash.Sum(nil)[:8])
}

// ExpandView adds referenced records to a view, as List does. The expand parameter of query names the references.
// ValidationFailed: the parameter names a reference that the collection does not have, or the expanded records are larger than
// 4 MiB in total. Unavailable: the expanded records are large, and other responses are using the budget of ctx (rest.Budget).
func ExpandView[D store.Document, V any](ctx context.Context, c *Collection[D], caller access.Principal, query url.Values, view V) (V, error) {
	var names []string
	for _, r := range c.references {
		if r.parent == nil {
			names = append(names, r.field)
		}
	}
	names, err := listing.ParseExpand(query, names)
	if err != nil || names == nil {
		return view, err
	}
	views := []V{view}
	err = expand(ctx, c, caller, names, views, func(size int64) error {
		if err := rest.ReservePage(ctx, size); err != nil {
			return err
		}
		return rest.Reserve(ctx, size)
	})
	return views[0], err
}

// errNoShare is returned by listExpanded if the response needs a share of the budget, but has no share.
var errNoShare = errors.New("resource: the response has no share of the budget")

// List calls listing.Run for the records that the caller may see. For records under a parent, c is the result of
// Collection.Under.
//
// List adds referenced records to the views. The expand parameter names the references. The type of the views must embed
// Expanded and have the fields of the references. A record that does not exist, or that the caller may not see, is null. For
// each reference, List makes one query per 100 different records, or per 512 KiB of records.
//
// List returns the errors of listing.Run. In addition, ValidationFailed: the expanded records are larger than 4 MiB in total.
// NotFound: the caller may not see the parent.
func List[D store.Document, V any](ctx context.Context, c *Collection[D], caller access.Principal, q listing.Query, view func(D) V) (listing.Page[V], error) {
	if r := c.parent(); r != nil {
		if c.within == nil {
			panic("resource: " + c.name + " can only be listed under a parent; call Under")
		}
		if err := r.checkVisible(ctx, caller, *c.within); err != nil {
			return listing.Page[V]{}, err
		}
	}
	filter, err := c.visible(ctx, caller)
	if err != nil {
		return listing.Page[V]{}, err
	}
	visible := q.Only(filter)
	page, err := listExpanded(ctx, c, caller, visible, view)
	if errors.Is(err, errNoShare) {
		page = listing.Page[V]{} // the page must not stay in memory while the request waits
		if err := rest.ReservePage(ctx, listing.MaxPageBytes+readBytes); err != nil {
			return page, err
		}
		page, err = listExpanded(ctx, c, caller, visible, view)
	}
	return page.Then(q, func(ctx context.Context, q listing.Query) (listing.Page[V], error) {
		now, err := c.reread(ctx, caller)
		if err != nil {
			return listing.Page[V]{}, err
		}
		return List(ctx, c, now, q, view)
	}), err
}

// listExpanded returns one page. It fails with errNoShare if the expanded records need a share of the budget, and the response
// has no share.
func listExpanded[D store.Document, V any](ctx context.Context, c *Collection[D], caller access.Principal, q listing.Query, view func(D) V) (listing.Page[V], error) {
	page, err := listing.Run(ctx, c.all, q, view)
	if err != nil || q.Expand == nil {
		return page, err
	}
	return page, expand(ctx, c, caller, q.Expand, page.Rows, func(size int64) error {
		if !rest.Reserved(ctx) {
			return errNoShare
		}
		return rest.Reserve(ctx, listing.MaxPageBytes+size)
	})
}

// expand adds to the views the records that the named references refer to. It calls reserve with the total number of bytes that
// it needs. The first rest.LargeResponse bytes need no reservation.
func expand[D store.Document, V any](ctx context.Context, c *Collection[D], caller access.Principal, names []string, views []V, reserve func(size int64) error) error {
	used := &meter{reserved: rest.LargeResponse, reserve: reserve}
	for _, name := range names {
		i := slices.IndexFunc(c.references, func(r Reference) bool { return r.field == name })
		index := indexOf(reflect.TypeFor[V](), name)
		refs := make([]any, len(views))
		var ids []store.ID
		for v := range views {
			refs[v] = reflect.ValueOf(views[v]).FieldByIndex(index).Interface()
			ids = append(ids, idsOf(refs[v])...)
		}
		found, err := c.references[i].encode(ctx, caller, ids, used)
		if err != nil {
			return err
		}
		for v := range views {
			any(&views[v]).(interface {
				add(string, json.RawMessage)
			}).add(name, expanded(refs[v], found))
		}
	}
	return nil
}

// meter counts the bytes of the expanded records of a response.
type meter struct {
	used, reserved int64
	reserve        func(size int64) error
}

// add counts n bytes. ValidationFailed: the expanded records are too large. It also returns the errors of reserve.
func (m *meter) add(n int64) error {
	m.used += n
	if m.used > maxExpanded {
		return apperr.Invalid(apperr.Field{
			In: "query", Param: "expand", Code: apperr.Max, Expected: maxExpanded,
			Message: fmt.Sprintf("The expanded records are larger than %d bytes. Use a smaller limit, or fewer names in the expand parameter.", maxExpanded),
		})
	}
	return m.ensure(m.used)
}

// ensure calls reserve if fewer than size bytes are reserved.
func (m *meter) ensure(size int64) error {
	if size <= m.reserved {
		return nil
	}
	m.reserved = size
	return m.reserve(size)
}

// nextQuery returns the size of the records that the next query may read. The first queries may read rest.LargeResponse bytes
// together. Each later query may read expandBytes, and nextQuery reserves readBytes for it.
func (m *meter) nextQuery() (*store.Size, error) {
	if left := rest.LargeResponse - m.used; left > 0 {
		return &store.Size{Max: int(left)}, nil
	}
	return &store.Size{Max: expandBytes}, m.ensure(m.used + readBytes)
}

// expanded returns the JSON of a reference's records: one record or null, or a list.
func expanded(ref any, found map[store.ID]json.RawMessage) json.RawMessage {
	var items [][]byte
	for _, id := range idsOf(ref) {
		items = append(items, found[id])
	}
	if _, isList := ref.([]store.ID); isList {
		return slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]"))
	}
	if items == nil {
		return null
	}
	return items[0]
}

var null = json.RawMessage("null")

// encode returns the records with the IDs as JSON, by ID. The JSON is null if the record does not exist or the caller may not
// see the record. With an API key that lacks the scope to read the records, the caller sees only what everyone may see. encode
// adds the bytes of each record to the meter as often as the ID of the record occurs, and returns the errors of the meter.
func (r Reference) encode(ctx context.Context, caller access.Principal, ids []store.ID, used *meter) (map[store.ID]json.RawMessage, error) {
	out, uses := make(map[store.ID]json.RawMessage, len(ids)), make(map[store.ID]int64, len(ids))
	if !caller.Key.Has(r.target.resource(), access.ScopeRead) {
		caller = access.Principal{}
	}
	var buf bytes.Buffer
	var distinct []store.ID
	for _, id := range ids {
		uses[id]++
		if uses[id] == 1 {
			distinct, out[id] = append(distinct, id), null
		}
	}
	for unread := range slices.Chunk(distinct, expandBatch) {
		for len(unread) > 0 {
			size, err := used.nextQuery()
			if err != nil {
				return nil, err
			}
			var found map[store.ID]any
			found, unread, err = r.target.Find(ctx, caller, unread, size)
			if err == nil {
				err = used.ensure(used.used + int64(size.Used())) // the first record may be larger than size
			}
			if err != nil {
				return nil, err
			}
			for id, view := range found {
				buf.Reset()
				if err := store.EncodeJSON(&buf, view); err != nil {
					return nil, err
				}
				out[id] = bytes.Clone(buf.Bytes())
				if err := used.add(uses[id] * int64(len(out[id]))); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}
