package listing

import (
	"cmp"
	"net/url"
	"reflect"
	"slices"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// ChangesParams documents the parameters that feeds of changes have in common. The feed of a list with NoETag has no etags parameter.
type ChangesParams struct {
	Limit  int    `form:"limit" minimum:"1" maximum:"100" default:"30"` // maximum number of events per page
	Fields string `form:"fields"`                                       // the fields to include or, with a - before each name, to exclude; id is always included
	ETags  bool   `form:"etags" default:"false"`                        // true adds etag to the data of each event that is not a deletion: the ETag of the record, for If-Match and If-None-Match
	After  string `form:"after"`                                        // the position to continue from: the value of next in a page, or the id of an event; if absent, the feed begins now
}

// ChangesQuery is a parsed query string of a feed of changes.
type ChangesQuery struct {
	Limit  int
	After  store.Position // the zero value: begin now; set by Begin
	Lost   bool           // the client sent an invalid position; set by Begin
	Filter store.Filter   // nil selects all

	after   string   // the position that the client sent; "": none
	scope   string   // of the positions; see Cursors.Seal
	fields  []string // fields of the view that the client selected; nil: all
	etag    tagFunc  // returns the ETag of a record; nil: events have no ETags
	cursors Cursors
}

// constantFields are the fields by which clients can filter a feed of changes, because they never change: the owner and the
// organization of a record.
var constantFields = []string{"userId", "organizationId"}

// changesScope is the scope of cursors for positions in the log; see Cursors.Seal. It names no list, because all collections share one
// log.
const changesScope = "changes"

// ParseChanges parses the query string of a feed of changes. lastEventID is the Last-Event-ID header, which takes precedence over
// the after parameter. An invalid position is not an error; Begin sets Lost. ValidationFailed: at least one parameter is
// invalid; the error lists all invalid parameters.
func (l *Lister) ParseChanges(values url.Values, lastEventID string) (ChangesQuery, error) {
	params := []string{"after", "fields", "limit"}
	if l.spec.ETag != NoETag {
		params = append(params, paramETags)
	}
	var constant []condition
	for _, c := range l.conditions {
		if slices.Contains(constantFields, c.name) {
			constant = append(constant, c)
			params = append(params, c.name)
		}
	}
	limited := *l // checkNames accepts only params
	limited.params = params
	p := parser{Lister: &limited, values: values}
	p.checkNames()
	q := ChangesQuery{Limit: p.number("limit", DefaultLimit, 1, MaxLimit), fields: p.selection(), etag: p.etag(), cursors: l.cursors}
	for _, c := range constant {
		if p.given(c.name) {
			q.Filter = store.And(q.Filter, p.condition(c))
		}
	}
	if len(p.fieldErrs) > 0 {
		return q, apperr.Invalid(p.fieldErrs...)
	}
	q.after = cmp.Or(lastEventID, p.get("after"))
	return q, nil
}

// Begin returns the query for a caller, with the position that the client sent. digest identifies what the caller may see: a
// position is valid only with the digest with which Cursor returned it. "" stands for all records.
func (q ChangesQuery) Begin(digest string) ChangesQuery {
	q.scope = changesScope
	if digest != "" {
		q.scope += "?" + digest
	}
	if q.after != "" {
		q.After, q.Lost = q.cursors.openPosition(q.scope, q.after)
	}
	return q
}

// openPosition returns the position in the log that a cursor encodes. lost reports whether the cursor is invalid.
func (c Cursors) openPosition(scope, cursor string) (p store.Position, lost bool) {
	values, ok := c.Open(scope, cursor, 1) // the number, and the ID
	if !ok {
		return p, true
	}
	number, isNumber := values[0].(int64)
	id, isID := values[1].(store.ID)
	return store.Position{Number: number, ChangeID: id}, !isNumber || !isID
}

// Cursor returns the cursor of a position in the log. q is a result of Begin.
func (q ChangesQuery) Cursor(p store.Position) string {
	return q.cursors.Seal(q.scope, []any{p.Number, p.ChangeID})
}

// Data returns the data of an event: the fields of the view that the client selected and, if the client asked for it, the ETag of
// the record.
func Data[V any](q ChangesQuery, record store.Document, view V) any {
	if q.fields == nil && q.etag == nil {
		return view
	}
	tag := ""
	if q.etag != nil {
		tag = q.etag(versionOf(record), view)
	}
	return selected(view, q.fields, fieldIndexes(reflect.TypeOf(view)), tag)
}
