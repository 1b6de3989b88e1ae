package kubecheck

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"example.com/ginseng/kit/selector/v1beta1"
)

// subsetOf matches labels as Istio does: labels.Instance.SubsetOf.
func subsetOf(selector, workload map[string]string) bool {
	for key, want := range selector {
		if value, ok := workload[key]; !ok || value != want {
			return false
		}
	}
	return true
}

// dataSet is a workload with the selectors of one namespace.
type dataSet struct {
	name      string
	workload  map[string]string
	selectors []map[string]string
}

// ten returns a typical workload with ten labels.
func ten() map[string]string {
	return map[string]string{
		"app.kubernetes.io/name": "app-17", "tier": "t1", "env": "prod", "team": "team-3", "region": "eu-1", "zone": "a",
		"pod-template-hash": "5d9c7b6f", "version": "v12", "track": "stable", "arch": "amd64",
	}
}

// dataSets returns the five data sets, with n selectors each.
func dataSets(n int) []dataSet {
	r := rand.New(rand.NewPCG(uint64(n), 4))
	selectors := func(next func() map[string]string) (all []map[string]string) {
		for range n {
			all = append(all, next())
		}
		return all
	}
	numbered := func(keys, values int) map[string]string {
		set := make(map[string]string)
		for i := range keys {
			set[fmt.Sprint("key-", i)] = fmt.Sprint("v", i%values)
		}
		return set
	}
	pick := func(set map[string]string, count, keys int, value func() int) map[string]string {
		for len(set) < count {
			set[fmt.Sprint("key-", r.IntN(keys))] = fmt.Sprint("v", value())
		}
		return set
	}
	const many = 60
	return []dataSet{
		// Three labels: one is shared by five selectors, the others are in all.
		{"few rare", ten(), selectors(func() map[string]string {
			return map[string]string{
				"app.kubernetes.io/name": fmt.Sprint("app-", r.IntN(n/5)),
				"tier":                   fmt.Sprint("t", r.IntN(3)),
				"env":                    []string{"prod", "test", "dev"}[r.IntN(3)],
			}
		})},
		// One to four labels out of a thousand, some frequent, most rare.
		{"middling", numbered(10, 4), selectors(func() map[string]string {
			set := make(map[string]string)
			for range 1 + r.IntN(4) {
				often, seldom := r.Float64(), r.Float64()*r.Float64()
				set[fmt.Sprint("key-", int(often*often*50))] = fmt.Sprint("v", int(seldom*20))
			}
			return set
		})},
		// Three labels out of forty.
		{"tiny vocabulary", numbered(10, 1), selectors(func() map[string]string {
			return pick(map[string]string{}, 3, 10, func() int { return r.IntN(4) })
		})},
		// Five of the sixty labels of the workload, and a missing one, which all three implementations check last.
		{"hostile: near misses", numbered(many, 1), selectors(func() map[string]string {
			return pick(map[string]string{"missing": "x"}, 6, many, func() int { return 0 })
		})},
		// Five of the sixty labels of the workload: the result is all policies in order.
		{"hostile: all match", numbered(many, 1), selectors(func() map[string]string {
			return pick(map[string]string{}, 5, many, func() int { return 0 })
		})},
	}
}

func entry(id int, selector map[string]string) v1beta1.Entry[string] {
	return v1beta1.Entry[string]{
		ID: fmt.Sprintf("%024x", id), Namespace: "ns", Name: fmt.Sprint("policy-", id), CreatedAt: time.UnixMilli(int64(id)),
		Selector: &v1beta1.WorkloadSelector{MatchLabels: selector},
	}
}

// entries returns count policies, which repeat those of a data set. Their IDs start at id.
func entries(set dataSet, id, count int) []v1beta1.Entry[string] {
	all := make([]v1beta1.Entry[string], count)
	for i := range all {
		all[i] = entry(id+i, set.selectors[(id+i)%len(set.selectors)])
	}
	return all
}

func putAll(b *testing.B, x *v1beta1.Index[string], entries []v1beta1.Entry[string]) {
	b.Helper()
	for i := range entries {
		if err := x.Put(entries[i]); err != nil {
			b.Fatal(err)
		}
	}
}

// Columns of the table.
const (
	ours = iota
	istio
	kubernetes
	columns
)

