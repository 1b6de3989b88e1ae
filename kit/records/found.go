package records

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"example.com/ginseng/kit/store"
)

// maxFound is the maximum number of results that found keeps.
const maxFound = 10_000

// found caches the results of the queries that check whether referenced records exist.
type found struct {
	mu   sync.Mutex
	docs map[string]any // pointers to documents; nil: the record does not exist
}

// list is like engine.List, but caches the result of a query that selects one record by its ID.
func (f *found) list(ctx context.Context, e *engine, q store.Query, next func() any) (int64, error) {
	in, ok := q.Filter.(store.Membership)
	if !ok || in.Field != "id" || len(in.Values) != 1 || q.Fields == nil || q.Bytes != nil || q.MaxCount != 0 || next == nil {
		return e.Engine.List(ctx, q, next)
	}
	key := fmt.Sprint(e.spec.Name, in.Values[0], q.Fields)
	f.mu.Lock()
	doc, known := f.docs[key]
	f.mu.Unlock()
	if !known {
		_, err := e.Engine.List(ctx, q, func() any {
			doc = e.spec.NewDocument()
			return doc
		})
		if err != nil {
			return 0, err
		}
		f.mu.Lock()
		if f.docs == nil || len(f.docs) >= maxFound {
			f.docs = make(map[string]any)
		}
		f.docs[key] = doc
		f.mu.Unlock()
	}
	if doc != nil {
		reflect.ValueOf(next()).Elem().Set(reflect.ValueOf(doc).Elem())
	}
	return 0, nil
}
