package seal_test

import (
	"bytes"
	"strings"
	"testing"

	"example.com/ginseng/kit/seal"
)

func TestSeal(t *testing.T) {
	t.Parallel()
	first, second := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	sealed := seal.New(first).Seal("a", []byte("a secret"))
	if strings.Contains(sealed, "secret") || sealed == seal.New(first).Seal("a", []byte("a secret")) {
		t.Errorf("sealed as %s", sealed)
	}
	for name, test := range map[string]struct {
		keys        seal.Keys
		use, sealed string
		ok, current bool
	}{
		"first key":   {seal.New(first), "a", sealed, true, true},
		"former key":  {seal.New(second, first), "a", sealed, true, false},
		"another key": {seal.New(second), "a", sealed, false, false},
		"another use": {seal.New(first), "b", sealed, false, false},
		"changed":     {seal.New(first), "a", "A" + sealed, false, false},
		"not base64":  {seal.New(first), "a", "?", false, false},
		"empty":       {seal.New(first), "a", "", false, false},
	} {
		data, current, ok := test.keys.Open(test.use, test.sealed)
		if ok != test.ok || current != test.current || ok != (string(data) == "a secret") {
			t.Errorf("%s: %q, %t, %t", name, data, current, ok)
		}
	}
}