// table collects nanoseconds by row and column.
type table struct {
	rows  []string
	cells map[string]*[columns]float64
}

// measure runs a benchmark and records its time in the table.
func (t *table) measure(b *testing.B, row string, column int, f func(b *testing.B)) {
	b.Run(row+"/"+[columns]string{"ours", "istio", "kubernetes"}[column], func(b *testing.B) {
		b.ReportAllocs()
		f(b)
		t.set(row, column, float64(b.Elapsed().Nanoseconds())/float64(b.N))
	})
}

func (t *table) set(row string, column int, nanoseconds float64) {
	if t.cells[row] == nil {
		t.rows = append(t.rows, row)
		t.cells[row] = new([columns]float64)
	}
	t.cells[row][column] = nanoseconds
}

// print writes the table with speedups.
func (t *table) print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\t ours\tIstio-like\t×\tKubernetes\t×\t")
	for _, row := range t.rows {
		cells := t.cells[row]
		fmt.Fprintf(w, "%s\t %s\t", row, nanoseconds(cells[ours]))
		for _, other := range cells[istio:] {
			times := ""
			if other > 0 && cells[ours] > 0 {
				times = fmt.Sprintf("%.1f", other/cells[ours])
			}
			fmt.Fprintf(w, "%s\t%s\t", nanoseconds(other), times)
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		panic(err)
	}
}

func nanoseconds(n float64) string {
	switch {
	case n == 0:
		return ""
	case n < 1e3:
		return fmt.Sprintf("%.1f ns", n)
	case n < 1e6:
		return fmt.Sprintf("%.2f µs", n/1e3)
	}
	return fmt.Sprintf("%.2f ms", n/1e6)
}

// BenchmarkTable compares each operation with Istio's implementation and with Kubernetes' selectors, and prints a table. A
// scan visits the policies in order and appends to a reused result, as Select does.
func BenchmarkTable(b *testing.B) {
	t := &table{cells: make(map[string]*[columns]float64)}
	t.match(b)
	for _, n := range []int{10_000, 100_000} {
		for _, set := range dataSets(n) {
			t.choose(b, fmt.Sprintf("select of %d, %s", n, set.name), set)
		}
	}
	t.write(b, dataSets(10_000)[0])
	t.validate(b)
	t.print()
}

func (t *table) match(b *testing.B) {
	const row = "match, 3 labels on 10"
	workload := ten()
	selector := map[string]string{"app.kubernetes.io/name": "app-17", "tier": "t1", "env": "prod"}
	matcher, err := v1beta1.Compile(&v1beta1.WorkloadSelector{MatchLabels: selector})
	if err != nil {
		b.Fatal(err)
	}
	kube := labels.SelectorFromSet(selector)
	set := labels.Set(workload)
	must := func(b *testing.B, matches bool) {
		if !matches {
			b.Fatal("no match")
		}
	}
	t.measure(b, row, ours, func(b *testing.B) {
		for b.Loop() {
			must(b, matcher.Matches(workload))
		}
	})
	t.measure(b, row, istio, func(b *testing.B) {
		for b.Loop() {
			must(b, subsetOf(selector, workload))
		}
	})
	t.measure(b, row, kubernetes, func(b *testing.B) {
		for b.Loop() {
			must(b, kube.Matches(set))
		}
	})
}

// choose measures the choice of the policies that apply to the workload, in order.
func (t *table) choose(b *testing.B, row string, set dataSet) {
	policies := entries(set, 0, len(set.selectors))
	kube := make([]labels.Selector, len(policies))
	for i, p := range policies {
		kube[i] = labels.SelectorFromSet(p.Selector.MatchLabels)
	}
	counts := make(map[int]bool)
	report := func(b *testing.B, ids []string) {
		b.ReportMetric(float64(len(ids)), "found")
		counts[len(ids)] = true
	}
	t.measure(b, row, ours, func(b *testing.B) {
		var x v1beta1.Index[string]
		putAll(b, &x, policies)
		proxy := v1beta1.Proxy{Namespace: "ns", Instance: set.workload}
		ids := x.Select(proxy, nil)
		for b.Loop() {
			ids = x.Select(proxy, ids[:0])
		}
		report(b, ids)
	})
	t.measure(b, row, istio, func(b *testing.B) {
		var ids []string
		for b.Loop() {
			ids = ids[:0]
			for i := range policies {
				if subsetOf(policies[i].Selector.MatchLabels, set.workload) {
					ids = append(ids, policies[i].ID)
				}
			}
		}
		report(b, ids)
	})
	t.measure(b, row, kubernetes, func(b *testing.B) {
		var ids []string
		workload := labels.Set(set.workload)
		for b.Loop() {
			ids = ids[:0]
			for i := range policies {
				if kube[i].Matches(workload) {
					ids = append(ids, policies[i].ID)
				}
			}
		}
		report(b, ids)
	})
	if len(counts) > 1 {
		b.Fatalf("%s: they find different numbers of policies: %v", row, counts)
	}
}

