package kubecheck

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"example.com/ginseng/kit/selector/v1beta1"
)

// TestMatching compares Matcher and EffectiveLabels with Istio and with Kubernetes, for random selectors and proxies. The tests of
// the selector compare the Index with a scan by Matchers.
func TestMatching(t *testing.T) {
	t.Parallel()
	matches := 0
	for seed := range uint64(100_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		keys, values := 1+r.IntN(8), 1+r.IntN(3)
		some := func(most int) map[string]string {
			set := make(map[string]string)
			for range r.IntN(most + 1) {
				set[fmt.Sprint("key-", r.IntN(keys))] = []string{"", "a", "A"}[r.IntN(values)]
			}
			return set
		}
		proxy := v1beta1.Proxy{Metadata: some(keys), Handshake: some(keys), Instance: some(2 * keys)}
		effective := maps.Clone(proxy.Metadata)
		maps.Copy(effective, proxy.Handshake)
		maps.Copy(effective, proxy.Instance)
		selector := some(3)
		selector[fmt.Sprint("key-", r.IntN(keys))] = ""
		matcher, err := v1beta1.Compile(&v1beta1.WorkloadSelector{MatchLabels: selector})
		if err != nil {
			t.Fatal(err)
		}
		want := subsetOf(selector, effective)
		kubernetes, ours := labels.SelectorFromSet(selector).Matches(labels.Set(effective)), matcher.Matches(proxy.EffectiveLabels())
		if kubernetes != want || ours != want {
			t.Fatalf("%v on %v: Matches %v, Kubernetes %v, SubsetOf %v", selector, proxy, ours, kubernetes, want)
		}
		if want {
			matches++
		}
	}
	if matches < 1000 {
		t.Errorf("only %d selectors match", matches)
	}
}
