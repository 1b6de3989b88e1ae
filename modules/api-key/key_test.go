package apikey

import (
	"regexp"
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
)

// TestKeyFormat parses valid and malformed keys.
func TestKeyFormat(t *testing.T) {
	t.Parallel()
	id := store.NewID()
	key := newKey(id)
	if !regexp.MustCompile(`^gsk_[0-9a-f]{96}$`).MatchString(key) {
		t.Errorf("the key is %s", key)
	}
	if got, ok := parseKey(key); !ok || got != id {
		t.Errorf("parsed as %v, %t", got, ok)
	}
	for i := range key {
		changed := key[:i] + "x" + key[i+1:]
		if _, ok := parseKey(changed); ok {
			t.Errorf("%s is accepted", changed)
		}
	}
	for _, wrong := range []string{"", "gsk_", key[:99], key + "0", strings.ToUpper(key), " " + key[1:], strings.Repeat("é", 50)} {
		if _, ok := parseKey(wrong); ok {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
