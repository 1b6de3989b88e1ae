package apperr

import (
	"fmt"
	"testing"
)

func TestJoinInvalid(t *testing.T) {
	t.Parallel()
	a, b := Field{In: "body", Param: "a", Code: Required}, Field{In: "body", Param: "b", Code: Format}
	conflict := New(Conflict, "conflict")
	for _, test := range []struct{ first, second, want error }{
		{nil, nil, nil},
		{Invalid(a), nil, Invalid(a)},
		{nil, Invalid(a), Invalid(a)},
		{Invalid(a), Invalid(b), Invalid(a, b)},
		{Invalid(a), Invalid(Field{In: "body", Param: "a", Code: Format}, b), Invalid(a, b)},
		{Invalid(a), Invalid(Field{In: "query", Param: "a"}), Invalid(a, Field{In: "query", Param: "a"})},
		{Invalid(a), Invalid(Field{In: "body", Param: "a[0]"}, Field{In: "body", Param: "a.x"}, Field{In: "body", Param: "ab"}), Invalid(a, Field{In: "body", Param: "ab"})},
		{conflict, Invalid(a), conflict},
		{Invalid(a), conflict, Invalid(a)},
		{nil, conflict, conflict},
	} {
		if got := JoinInvalid(test.first, test.second); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", test.want) || fields(got) != fields(test.want) {
			t.Errorf("%v and %v: %v", test.first, test.second, got)
		}
	}
}

func fields(err error) string {
	if e, ok := err.(*Error); ok {
		return fmt.Sprint(e.Fields)
	}
	return ""
}