// write measures changes, including the amortized rebuilding of the trie.
func (t *table) write(b *testing.B, set dataSet) {
	n := len(set.selectors)
	const build = "build, for each of 10000"
	policies := entries(set, 0, n)
	t.measure(b, build, ours, func(b *testing.B) {
		var x *v1beta1.Index[string]
		for i := range b.N {
			if i%n == 0 {
				x = new(v1beta1.Index[string])
			}
			if err := x.Put(policies[i%n]); err != nil {
				b.Fatal(err)
			}
		}
	})
	t.measure(b, build, kubernetes, func(b *testing.B) {
		for i := range b.N {
			if _, err := labels.ValidatedSelectorFromSet(policies[i%n].Selector.MatchLabels); err != nil {
				b.Fatal(err)
			}
		}
	})
	t.measure(b, "insert into 10000", ours, func(b *testing.B) {
		var x v1beta1.Index[string]
		putAll(b, &x, policies)
		more := entries(set, n, b.N)
		b.ResetTimer()
		putAll(b, &x, more)
	})
	t.measure(b, "change one of 10000", ours, func(b *testing.B) {
		var x v1beta1.Index[string]
		putAll(b, &x, policies)
		b.ResetTimer()
		for i := range b.N {
			changed := policies[i%n]
			changed.Selector = policies[(i+1)%n].Selector
			if err := x.Put(changed); err != nil {
				b.Fatal(err)
			}
		}
	})
	t.measure(b, "delete", ours, func(b *testing.B) {
		var x v1beta1.Index[string]
		all := entries(set, 0, b.N)
		putAll(b, &x, all)
		b.ResetTimer()
		for i := range all {
			x.Delete(all[i].Namespace, all[i].ID)
		}
	})
	t.measure(b, "select of 10000, beside a busy writer", ours, func(b *testing.B) {
		var x v1beta1.Index[string]
		putAll(b, &x, policies)
		proxy := v1beta1.Proxy{Namespace: "ns", Instance: set.workload}
		stop, stopped := make(chan bool), make(chan bool)
		go func() {
			defer close(stopped)
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					_ = x.Put(policies[i%n]) // the error was checked above
				}
			}
		}()
		var ids []string
		for b.Loop() {
			ids = x.Select(proxy, ids[:0])
		}
		close(stop)
		<-stopped
	})
	b.Run("longest of 100000 insertions", func(b *testing.B) {
		all := entries(set, 0, 100_000)
		var longest time.Duration
		for b.Loop() {
			var x v1beta1.Index[string]
			for i := range all {
				start := time.Now()
				putAll(b, &x, all[i:i+1])
				longest = max(longest, time.Since(start))
			}
		}
		t.set("longest of 100000 insertions", ours, float64(longest.Nanoseconds()))
	})
}

func (t *table) validate(b *testing.B) {
	const row = "validate 3 labels"
	selector := &v1beta1.WorkloadSelector{
		MatchLabels: map[string]string{"app.kubernetes.io/name": "app-17", "tier": "t1", "env": "prod"},
	}
	t.measure(b, row, ours, func(b *testing.B) {
		for b.Loop() {
			if err := v1beta1.Validate(selector); err != nil {
				b.Fatal(err)
			}
		}
	})
	t.measure(b, row, kubernetes, func(b *testing.B) {
		for b.Loop() {
			for key, value := range selector.MatchLabels {
				if cmp.Or(len(validation.IsQualifiedName(key)), len(validation.IsValidLabelValue(value))) > 0 {
					b.Fatal("not valid")
				}
			}
		}
	})
}
