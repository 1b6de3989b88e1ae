package reference

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
)

const (
	expandBatch = listing.MaxLimit // records per query
	maxExpanded = 16 << 20         // bytes of expanded records in a response
)

// Expanded is embedded in the views of records with references.
type Expanded struct {
	Expand map[string]json.RawMessage `json:"expand,omitempty" swaggertype:"object" extensions:"x-omitempty"` // the referenced records, by the names in the parameter expand; null if one does not exist or is not visible
}

func (e *Expanded) add(name string, value json.RawMessage) {
	if e.Expand == nil {
		e.Expand = map[string]json.RawMessage{}
	}
	e.Expand[name] = value
}

// ExpandTag returns the part of an ETag that identifies the expanded records: a dot and 16 hexadecimal characters, or "" if
// there are none.
func (e Expanded) ExpandTag() string {
	if e.Expand == nil {
		return ""
	}
	data, _ := json.Marshal(e.Expand) // cannot fail: the values are valid JSON; it sorts the names
	sum := sha256.Sum256(data)
	return "." + hex.EncodeToString(sum[:8])
}

// ExpandView adds to a view the referenced records that the parameter expand of a query string names, as List does.
// ValidationFailed: the parameter names a reference that the collection does not have.
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
	err = expand(ctx, c, caller, names, views)
	return views[0], err
}

// List is listing.Run, and adds the referenced records that the query names to the views. Their type embeds Expanded and has
// the fields of the references. A record that does not exist, or that the caller may not see, is null. Per reference, List
// makes one query for every 100 different records. ValidationFailed: the expanded records are larger than 16 MiB together.
func List[D store.Document, V any](ctx context.Context, c *Collection[D], caller access.Principal, q listing.Query, view func(D) V) (listing.Page[V], error) {
	page, err := listing.Run(ctx, c, q, view)
	if err != nil || q.Expand == nil {
		return page, err
	}
	return page, expand(ctx, c, caller, q.Expand, page.Rows)
}

// expand adds to the views the referenced records of the references with the names.
func expand[D store.Document, V any](ctx context.Context, c *Collection[D], caller access.Principal, names []string, views []V) error {
	budget := maxExpanded
	for _, name := range names {
		i := slices.IndexFunc(c.references, func(r Reference) bool { return r.field == name })
		index := indexOf(reflect.TypeFor[V](), name)
		refs := make([]any, len(views))
		var ids []store.ID
		for v := range views {
			refs[v] = reflect.ValueOf(views[v]).FieldByIndex(index).Interface()
			ids = append(ids, idsOf(refs[v])...)
		}
		found, err := c.references[i].encode(ctx, caller, ids, &budget)
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

// encode returns the records with the IDs as JSON, by ID; null for one that does not exist or that the caller may not see.
// It subtracts their bytes from the budget, as often as an ID occurs. ValidationFailed: the budget is not sufficient.
func (r Reference) encode(ctx context.Context, caller access.Principal, ids []store.ID, budget *int) (map[store.ID]json.RawMessage, error) {
	out, uses := make(map[store.ID]json.RawMessage, len(ids)), make(map[store.ID]int, len(ids))
	var distinct []store.ID
	for _, id := range ids {
		uses[id]++
		if uses[id] == 1 {
			distinct, out[id] = append(distinct, id), null
		}
	}
	for batch := range slices.Chunk(distinct, expandBatch) {
		found, err := r.target.Find(ctx, caller, batch)
		if err != nil {
			return nil, err
		}
		for id, view := range found {
			var buf bytes.Buffer
			enc := json.NewEncoder(&buf)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(view); err != nil {
				return nil, err
			}
			out[id] = bytes.TrimSpace(buf.Bytes())
			*budget -= uses[id] * len(out[id])
			if *budget < 0 {
				return nil, apperr.Invalid(apperr.Field{
					In: "query", Param: "expand", Code: apperr.Max, Expected: maxExpanded,
					Message: fmt.Sprintf("The expanded records are larger than %d bytes. Request fewer rows, with limit.", maxExpanded),
				})
			}
		}
	}
	return out, nil
}
