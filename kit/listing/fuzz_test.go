package listing

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"slices"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// FuzzQuery looks for query strings that exceed the limits of a list, or are rejected without a reason.
func FuzzQuery(f *testing.F) {
	for _, query := range []string{
		"", "q=a&page=1&limit=2&sort=-title&fields=title&count=true&size[in]=1,2", "after=AAAA&createdAt[gt]=2026-01-02T03:04:05Z",
		"limit=101", "page=101&limit=100", "page=9223372036854775807&limit=9223372036854775807", "limit=-1&page=-1", "sort=-,--title", "fields=-id,id",
		"size=1e9&price=0x1p-2&open=TRUE", "title[in]=,&title[$ne]=x", "userId=000000000000000000000000&role[ne]=user", "q=%00%ff", "limit=+5", "access_token=a&access_token=b",
	} {
		f.Add(query)
	}
	codes := []apperr.FieldCode{"required", "type", "format", "min", "max", "max_length", "one_of", "unknown", "conflict"}
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		q, err := lister.Parse(values)
		if err != nil {
			var e *apperr.Error
			if !errors.As(err, &e) || e.Code != apperr.ValidationFailed || len(e.Fields) == 0 || len(e.Fields) > len(values)+2*len(lister.params) {
				t.Fatalf("%q: %v", query, err)
			}
			for _, fault := range e.Fields {
				if fault.In != "query" || !values.Has(fault.Param) && fault.Param != "page" && fault.Code != apperr.Unknown || !slices.Contains(codes, fault.Code) || fault.Message == "" {
					t.Errorf("%q: %+v", query, fault)
				}
			}
			if _, err := json.Marshal(e.Fields); err != nil {
				t.Errorf("%q: %v", query, err)
			}
			return
		}
		if q.Limit < 1 || q.Limit > MaxLimit || q.Skip < 0 || q.Skip > MaxSkip {
			t.Errorf("%q: limit %d, skip %d", query, q.Limit, q.Skip)
		}
		if q.After != nil {
			t.Errorf("%q: a forged cursor was taken", query)
		}
		for i, order := range q.Sort {
			twice := slices.ContainsFunc(q.Sort[:i], func(o store.Order) bool { return o.Field == order.Field })
			if !slices.Contains(lister.spec.Sort, order.Field) || twice {
				t.Errorf("%q: sort %v", query, q.Sort)
			}
		}
		if len(q.Sort) == 0 || q.fields != nil && !slices.Contains(q.fields, "id") {
			t.Errorf("%q: sort %v, fields %v", query, q.Sort, q.fields)
		}
		for _, name := range q.fields {
			if !slices.Contains(lister.fields, name) {
				t.Errorf("%q: it asks for %s", query, name)
			}
		}
		checkFilter(t, query, q.Filter)
		if again, err := lister.Parse(values); err != nil || !reflect.DeepEqual(again.Query, q.Query) {
			t.Errorf("%q: read again: %+v, %v, at first %+v", query, again.Query, err, q.Query)
		}
	})
}

// checkFilter checks that a filter has only declared fields and values of their types.
func checkFilter(t *testing.T, query string, filter store.Filter) {
	t.Helper()
	scalar := func(field string, value any) {
		declared := slices.IndexFunc(lister.spec.Filter, func(f Filter) bool { return f.Field == field })
		if declared < 0 {
			t.Fatalf("%q: it filters by %s", query, field)
		}
		var fits bool
		switch lister.spec.Filter[declared].Type {
		case Text, Enum:
			_, fits = value.(string)
		case Int:
			_, fits = value.(int64)
		case Float:
			_, fits = value.(float64)
		case Bool:
			_, fits = value.(bool)
		case Time:
			_, fits = value.(store.Time)
		case ID:
			_, fits = value.(store.ID)
		}
		if !fits {
			t.Errorf("%q: %s is compared with a %T", query, field, value)
		}
		if _, err := json.Marshal(value); err != nil { // an engine must be able to encode the value
			t.Errorf("%q: %v", query, err)
		}
	}
	switch v := filter.(type) {
	case nil:
	case store.Connective:
		for _, part := range v.Filters {
			checkFilter(t, query, part)
		}
	case store.Comparison:
		scalar(v.Field, v.Value)
	case store.Membership:
		for _, value := range v.Values {
			scalar(v.Field, value)
		}
	case store.TextSearch:
		if runes := []rune(v.Text); len(runes) == 0 || len(runes) > MaxQuery {
			t.Errorf("%q: it searches for %d characters", query, len(runes))
		}
	default:
		t.Errorf("%q: a %T", query, v)
	}
}

// FuzzCursor changes a cursor, its scope and the secret. Only the unmodified cursor must be accepted, and decode to the original
// values.
func FuzzCursor(f *testing.F) {
	f.Add("docs?", "title", int64(5), int64(1e12), []byte{}, uint(0), byte(0), "docs?sort=title", "")
	f.Add("docs?sort=-size", "\x00", int64(-1<<53), int64(-62135596800000), []byte("forged"), uint(20), byte(1), "docs?sort=-size", "another secret")
	f.Add("", "", int64(0), int64(0), []byte{0xff}, uint(3), byte(0x80), "x", "secret")
	ours := NewCursors("secret")
	f.Fuzz(func(t *testing.T, scope, title string, size, millis int64, tail []byte, place uint, flip byte, otherScope, secret string) {
		position := []any{title, size, store.At(time.UnixMilli(millis % 1e14)), nil, store.ID{1}}
		cursor := ours.Seal(scope, position)
		got, ok := ours.Open(scope, cursor, len(position)-1)
		if !ok || !reflect.DeepEqual(got, position) {
			t.Fatalf("%v was sealed, %v came out, %v", position, got, ok)
		}
		if _, ok := ours.Open(scope, cursor, len(position)); ok {
			t.Error("it is valid for another number of fields")
		}
		if _, ok := ours.Open(otherScope, cursor, len(position)-1); ok && otherScope != scope {
			t.Errorf("a cursor of %q is valid for %q", scope, otherScope)
		}
		if _, ok := NewCursors(secret).Open(scope, cursor, len(position)-1); ok && secret != "secret" {
			t.Errorf("it is valid with the secret %q", secret)
		}
		raw, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil {
			t.Fatal(err)
		}
		forged := append(slices.Clone(raw), tail...)
		forged[place%uint(len(forged))] ^= flip
		if _, ok := ours.Open(scope, base64.RawURLEncoding.EncodeToString(forged), len(position)-1); ok && !slices.Equal(forged, raw) {
			t.Errorf("%x was altered to %x", raw, forged)
		}
		if _, ok := ours.Open(scope, string(tail), len(position)-1); ok {
			t.Errorf("%q was made up", tail)
		}
	})
}
