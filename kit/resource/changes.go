package resource

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// Changes returns the feed of changes to the records that the caller may see. The collection must have store.Spec.Changes. For
// records under a parent, c is the result of Collection.Under. The rule in Open's see parameter may depend only on fields of the
// record that never change: the owner, the group and the parent. It may depend on anything of the caller. A position is valid only
// while the rule, and the rule of the parent, select the same records for the caller to whom it was sent. If that selection changes, a
// page has FeedPage.Resync and begins at the newest position; a stream ends with Forbidden.
func Changes[D store.Document, V any](c *Collection[D], q listing.ChangesQuery, view func(D) V) rest.Feed {
	return &feed[D, V]{c: c, q: q, view: view, log: c.db.Log()}
}

// feed implements rest.Feed.
type feed[D store.Document, V any] struct {
	c    *Collection[D]
	q    listing.ChangesQuery
	view func(D) V
	log  store.Log
	at   store.Position
	back store.Position // the position before the last call of Next

	caller  *access.Principal // nil before the first call of Check
	visible store.Filter      // what caller may see
	seen    store.Filter      // what Open's see parameter selects for caller; unlike visible, includes records of deleted owners
	digest  string            // the result of rules for the caller
}

// Wait implements rest.Feed.
func (f *feed[D, V]) Wait(ctx context.Context) error { return f.log.Wait(ctx, f.c.name, f.at) }

// Back implements rest.Feed.
func (f *feed[D, V]) Back() { f.at = f.back }

// Check implements rest.Feed. It reads the memberships of the caller again. NotFound: the caller may not see the parent. Forbidden:
// since the first call, what the caller may see has changed.
func (f *feed[D, V]) Check(ctx context.Context, caller access.Principal) error {
	if f.caller != nil {
		caller = caller.Reread()
	}
	seen, err := f.c.seen(ctx, caller)
	if err != nil {
		return err
	}
	current, err := f.c.rulesOf(ctx, caller, seen)
	switch {
	case err != nil:
		return err
	case f.caller == nil:
		f.q, f.digest = f.q.Begin(current), current
		f.at = f.q.After
	case current != f.digest:
		return errAccessChanged()
	}
	f.caller, f.seen = &caller, seen
	f.visible, err = f.c.visible(ctx, caller)
	if err != nil {
		return err
	}
	return f.checkParent(ctx)
}

// rules implements Target.
func (c *core) rules(ctx context.Context, caller access.Principal) (string, error) {
	seen, err := c.seen(ctx, caller)
	if err != nil {
		return "", err
	}
	return c.rulesOf(ctx, caller, seen)
}

// rulesOf is rules for the result of seen.
func (c *core) rulesOf(ctx context.Context, caller access.Principal, seen store.Filter) (string, error) {
	own, err := digest(seen)
	r := c.parent()
	if err != nil || r == nil {
		return own, err
	}
	above, err := r.target.rules(ctx, caller)
	if above != "" {
		own += "/" + above
	}
	return own, err
}

// digest returns the JSON of a filter, which differs for different filters; "" for nil.
func digest(f store.Filter) (string, error) {
	if f == nil {
		return "", nil
	}
	data, err := json.Marshal(f)
	return string(data), err
}

func (f *feed[D, V]) checkParent(ctx context.Context) error {
	if r := f.c.parent(); r != nil {
		return r.checkVisible(ctx, *f.caller, *f.c.within)
	}
	return nil
}

// Next implements rest.Feed. It returns the errors of Check.
func (f *feed[D, V]) Next(ctx context.Context, caller access.Principal) (page rest.FeedPage, err error) {
	if f.caller == nil {
		err = f.Check(ctx, caller)
	} else {
		err = f.checkParent(ctx)
	}
	if err != nil {
		return page, err
	}
	f.back = f.at
	if f.at.Number == 0 || f.q.Lost {
		page.Ready, page.Resync = !f.q.Lost, f.q.Lost
		return f.skipToEnd(ctx, page)
	}
	entries, next, err := f.log.Read(ctx, store.LogQuery{Collection: f.c.name, After: f.at, Limit: f.q.Limit})
	if errors.Is(err, store.ErrPosition) || slices.ContainsFunc(entries, func(e store.Entry) bool { return e.Type == store.Reset }) {
		page.Resync = true
		return f.skipToEnd(ctx, page)
	}
	if err != nil {
		return page, err
	}
	page.More = len(entries) == f.q.Limit
	for {
		docs, whole, err := f.read(ctx, entries)
		if err != nil {
			return page, err
		}
		if whole {
			page.Rows = f.events(entries, docs)
			break
		}
		entries = entries[:len(entries)/2] // the records are too large for one page
		next, page.More = entries[len(entries)-1].Position, true
	}
	f.at, page.Next = next, f.q.Cursor(next)
	return page, nil
}

