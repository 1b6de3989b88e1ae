package store

import (
	"reflect"
	"testing"
	"time"
)

func TestConnectives(t *testing.T) {
	a, b := Eq("a", 1), Ne("b", nil)
	for _, test := range []struct {
		name string
		got  Filter
		want []Filter
	}{
		{"And", And(a, b), []Filter{a, b}},
		{"And with nil", And(nil, a, nil, b), []Filter{a, b}},
		{"And of nil", And(nil), []Filter{}},
		{"And of nothing", And(), []Filter{}},
		{"Or", Or(a, b), []Filter{a, b}},
		{"Or with nil", Or(nil, b, nil), []Filter{b}},
		{"Or of nothing", Or(), []Filter{}},
	} {
		if got := test.got.(Connective).Filters; !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s joins %v, want %v", test.name, got, test.want)
		}
	}
	if And(nil, a) != a {
		t.Error("And of one filter is another filter")
	}
	if And().(Connective).Op != OpAnd || Or().(Connective).Op != OpOr {
		t.Error("And and Or are exchanged")
	}

	list := []Filter{a, nil, b}
	And(list...)
	if !reflect.DeepEqual(list, []Filter{a, nil, b}) {
		t.Errorf("And has changed its arguments: %v", list)
	}
}

func TestComparisons(t *testing.T) {
	for op, got := range map[Op]Filter{
		OpEq: Eq("f", 1), OpNe: Ne("f", 1), OpGt: Gt("f", 1), OpGte: Gte("f", 1), OpLt: Lt("f", 1), OpLte: Lte("f", 1),
	} {
		if want := (Comparison{op, "f", 1}); got != want {
			t.Errorf("the filter is %v, want %v", got, want)
		}
	}
	if got, want := In("f", 1, "a"), (Membership{Field: "f", Values: []any{1, "a"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("In is %v, want %v", got, want)
	}
	if got, want := Search("a b"), (TextSearch{"a b"}); got != want {
		t.Errorf("Search is %v, want %v", got, want)
	}
}

func TestChanges(t *testing.T) {
	name, nobody := "name", (*string)(nil)
	for _, test := range []struct {
		name      string
		got, want Change
	}{
		{"Set", Set("f", 1), Change{Op: OpSet, Field: "f", Value: 1}},
		{"Set by pointer", Set("f", &name), Change{Op: OpSet, Field: "f", Value: &name}},
		{"Set empty", Set("f", ""), Change{Op: OpSet, Field: "f", Value: ""}},
		{"Set nil", Set("f", nil), Change{Op: OpUnset, Field: "f"}},
		{"Set nil pointer", Set("f", nobody), Change{Op: OpUnset, Field: "f"}},
		{"Set nil time", Set("f", (*Time)(nil)), Change{Op: OpUnset, Field: "f"}},
		{"Unset", Unset("f"), Change{Op: OpUnset, Field: "f"}},
		{"Inc", Inc("f", -2), Change{Op: OpInc, Field: "f", Value: int64(-2)}},
	} {
		if test.got != test.want {
			t.Errorf("%s is %v, want %v", test.name, test.got, test.want)
		}
	}
}

func TestIsNil(t *testing.T) {
	for _, v := range []any{nil, (*string)(nil), (*Time)(nil), (*ID)(nil), (*struct{})(nil)} {
		if !IsNil(v) {
			t.Errorf("%T %v is not nil", v, v)
		}
	}
	for _, v := range []any{"", 0, false, 0.0, Time{}, ID{}, new(string), At(time.Now())} {
		if IsNil(v) {
			t.Errorf("%T %v is nil", v, v)
		}
	}
}
