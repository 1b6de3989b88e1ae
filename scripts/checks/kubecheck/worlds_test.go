package kubecheck

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"example.com/ginseng/kit/selector/v1beta1"
)

// The number of random worlds, of which one in 250 is large.
const worlds, large = 25_000, 250

// policy is an entry of the Index with its Kubernetes selector and our Matcher.
type policy struct {
	v1beta1.Entry[int]
	kubernetes labels.Selector
	matcher    v1beta1.Matcher
}

// world is a random sequence of writes, and what must be selected for some proxies before and after each of them.
type world struct {
	writes  []write
	proxies []v1beta1.Proxy
	want    [][][]int // for each proxy, for each number of writes done, the IDs
}

// write puts a policy, or deletes the one with its namespace and ID.
type write struct {
	policy
	delete bool
}

func newWorld(t *testing.T, r *rand.Rand, writes int) world {
	t.Helper()
	keys, values, namespaces := 1+r.IntN(8), 1+r.IntN(3), 1+r.IntN(2)
	some := func(most int) map[string]string {
		set := make(map[string]string)
		for range r.IntN(most + 1) {
			set[fmt.Sprint("key-", r.IntN(keys))] = []string{"", "a", "A"}[r.IntN(values)]
		}
		return set
	}
	var w world
	for range 3 {
		w.proxies = append(w.proxies, v1beta1.Proxy{
			Namespace: fmt.Sprint("ns-", r.IntN(namespaces)),
			Metadata:  some(keys),
			Handshake: some(keys),
			Instance:  some(2 * keys),
		})
	}
	ids := 1 + writes/2
	var now []policy
	w.expect(t, now)
	for range writes {
		next := write{delete: r.IntN(4) == 0}
		next.ID, next.Namespace = r.IntN(ids), fmt.Sprint("ns-", r.IntN(namespaces))
		next.Name, next.CreatedAt = fmt.Sprint("policy-", next.ID), time.UnixMilli(int64(r.IntN(writes)))
		next.kubernetes = labels.Everything()
		if set := some(4); len(set) > 0 {
			next.Selector = &v1beta1.WorkloadSelector{MatchLabels: set}
			next.kubernetes = labels.SelectorFromSet(set)
			var err error
			if next.matcher, err = v1beta1.Compile(next.Selector); err != nil {
				t.Fatal(err)
			}
		}
		w.writes = append(w.writes, next)
		now = slices.DeleteFunc(slices.Clone(now), func(p policy) bool {
			return p.Namespace == next.Namespace && p.ID == next.ID
		})
		if !next.delete {
			now = append(now, next.policy)
		}
		w.expect(t, now)
	}
	return w
}

// expect adds what must be selected from the policies: by a plain scan, by Kubernetes' selectors and by our Matcher.
func (w *world) expect(t *testing.T, policies []policy) {
	t.Helper()
	policies = slices.SortedFunc(slices.Values(policies), func(a, b policy) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.Name, b.Name))
	})
	w.want = slices.Grow(w.want, len(w.proxies))[:len(w.proxies)]
	for i, proxy := range w.proxies {
		effective := maps.Clone(proxy.Metadata)
		maps.Copy(effective, proxy.Handshake)
		maps.Copy(effective, proxy.Instance)
		var ids []int
		for _, p := range policies {
			if p.Namespace != proxy.Namespace {
				continue
			}
			applies := subsetOf(p.Selector.GetMatchLabels(), effective)
			if got := p.kubernetes.Matches(labels.Set(effective)); got != applies {
				t.Fatalf("%v on %v: Kubernetes says %v, SubsetOf %v", p.kubernetes, effective, got, applies)
			}
			if got := p.Selector == nil || p.matcher.Matches(effective); got != applies {
				t.Fatalf("%v on %v: Matches %v, want %v", p.kubernetes, effective, got, applies)
			}
			if applies {
				ids = append(ids, p.ID)
			}
		}
		w.want[i] = append(w.want[i], ids)
	}
}

// check writes while readers select. Each reader must see a consistent state of the Index.
func (w *world) check(t *testing.T) {
	t.Helper()
	var x v1beta1.Index[int]
	var done atomic.Int64 // writes
	var readers sync.WaitGroup
	for reader := range 2 {
		readers.Go(func() {
			var got []int
			for i := reader; ; i++ {
				proxy := i % len(w.proxies)
				before := done.Load()
				got = x.Select(w.proxies[proxy], got[:0])
				after := min(done.Load()+1, int64(len(w.writes))) // one more may be in progress
				seen := func(ids []int) bool { return slices.Equal(ids, got) }
				if states := w.want[proxy][before : after+1]; !slices.ContainsFunc(states, seen) {
					t.Errorf("a reader of %v sees %v, want one of %v", w.proxies[proxy], got, states)
					return
				}
				if before == int64(len(w.writes)) {
					return
				}
			}
		})
	}
	var got []int
	for i, next := range w.writes {
		if next.delete {
			x.Delete(next.Namespace, next.ID)
		} else if err := x.Put(next.Entry); err != nil {
			t.Error(err)
		}
		done.Add(1)
		for j, proxy := range w.proxies {
			got = x.Select(proxy, got[:0])
			if want := w.want[j][i+1]; !slices.Equal(got, want) {
				t.Errorf("after %d writes, %v: Select = %v, want %v", i+1, proxy, got, want)
			}
		}
	}
	readers.Wait()
}

func TestWorlds(t *testing.T) {
	t.Parallel()
	shards := runtime.GOMAXPROCS(0)
	for shard := range shards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			for seed := shard; seed < worlds && !t.Failed(); seed += shards {
				r := rand.New(rand.NewPCG(uint64(seed), 2))
				writes := 1 + r.IntN(20)
				if seed%large == 0 {
					writes = 400
				}
				w := newWorld(t, r, writes)
				w.check(t)
				if t.Failed() {
					t.Logf("in the world %d", seed)
				}
			}
		})
	}
}