// skipToEnd moves the feed to the newest position, and returns page with this position and without events.
func (f *feed[D, V]) skipToEnd(ctx context.Context, page rest.FeedPage) (rest.FeedPage, error) {
	last, err := f.log.Last(ctx)
	f.at, f.q.Lost = last, false
	page.Next, page.Rows = f.q.Cursor(last), []rest.FeedEvent{}
	return page, err
}

// read returns the records of the entries, except records that were deleted, that the caller may not see or that the filter of the
// query does not select. whole is false if the records are larger than rest.LargeResponse in total.
func (f *feed[D, V]) read(ctx context.Context, entries []store.Entry) (docs map[store.ID]D, whole bool, err error) {
	var ids []any
	for _, e := range entries {
		if e.Type != store.Deleted {
			ids = append(ids, e.RecordID)
		}
	}
	if ids == nil {
		return nil, true, nil
	}
	if len(ids) == 1 && f.visible == nil && f.q.Filter == nil { // Get can use the cache of the engine
		doc, err := f.c.all.Get(ctx, ids[0].(store.ID))
		if err != nil {
			return nil, true, apperr.Replace(err, apperr.NotFound, nil)
		}
		return map[store.ID]D{store.IDOf(doc): doc}, true, nil
	}
	size := &store.Size{Max: rest.LargeResponse}
	selected := store.And(store.In("id", ids...), f.visible, f.q.Filter)
	found, err := f.c.all.List(ctx, store.Query{Filter: selected, Bytes: size})
	docs = make(map[store.ID]D, len(found))
	for _, doc := range found {
		docs[store.IDOf(doc)] = doc
	}
	return docs, !size.Exceeded(), err
}

// events returns at most one event for each record, at the position of the last entry of the record.
func (f *feed[D, V]) events(entries []store.Entry, docs map[store.ID]D) []rest.FeedEvent {
	events, created := []rest.FeedEvent{}, make(map[store.ID]bool)
	for i, e := range entries {
		created[e.RecordID] = created[e.RecordID] || e.Type == store.Created
		later := slices.ContainsFunc(entries[i+1:], func(later store.Entry) bool { return later.RecordID == e.RecordID })
		if later {
			continue
		}
		event := rest.FeedEvent{ID: f.q.Cursor(e.Position), Event: string(e.Type), At: e.At.Time}
		if e.Type == store.Deleted {
			if !selects(f.seen, e.Scope) || f.c.within != nil && !selects(store.Eq(f.c.parent().field, *f.c.within), e.Scope) || !selects(f.q.Filter, e.Scope) {
				continue
			}
			event.Data = map[string]store.ID{"id": e.RecordID}
		} else {
			doc, ok := docs[e.RecordID]
			if !ok { // deleted in the meantime, not visible or not selected
				continue
			}
			if created[e.RecordID] {
				event.Event = string(store.Created)
			}
			event.Data = listing.Data(f.q, doc, f.view(doc))
		}
		events = append(events, event)
	}
	return events
}

// selects reports whether a filter selects a record of which only scope is known, because it is deleted or new. A filter on other
// fields does not select the record.
func selects(f store.Filter, scope map[string]store.ID) bool {
	equal := func(field string, value any) bool {
		ids, id := idsOf(value), scope[field]
		return len(ids) == 1 && ids[0] == id && !id.IsZero()
	}
	switch f := f.(type) {
	case nil:
		return true
	case store.Comparison:
		return f.Op == store.OpEq && equal(f.Field, f.Value)
	case store.Membership:
		return slices.ContainsFunc(f.Values, func(v any) bool { return equal(f.Field, v) })
	case store.Connective:
		if f.Op == store.OpOr {
			return slices.ContainsFunc(f.Filters, func(part store.Filter) bool { return selects(part, scope) })
		}
		return !slices.ContainsFunc(f.Filters, func(part store.Filter) bool { return !selects(part, scope) })
	}
	return false
}
