package v1beta1

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// at returns the time that is the number of seconds after the Unix epoch.
func at(seconds int) time.Time { return time.Unix(int64(seconds), 0) }

// put puts the entry, which must be valid.
func put[ID comparable](tb testing.TB, x *Index[ID], entry Entry[ID]) {
	tb.Helper()
	if err := x.Put(entry); err != nil {
		tb.Fatal(err)
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	selector := func(labels ...string) *WorkloadSelector {
		s := &WorkloadSelector{MatchLabels: make(map[string]string)}
		for _, label := range labels {
			key, value, _ := strings.Cut(label, "=")
			s.MatchLabels[key] = value
		}
		return s
	}
	var x Index[string]
	for _, entry := range []Entry[string]{
		{ID: "whole", Namespace: "shop", Name: "b", CreatedAt: at(5)},
		{ID: "cart", Namespace: "shop", Name: "c", CreatedAt: at(5), Selector: selector("app=cart")},
		{ID: "cart v1", Namespace: "shop", Name: "a", CreatedAt: at(5), Selector: selector("app=cart", "version=v1")},
		{ID: "empty", Namespace: "shop", Name: "z", CreatedAt: at(1), Selector: selector("canary=")},
		{ID: "other", Namespace: "bank", Name: "a", CreatedAt: at(1), Selector: selector("app=cart")},
		{ID: "root", Namespace: "istio-system", Name: "a", CreatedAt: at(1)},
		{ID: "nowhere", Namespace: "", Name: "a", CreatedAt: at(1)},
	} {
		put(t, &x, entry)
	}
	type labels = map[string]string
	tests := []struct {
		name  string
		proxy Proxy
		want  []string
	}{
		{"no labels", Proxy{Namespace: "shop"}, []string{"whole"}},
		{"by time, then name", Proxy{Namespace: "shop", Instance: labels{"app": "cart", "version": "v1", "canary": ""}},
			[]string{"empty", "cart v1", "whole", "cart"}},
		{"labels of all sources", Proxy{Namespace: "shop", Metadata: labels{"app": "cart"},
			Handshake: labels{"version": "v1"}, Instance: labels{"canary": ""}},
			[]string{"empty", "cart v1", "whole", "cart"}},
		{"the instance wins over metadata", Proxy{Namespace: "shop", Metadata: labels{"app": "cart"},
			Instance: labels{"app": "web"}}, []string{"whole"}},
		{"the instance wins over the handshake", Proxy{Namespace: "shop", Handshake: labels{"app": "cart"},
			Instance: labels{"app": "web"}}, []string{"whole"}},
		{"the handshake wins over metadata", Proxy{Namespace: "shop", Metadata: labels{"app": "cart"},
			Handshake: labels{"app": "web"}}, []string{"whole"}},
		{"another namespace", Proxy{Namespace: "bank", Instance: labels{"app": "cart"}}, []string{"other"}},
		{"a namespace without policies", Proxy{Namespace: "none", Instance: labels{"app": "cart"}}, nil},
		{"no namespace", Proxy{Instance: labels{"app": "cart"}}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := x.Select(test.proxy, nil); !slices.Equal(got, test.want) {
				t.Errorf("Select = %q, want %q", got, test.want)
			}
			want := append([]string{"kept"}, test.want...)
			if got := x.Select(test.proxy, []string{"kept"}); !slices.Equal(got, want) {
				t.Errorf("Select with a result = %q, want %q", got, want)
			}
		})
	}
}

func TestPutReplaces(t *testing.T) {
	t.Parallel()
	var x Index[int]
	web := Proxy{Namespace: "shop", Instance: map[string]string{"app": "web"}}
	entry := Entry[int]{ID: 1, Namespace: "shop", Name: "a", CreatedAt: at(1)}
	expect := func(want ...int) {
		t.Helper()
		if got := x.Select(web, nil); !slices.Equal(got, want) {
			t.Errorf("Select = %v, want %v", got, want)
		}
	}
	put(t, &x, Entry[int]{ID: 2, Namespace: "shop", Name: "b", CreatedAt: at(1)})
	put(t, &x, entry)
	expect(1, 2)

	entry.Selector = selectorOf(map[string]string{"app": "cart"})
	put(t, &x, entry)
	expect(2)

	entry.Selector = &WorkloadSelector{}
	if err := x.Put(entry); err == nil {
		t.Error("an empty selector is accepted")
	}
	expect(2)

	entry.Selector = selectorOf(map[string]string{"app": "web"})
	put(t, &x, entry)
	entry.Selector.MatchLabels["app"] = "cart" // the Index does not keep a reference to the selector
	expect(1, 2)

	entry.Selector, entry.Name = nil, "c"
	put(t, &x, entry)
	expect(2, 1)

	x.Delete("bank", 1)
	x.Delete("shop", 3)
	expect(2, 1)
	x.Delete("shop", 2)
	expect(1)
	x.Delete("shop", 1)
	expect()
	x.Delete("shop", 1)
	put(t, &x, entry)
	expect(1)
}

// world generates random policies and proxies.
type world struct {
	*rand.Rand
	keys, values, namespaces int
}

func (w world) labels(most int) map[string]string {
	labels := make(map[string]string)
	for range w.IntN(most + 1) {
		labels[fmt.Sprint("key-", w.IntN(w.keys))] = fmt.Sprint("v", w.IntN(w.values))
	}
	return labels
}

func (w world) namespace() string { return fmt.Sprint("ns-", w.IntN(w.namespaces)) }

