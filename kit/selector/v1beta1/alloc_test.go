//go:build !race

package v1beta1

import (
	"fmt"
	"testing"
)

// With the race detector, sync.Pool drops items at random.
func TestAllocations(t *testing.T) {
	var x Index[string]
	for i := range 2000 {
		put(t, &x, Entry[string]{ID: fmt.Sprint(i), Namespace: "ns", CreatedAt: at(i),
			Selector: selectorOf(map[string]string{fmt.Sprint("key-", i%5): "", "app": fmt.Sprint(i % 3)})})
	}
	proxy := Proxy{
		Namespace: "ns",
		Metadata:  map[string]string{"app": "0"},
		Handshake: map[string]string{"key-1": ""},
		Instance:  map[string]string{"key-0": "", "key-2": ""},
	}
	ids := x.Select(proxy, nil)
	if len(ids) < 100 {
		t.Fatalf("%d policies apply, want many", len(ids))
	}
	selector := selectorOf(proxy.Instance)
	matcher, err := Compile(selector)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"Select":   func() { ids = x.Select(proxy, ids[:0]) },
		"Matches":  func() { matcher.Matches(proxy.Instance) },
		"Validate": func() { _ = Validate(selector) },
	} {
		if got := testing.AllocsPerRun(100, f); got != 0 {
			t.Errorf("%s allocates %v times", name, got)
		}
	}
}
