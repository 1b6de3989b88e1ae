package store

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"example.com/ginseng/kit/apperr"
)

// TestAnd checks that And leaves out filters that are nil, and does not change its arguments.
func TestAnd(t *testing.T) {
	a, b := Eq("a", 1), Ne("b", nil)
	list := []Filter{a, nil, b}
	if And(nil, a) != a || len(And(list...).(Connective).Filters) != 2 || !reflect.DeepEqual(list, []Filter{a, nil, b}) {
		t.Errorf("%v and %v", And(nil, a), list)
	}
}

func TestErrors(t *testing.T) {
	err := Duplicate("namespace", "name")
	if !apperr.Is(err, apperr.Conflict) || len(err.Fields) != 2 {
		t.Fatalf("Duplicate is %v with the fields %v", err, err.Fields)
	}
	for i, name := range []string{"namespace", "name"} {
		if f := err.Fields[i]; f.Param != name || f.In != "body" || f.Code != "conflict" || f.Message == "" {
			t.Errorf("field %d is %+v", i, f)
		}
	}
	if err := Duplicate("userId", "organizationId", "name"); len(err.Fields) != 1 || err.Fields[0].Param != "name" {
		t.Errorf("with an owner: %+v", err)
	}
	if err := Duplicate(); !apperr.Is(err, apperr.Conflict) || len(err.Fields) != 0 {
		t.Errorf("Duplicate of no field is %v", err)
	}
	if err := Unavailable(context.Canceled); !apperr.Is(err, apperr.Unavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("Unavailable is %v", err)
	}
	if !apperr.Is(ErrNotFound, apperr.NotFound) {
		t.Errorf("ErrNotFound is %v", ErrNotFound)
	}
}