// entry returns a policy at a random position in the order, with one of few IDs.
func (w world) entry(ids int) Entry[int] {
	e := Entry[int]{ID: w.IntN(ids), Namespace: w.namespace(), CreatedAt: at(w.IntN(ids))}
	e.Name = fmt.Sprint("policy-", e.ID)
	if labels := w.labels(4); len(labels) > 0 {
		e.Selector = &WorkloadSelector{MatchLabels: labels}
	}
	return e
}

func (w world) proxy() Proxy {
	return Proxy{Namespace: w.namespace(), Metadata: w.labels(4), Handshake: w.labels(4), Instance: w.labels(8)}
}

// scanned is an entry with its Matcher.
type scanned struct {
	Entry[int]
	matcher Matcher
}

// scan is a simple implementation of Index.Select.
func scan(entries []scanned, proxy Proxy) []int {
	var found []scanned
	labels := proxy.EffectiveLabels()
	for _, e := range entries {
		if e.Namespace == proxy.Namespace && (e.Selector == nil || e.matcher.Matches(labels)) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b scanned) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.Name, b.Name))
	})
	var ids []int
	for _, e := range found {
		ids = append(ids, e.ID)
	}
	return ids
}

func TestIndexIsAScan(t *testing.T) {
	t.Parallel()
	for seed, w := range []world{
		{keys: 2, values: 2, namespaces: 2},
		{keys: 12, values: 1, namespaces: 1}, // paths with much in common
		{keys: 5, values: 30, namespaces: 3},
		{keys: 300, values: 2, namespaces: 1},
	} {
		t.Run(fmt.Sprint(w.keys, "x", w.values), func(t *testing.T) {
			t.Parallel()
			w.Rand = rand.New(rand.NewPCG(uint64(seed), 0))
			var x Index[int]
			var entries []scanned
			without := func(namespace string, id int) {
				entries = slices.DeleteFunc(entries, func(e scanned) bool { return e.Namespace == namespace && e.ID == id })
			}
			for step := range 3000 {
				ids := 50
				if step > 500 {
					ids = 600
				}
				if w.IntN(4) == 0 || step > 2600 {
					namespace, id := w.namespace(), w.IntN(ids)
					without(namespace, id)
					x.Delete(namespace, id)
				} else {
					e := w.entry(ids)
					without(e.Namespace, e.ID)
					matcher, _ := Compile(e.Selector)
					entries = append(entries, scanned{e, matcher})
					put(t, &x, e)
				}
				if step%3 == 0 {
					proxy := w.proxy()
					if got, want := x.Select(proxy, nil), scan(entries, proxy); !slices.Equal(got, want) {
						t.Fatalf("step %d, %v: Select = %v, want %v", step, proxy, got, want)
					}
				}
			}
		})
	}
}

// Policies with the same time and name are in the order of Put.
func TestOrderOfEquals(t *testing.T) {
	t.Parallel()
	var x Index[int]
	put(t, &x, Entry[int]{ID: -1, Namespace: "ns", CreatedAt: at(2)})
	var want []int
	for id := range 300 {
		put(t, &x, Entry[int]{ID: id, Namespace: "ns", CreatedAt: at(1)})
		want = append(want, id)
	}
	if got := x.Select(Proxy{Namespace: "ns"}, nil); !slices.Equal(got, append(want, -1)) {
		t.Errorf("Select = %v", got)
	}
}

// A writer adds and deletes policies in order, and repeatedly changes one other policy. Readers always see consecutive policies,
// never older policies than before, and the changed policy exactly once.
func TestReadersSeeWholeWrites(t *testing.T) {
	t.Parallel()
	const width, length, turner = 40, 10_000, -1
	var x Index[int]
	proxy := Proxy{Namespace: "ns", Instance: map[string]string{"a": "1", "b": "1", "c": "1", "d": "1"}}
	entry := func(id int, keys ...string) Entry[int] {
		e := Entry[int]{ID: id, Namespace: "ns", CreatedAt: at(id), Selector: selectorOf(make(map[string]string))}
		for _, key := range keys {
			e.Selector.MatchLabels[key] = "1"
		}
		return e
	}
	keys := []string{"a", "b", "c", "d"}
	put(t, &x, entry(turner, keys...))

	var done atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			var got []int
			for last := -1; !done.Load(); {
				got = x.Select(proxy, got[:0])
				if len(got) == 0 || got[0] != turner || len(got) > width+2 {
					t.Errorf("Select = %v, want %d and up to %d policies", got, turner, width+1)
					return
				}
				for i, id := range got[1:] {
					if id != got[1]+i {
						t.Errorf("Select = %v, with a gap", got)
						return
					}
				}
				newest := got[len(got)-1]
				if newest < last {
					t.Errorf("Select = %v, after %d was seen", got, last)
					return
				}
				last = newest
			}
		})
	}
	for id := range length {
		put(t, &x, entry(id, keys[id%4:]...))
		put(t, &x, entry(turner, keys[:1+id%4]...))
		if id >= width {
			x.Delete("ns", id-width)
		}
	}
	done.Store(true)
	readers.Wait()
}

// A reader does not wait for a writer.
func TestSelectTakesNoLock(t *testing.T) {
	t.Parallel()
	var x Index[int]
	put(t, &x, Entry[int]{ID: 1, Namespace: "ns"})
	x.writing.Lock()
	defer x.writing.Unlock()
	if got := x.Select(Proxy{Namespace: "ns"}, nil); !slices.Equal(got, []int{1}) {
		t.Errorf("Select = %v", got)
	}
}
