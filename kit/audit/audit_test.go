package audit

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"example.com/ginseng/kit/apperr"
)

// TestParse checks the errors of query strings, and their order.
func TestParse(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"":          "",
		"limit=1":   "",
		"limit=100": "",
		"limit=0":   "limit min 1",
		"limit=-1":  "limit min 1",
		"limit=101": "limit max 100",
		"limit=x":   "limit type <nil>",
		"limit=0&createdAt[lt]=x&createdAt[gte]=x&by=x&recordId=x": "recordId format <nil>; by format <nil>; createdAt[gte] type <nil>; " +
			"createdAt[lt] type <nil>; limit min 1; resource required <nil>",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 { // a random order would differ
			_, err = new(Module).parse(values)
			var got []string
			var e *apperr.Error
			if errors.As(err, &e) {
				for _, f := range e.Fields {
					got = append(got, fmt.Sprintf("%s %s %v", f.Param, f.Code, f.Expected))
				}
			}
			if got := strings.Join(got, "; "); got != want {
				t.Fatalf("%s: %s, want %s", query, got, want)
			}
		}
	}
}
