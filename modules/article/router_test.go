package article_test

import "testing"

// TestArticle checks the table in fixtures_test.go. The generator writes this file once. If a rule of yours is over several fields or
// records, let the bodies of the tests comply with it, in all tests:
//
//	r.Prepare = func(api *testkit.API, n int, body map[string]any) { body["FIELD"] = … } // of body n
func TestArticle(t *testing.T) {
	t.Parallel()
	r := newResource()
	r.Run(t)
}
