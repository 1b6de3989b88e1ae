package v1beta1_test

import (
	"errors"
	"fmt"
	"time"

	"example.com/ginseng/kit/selector/v1beta1"
)

func ExampleCompile() {
	matcher, err := v1beta1.Compile(&v1beta1.WorkloadSelector{
		MatchLabels: map[string]string{"app": "cart", "version": "v1"},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(matcher.Matches(map[string]string{"app": "cart", "version": "v1", "team": "shop"}))
	fmt.Println(matcher.Matches(map[string]string{"app": "cart"}))
	fmt.Println(matcher.Matches(map[string]string{"app": "cart", "version": "V1"}))
	// Output:
	// true
	// false
	// false
}

func ExampleMatcher_Explain() {
	matcher, err := v1beta1.Compile(&v1beta1.WorkloadSelector{
		MatchLabels: map[string]string{"app": "cart", "version": "v1", "team": "shop"},
	})
	if err != nil {
		panic(err)
	}
	for _, condition := range matcher.Explain(map[string]string{"app": "cart", "version": "v2"}) {
		fmt.Println(condition.Key, condition.Verdict)
	}
	// Output:
	// app ok
	// team missing
	// version different
}

func ExampleFromJSON() {
	selector, err := v1beta1.FromJSON([]byte(`{"matchLabels": {"app": "cart"}}`))
	fmt.Println(selector.GetMatchLabels(), err)

	_, err = v1beta1.FromJSON([]byte(`{"matchLabels": {"a b": "x", "app": "*", "zone": null}}`))
	var invalid *v1beta1.InvalidError
	if errors.As(err, &invalid) {
		for _, violation := range invalid.Violations {
			fmt.Println(violation.Path, violation.Code)
		}
	}
	// Output:
	// map[app:cart] <nil>
	// matchLabels["a b"] format
	// matchLabels["app"] wildcard
	// matchLabels["zone"] format
}

func ExampleInvalidError_Under() {
	var invalid *v1beta1.InvalidError
	if errors.As(v1beta1.Validate(nil), &invalid) {
		fmt.Println(invalid.Under("selector")[0].Path)
	}
	// Output:
	// selector.matchLabels
}

func ExampleProxy_EffectiveLabels() {
	proxy := v1beta1.Proxy{
		Namespace: "shop",
		Metadata:  map[string]string{"app": "admin", "version": "v1"}, // sent by the proxy
		Instance:  map[string]string{"app": "cart"},                   // from the registry
	}
	fmt.Println(proxy.EffectiveLabels())
	// Output:
	// map[app:cart version:v1]
}

func ExampleIndex() {
	var index v1beta1.Index[string]
	monday := time.Date(2026, time.November, 16, 9, 0, 0, 0, time.UTC)
	for _, entry := range []v1beta1.Entry[string]{
		{ID: "everyone", Namespace: "shop", Name: "mtls", CreatedAt: monday.Add(time.Hour)}, // no selector
		{ID: "carts", Namespace: "shop", Name: "rate-limit", CreatedAt: monday, Selector: &v1beta1.WorkloadSelector{
			MatchLabels: map[string]string{"app": "cart"},
		}},
		{ID: "elsewhere", Namespace: "bank", Name: "mtls", CreatedAt: monday},
	} {
		if err := index.Put(entry); err != nil {
			panic(err)
		}
	}
	var ids []string // reused for the next proxy
	ids = index.Select(v1beta1.Proxy{Namespace: "shop", Instance: map[string]string{"app": "cart"}}, ids[:0])
	fmt.Println(ids)
	ids = index.Select(v1beta1.Proxy{Namespace: "shop", Instance: map[string]string{"app": "web"}}, ids[:0])
	fmt.Println(ids)

	index.Delete("shop", "everyone")
	ids = index.Select(v1beta1.Proxy{Namespace: "shop", Instance: map[string]string{"app": "cart"}}, ids[:0])
	fmt.Println(ids)
	// Output:
	// [carts everyone]
	// [everyone]
	// [carts]
}
