package article_test

import "testing"

// TestArticle checks the table in fixtures_test.go. The generator writes this file once. If a rule of yours rejects what the tests
// send, the failure names the lines to add here; go doc example.com/ginseng/testkit.Resource explains them.
func TestArticle(t *testing.T) {
	t.Parallel()
	r := newResource()
	r.Run(t)
}
