// Package audit provides the route that lists the log of changes, which records who changed which record, and when.
package audit

import (
	"net/url"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts { return kit.Parts{} }

// Routes implements kit.Module.
func (m *Module) Routes(r *route.Router) { r.GET("/changes", route.Admin, m.list, route.AnyQuery) }

// Params are the parameters in the query string.
type Params struct {
	Resource string `form:"resource"`                                     // name of a resource, such as articles
	RecordID string `form:"recordId"`                                     // ID of a record; requires resource
	By       string `form:"by"`                                           // ID of the user who made the changes
	Limit    int    `form:"limit" minimum:"1" maximum:"100" default:"30"` // maximum number of rows per page
	After    string `form:"after"`                                        // the value of next in the previous page
}

// Change is an entry of the log.
type Change struct {
	ID        store.ID         `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f902"`
	Resource  string           `json:"resource" example:"articles"`
	RecordID  *store.ID        `json:"recordId" swaggertype:"string" extensions:"x-nullable"`             // null if type is reset
	Type      store.ChangeType `json:"type" swaggertype:"string" enums:"created,updated,deleted,reset"`   // reset: a migration or a bulk load may have changed any records of the resource
	By        *store.ID        `json:"by" swaggertype:"string" extensions:"x-nullable,x-reference=users"` // ID of the user who made the change; null if the master key was used or there was no caller
	Key       *store.ID        `json:"key" swaggertype:"string" extensions:"x-nullable"`                  // ID of the API key that was used, or null
	RequestID string           `json:"requestId"`
	Fields    []string         `json:"fields"` // names of the fields that the update set, or of what an admin removed from a user
	CreatedAt store.Time       `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
}

// Page is a page of the log.
type Page struct {
	Rows []Change `json:"rows"`
	Next string   `json:"next,omitempty" extensions:"x-omitempty"` // the value of the after parameter of the next request; absent on the last page
} //	@name	ChangePage

// Module serves the log.
type Module struct {
	DB      store.DB
	Cursors listing.Cursors
}

// cursorScope binds cursors to this list, so that the route rejects cursors of other lists.
const cursorScope = "audit"

// list returns a page of the log.
//
//	@Summary		List changes of all resources
//	@Description	Returns who changed which records, newest first. Includes the resources that record their changes, webhooks, and users. An entry of a user is a new admin, a change of email, role or suspended, a deletion, or what an admin removed from the account of another user: sessions, twoFactor, passkeys, apiKeys or identities.
//	@Tags			changes
//	@Param			query			query		Params	false	"the parameters of the page"
//	@Param			createdAt[gte]	query		string	false	"only changes at this time or later"	Format(date-time)
//	@Param			createdAt[lt]	query		string	false	"only changes before this time"			Format(date-time)
//	@Success		200				{object}	Page
//	@Router			/changes [get]
func (m *Module) list(g *gin.Context) error {
	f, err := m.parse(rest.Query(g))
	if err != nil {
		return err
	}
	f.Limit++ // one more entry shows whether there is a next page
	entries, err := m.DB.Log().Newest(g.Request.Context(), f)
	if err != nil {
		return err
	}
	page := Page{Rows: []Change{}}
	if len(entries) == f.Limit {
		entries = entries[:f.Limit-1]
		last := entries[len(entries)-1].Position
		page.Next = m.Cursors.Seal(cursorScope, []any{last.Number, last.ChangeID})
	}
	for _, e := range entries {
		page.Rows = append(page.Rows, changeOf(e))
	}
	return rest.OK(g, page)
}

func changeOf(e store.Entry) Change {
	c := Change{
		ID: e.ChangeID, Resource: e.Collection, Type: e.Type, By: e.By, Key: e.Key, RequestID: e.RequestID, Fields: e.Fields, CreatedAt: e.At,
	}
	if c.Fields == nil {
		c.Fields = []string{}
	}
	if !e.RecordID.IsZero() {
		c.RecordID = &e.RecordID
	}
	return c
}

// parse returns the filter for a query string. ValidationFailed: the query string has invalid parameters.
func (m *Module) parse(query url.Values) (store.LogFilter, error) {
	f := store.LogFilter{Collection: query.Get("resource"), Limit: listing.DefaultLimit}
	invalid := rest.UnknownQuery(query, []string{"resource", "recordId", "by", "createdAt[gte]", "createdAt[lt]", "limit", "after"})
	add := func(param string, fieldErr *apperr.Field) {
		if fieldErr != nil {
			fieldErr.In, fieldErr.Param = "query", param
			invalid = append(invalid, *fieldErr)
		}
	}
	add("resource", rest.CheckString(f.Collection))
	id := func(param string) (value store.ID) {
		if text := query.Get(param); text != "" {
			var fieldErr *apperr.Field
			value, fieldErr = rest.Parse[store.ID](text)
			add(param, fieldErr)
		}
		return value
	}
	at := func(param string) *store.Time {
		text := query.Get(param)
		if text == "" {
			return nil
		}
		value, fieldErr := rest.Parse[store.Time](text)
		add(param, fieldErr)
		return &value
	}
	f.RecordID, f.By = id("recordId"), id("by")
	f.Since, f.Until = at("createdAt[gte]"), at("createdAt[lt]")
	if text := query.Get("limit"); text != "" {
		limit, fieldErr := rest.Parse[int64](text)
		switch {
		case fieldErr != nil:
		case limit < 1:
			fieldErr = &apperr.Field{Code: apperr.Min, Message: "Must be at least 1.", Expected: 1}
		case limit > listing.MaxLimit:
			fieldErr = &apperr.Field{Code: apperr.Max, Message: "Must be at most 100.", Expected: listing.MaxLimit}
		}
		f.Limit = int(limit)
		add("limit", fieldErr)
	}
	if after := query.Get("after"); after != "" {
		values, ok := m.Cursors.Open(cursorScope, after, 1)
		if ok {
			f.Before, ok = values[0].(int64)
		}
		if !ok {
			add("after", &apperr.Field{Code: apperr.Format, Message: "Must be the value of next in a page of this list."})
		}
	}
	if query.Get("recordId") != "" && f.Collection == "" {
		add("resource", &apperr.Field{Code: apperr.Required, Message: "Is required with recordId."})
	}
	if invalid != nil {
		return f, apperr.Invalid(invalid...)
	}
	return f, nil
}
