package v1beta1

import (
	"fmt"
	"testing"
)

// scripts/checks/kubecheck compares these benchmarks with other implementations.

// cart returns a proxy with ten labels, and a selector with three of these labels.
func cart() (*WorkloadSelector, Proxy) {
	selector := selectorOf(map[string]string{"app.kubernetes.io/name": "cart-17", "tier": "backend", "env": "prod"})
	return selector, Proxy{Namespace: "shop", Instance: map[string]string{
		"app.kubernetes.io/name": "cart-17", "tier": "backend", "env": "prod", "team": "shop", "region": "eu-1",
		"zone": "a", "pod-template-hash": "5d9c7b6f", "version": "v12", "track": "stable", "arch": "amd64",
	}}
}

// carts puts n policies. The selector of each policy has three labels, one of which is rare.
func carts(b *testing.B, x *Index[int], n int) {
	for i := range n {
		put(b, x, Entry[int]{ID: i, Namespace: "shop", CreatedAt: at(i), Selector: selectorOf(map[string]string{
			"app.kubernetes.io/name": fmt.Sprint("cart-", i%(n/5)), "tier": []string{"backend", "web"}[i%2], "env": "prod",
		})})
	}
}

func BenchmarkMatches(b *testing.B) {
	selector, proxy := cart()
	matcher, err := Compile(selector)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		matcher.Matches(proxy.Instance)
	}
}

func BenchmarkValidate(b *testing.B) {
	selector, _ := cart()
	b.ReportAllocs()
	for b.Loop() {
		_ = Validate(selector)
	}
}

func BenchmarkFromJSON(b *testing.B) {
	data := []byte(`{"matchLabels":{"app.kubernetes.io/name":"cart-17","tier":"backend","env":"prod"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := FromJSON(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFromBinary(b *testing.B) {
	data := entry(entry(entry(nil, "app.kubernetes.io/name", "cart-17"), "tier", "backend"), "env", "prod")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := FromBinary(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var x Index[int]
			carts(b, &x, n)
			_, proxy := cart()
			ids := x.Select(proxy, nil)
			b.ReportAllocs()
			for b.Loop() {
				ids = x.Select(proxy, ids[:0])
			}
		})
	}
}

// The result includes the amortized cost of rebuilding the trie.
func BenchmarkPutAndDelete(b *testing.B) {
	var x Index[int]
	const n = 10_000
	carts(b, &x, n)
	selector, proxy := cart()
	b.ReportAllocs()
	for id := n; b.Loop(); id++ {
		put(b, &x, Entry[int]{ID: id, Namespace: proxy.Namespace, CreatedAt: at(id), Selector: selector})
		x.Delete(proxy.Namespace, id-n)
	}
}
