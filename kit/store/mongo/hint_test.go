package mongo

import (
	"testing"

	"example.com/ginseng/kit/store"
)

func TestHint(t *testing.T) {
	t.Parallel()
	s := newSchema(store.Spec{Indexes: userIndexes, Search: []string{"title"}})
	up := func(fields ...string) (order []store.Order) {
		for _, f := range fields {
			order = append(order, store.Order{Field: f})
		}
		return order
	}
	down := func(fields ...string) []store.Order {
		order := up(fields...)
		for i := range order {
			order[i].Desc = true
		}
		return order
	}
	var (
		eq, and, or = store.Eq, store.And, store.Or
		someUser    = eq("userId", someID)
	)
	for _, test := range []struct {
		name  string
		f     store.Filter
		order []store.Order
		want  string
	}{
		{"all, by id", nil, nil, "_id_"},
		{"all, by id, downwards", and(), down("id"), "_id_"},
		{"a range of ids", store.Gt("id", someID), nil, "_id_"},
		{"all, sorted", nil, up("createdAt"), "store:createdAt"},
		{"all, sorted downwards", nil, down("createdAt"), "store:createdAt"},
		{"all, sorted to the id", nil, down("createdAt", "id", "never"), "store:createdAt"},
		{"a range, sorted by it", and(store.Gte("createdAt", noon), store.Lt("createdAt", noon)), down("createdAt"),
			"store:createdAt"},
		{"a value", someUser, down("createdAt"), "store:userId,createdAt"},
		{"a value that is absence", eq("userId", nil), down("createdAt"), "store:userId,createdAt"},
		{"a value and a range", and(someUser, store.Gt("createdAt", noon)), up("createdAt"), "store:userId,createdAt"},
		{"a value, sorted by it as well", someUser, up("userId", "createdAt"), "store:userId,createdAt"},
		{"all, sorted by both", nil, up("userId", "createdAt"), "store:userId,createdAt"},
		{"two values", and(someUser, eq("role", "a")), up("name"), "store:role,userId,name"},
		{"three values, by id", and(eq("name", "n"), and(someUser, eq("role", "a"))), nil, "store:role,userId,name"},
		{"nested", eq("profile.city", "Oslo"), nil, "store:profile.city"},
		{"a unique value", eq("email", "a"), nil, "store:unique:email"},
		{"a unique value and more", and(eq("email", "a"), or(someUser, eq("role", "a")), store.Search("x")), up("name"),
			"store:unique:email"},
		{"a unique pair", and(eq("name", "a"), eq("namespace", "b")), nil, "store:unique:namespace,name"},

		{"an id", eq("id", someID), nil, ""},
		{"an id and more", and(eq("id", someID), eq("email", "a")), nil, ""},
		{"no id", eq("id", nil), nil, ""},
		{"a unique value that is absence", eq("email", nil), nil, ""},
		{"half a unique pair", eq("namespace", "b"), nil, ""},
		{"sorted by a unique field", nil, up("email"), ""},
		{"mixed directions", nil, []store.Order{{Field: "userId"}, {Field: "createdAt", Desc: true}}, ""},
		{"the id in the other direction", nil, append(down("createdAt"), up("id")...), ""},
		{"no such index", nil, up("updatedAt"), ""},
		{"a value that the index has not", and(someUser, eq("other", 1)), up("createdAt"), ""},
		{"a value, sorted by nothing", someUser, nil, ""},
		{"a range, sorted by another field", store.Gt("createdAt", noon), up("profile.city"), ""},
		{"a range, by id", store.Gt("createdAt", noon), nil, ""},
		{"not a value", and(someUser, store.Ne("role", "a")), up("createdAt"), ""},
		{"one of many", store.In("userId", someID, someID), up("createdAt"), ""},
		{"one or the other", or(someUser, eq("role", "a")), up("createdAt"), ""},
		{"a search", store.Search("x"), up("createdAt"), ""},
	} {
		if got := s.hint(factsOf(test.f), test.order); got != test.want {
			t.Errorf("%s: the hint is %q, want %q", test.name, got, test.want)
		}
	}
	empty := newSchema(store.Spec{})
	if got := empty.hint(factsOf(eq("a", 1)), up("b")); got != "" {
		t.Errorf("without an index the hint is %q", got)
	}
}
