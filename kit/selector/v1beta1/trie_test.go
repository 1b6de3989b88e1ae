package v1beta1

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"weak"
)

func TestDeleteFreesMemory(t *testing.T) {
	t.Parallel()
	type policy struct{ _ [100]byte }
	const n = 5000
	var x Index[*policy]
	var all []weak.Pointer[policy]
	proxy := Proxy{Namespace: "ns", Instance: map[string]string{"common": ""}}
	for i := range n {
		id := new(policy)
		proxy.Instance[fmt.Sprint("key-", i)] = ""
		all = append(all, weak.Make(id))
		put(t, &x, Entry[*policy]{ID: id, Namespace: "ns", CreatedAt: at(i),
			Selector: selectorOf(map[string]string{fmt.Sprint("key-", i): "", "common": ""})})
	}
	alive := func() (count int) {
		x.Select(proxy, nil)
		runtime.GC()
		for _, p := range all {
			if p.Value() != nil {
				count++
			}
		}
		return count
	}
	if got := alive(); got != n {
		t.Fatalf("%d policies of %d are in memory", got, n)
	}
	for _, p := range all[:n-10] {
		x.Delete("ns", p.Value())
	}
	if got := alive(); got > 200 {
		t.Errorf("%d policies are in memory, of which 10 live", got)
	}
	if got := len(x.namespace("ns").terms.all); got > 200 {
		t.Errorf("%d labels are in memory, of which 11 are asked for", got)
	}
	for _, p := range all[n-10:] {
		x.Delete("ns", p.Value())
	}
	if got := alive(); got != 0 {
		t.Errorf("%d policies are in memory, of which none lives", got)
	}
	for namespace := range x.namespaces.Range {
		t.Errorf("the namespace %v is in memory", namespace)
	}
}

func TestBuffersKeepNothing(t *testing.T) {
	t.Parallel()
	var x Index[int]
	for i := range 100 {
		put(t, &x, Entry[int]{ID: i, Namespace: "ns", Selector: selectorOf(map[string]string{"app": "a"})})
	}
	var s search[int]
	if got := s.run(x.namespace("ns"), Proxy{Instance: map[string]string{"app": "a"}}); len(got) != 100 {
		t.Fatalf("%d policies, want 100", len(got))
	}
	s.reset()
	isSet := func(h hit[int]) bool { return h.policy != nil }
	if slices.ContainsFunc(s.found[:cap(s.found)], isSet) || slices.ContainsFunc(s.ordered[:cap(s.ordered)], isSet) {
		t.Error("the buffers keep policies")
	}
	if slices.ContainsFunc(s.terms[:cap(s.terms)], func(t *term[int]) bool { return t != nil }) {
		t.Error("the buffers keep terms")
	}
	if slices.Max(s.bits) != 0 {
		t.Error("the buffers keep bits")
	}
}

// Terms are numbered by use. Otherwise a search would visit every selector with the common label.
func TestRarestFirst(t *testing.T) {
	t.Parallel()
	var x Index[int]
	for i := range 1000 {
		put(t, &x, Entry[int]{ID: i, Namespace: "ns",
			Selector: selectorOf(map[string]string{fmt.Sprint("key-", i): "", "common": ""})})
	}
	terms := &x.namespace("ns").terms
	if c := terms.find(label{"common", ""}).first.content.Load(); c != nil && len(c.tails)+len(c.nodes) > 100 {
		t.Errorf("%d paths begin with the common label", len(c.tails)+len(c.nodes))
	}
}

// If the numbers are outdated, a node can have many children. The search looks up only the children for labels of the proxy.
func TestManyPathsFromOneTerm(t *testing.T) {
	t.Parallel()
	var x Index[int]
	all := make(map[string]string)
	for i := range 2 * maxTails {
		all[fmt.Sprint("key-", i)] = ""
	}
	put(t, &x, Entry[int]{ID: -1, Namespace: "ns", CreatedAt: at(-1), Selector: selectorOf(all)})
	for i := range maxTails + 10 {
		put(t, &x, Entry[int]{ID: i, Namespace: "ns", CreatedAt: at(i),
			Selector: selectorOf(map[string]string{fmt.Sprint("key-", i): "", "late": ""})})
	}
	if c := x.namespace("ns").terms.find(label{"late", ""}).first.content.Load(); len(c.nodes) != maxTails+10 {
		t.Fatalf("%d paths go on from the late label, want %d", len(c.nodes), maxTails+10)
	}
	proxy := Proxy{Namespace: "ns", Instance: map[string]string{"late": "", "key-5": "", "key-41": ""}}
	if got := x.Select(proxy, nil); !slices.Equal(got, []int{5, 41}) {
		t.Errorf("Select = %v, want [5 41]", got)
	}
}

func TestGrow(t *testing.T) {
	t.Parallel()
	var x Index[int]
	const n = 1000
	x.Grow("ns", n)
	reserved := x.namespace("ns")
	if got := x.Select(Proxy{Namespace: "ns"}, nil); len(got) != 0 {
		t.Errorf("Select = %v", got)
	}
	for i := range n {
		put(t, &x, Entry[int]{ID: i, Namespace: "ns", CreatedAt: at(i)})
	}
	if x.namespace("ns") != reserved {
		t.Error("the namespace was rebuilt")
	}
	x.Grow("ns", n)
	if got := x.Select(Proxy{Namespace: "ns"}, nil); len(got) != n {
		t.Errorf("%d policies, want %d", len(got), n)
	}
}
