package apikey_test

import (
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

// TestKeyFormat sends a valid key and malformed keys, which must be rejected without a query.
func TestKeyFormat(t *testing.T) {
	t.Parallel()
	var queries atomic.Int64
	api := apitest.Start(t, withNotes, func(c *testkit.Config) { c.DB = testdb.Before(c.DB, "First keys", func() { queries.Add(1) }) })
	id, key := newKey(api, api.SignUp("user"), "*:read")
	if !regexp.MustCompile(`^gsk_` + id + `[0-9a-f]{72}$`).MatchString(key) {
		t.Errorf("the key is %s", key)
	}
	want := func(key string, status int) {
		t.Helper()
		if got := api.Do(request{Method: "GET", Path: "/test-notes", As: key}).Status; got != status {
			t.Errorf("%q: status %d, want %d", key, got, status)
		}
	}
	want(key, 204)
	for i := range key {
		want(key[:i]+"x"+key[i+1:], 401)
	}
	for _, wrong := range []string{"gsk_", key[:99], key + "0", strings.ToUpper(key), "gsk_" + strings.ToUpper(key[4:]), " " + key[1:], strings.Repeat("é", 50)} {
		want(wrong, 401)
	}
	if n := queries.Load(); n != 1 {
		t.Errorf("%d queries, want 1", n)
	}
}
