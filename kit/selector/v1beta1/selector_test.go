package v1beta1

import (
	"maps"
	"slices"
	"testing"
)

func TestMatches(t *testing.T) {
	t.Parallel()
	type labels = map[string]string
	tests := []struct {
		name     string
		selector labels
		workload labels
		want     bool
	}{
		{"its label among others", labels{"app": "a"}, labels{"app": "a", "prod": "env"}, true},
		{"one label of two", labels{"app": "a", "prod": "env"}, labels{"app": "a"}, false},
		{"both labels", labels{"app": "a", "prod": "env"}, labels{"app": "a", "prod": "env"}, true},
		{"both keys, one value", labels{"app": "a", "prod": "env"}, labels{"app": "a", "prod": "test"}, false},
		{"a missing key is not an empty value", labels{"foo": ""}, labels{"app": "a"}, false},
		{"an empty value", labels{"foo": ""}, labels{"foo": ""}, true},
		{"an empty value and another", labels{"foo": ""}, labels{"foo": "x"}, false},
		{"case of the key", labels{"app": "a"}, labels{"App": "a"}, false},
		{"case of the value", labels{"app": "a"}, labels{"app": "A"}, false},
		{"no numbers", labels{"app": "1"}, labels{"app": "01"}, false},
		{"no trimming", labels{"app": "a"}, labels{"app": "a "}, false},
		{"no prefixes of values", labels{"app": "a"}, labels{"app": "ab"}, false},
		{"the prefix is part of the key", labels{"example.com/app": "a"}, labels{"app": "a"}, false},
		{"no labels", labels{"app": "a"}, labels{}, false},
		{"nil labels", labels{"app": "a"}, nil, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			matcher, err := Compile(&WorkloadSelector{MatchLabels: test.selector})
			if err != nil {
				t.Fatal(err)
			}
			if got := matcher.Matches(test.workload); got != test.want {
				t.Errorf("Matches(%v) of %v = %v, want %v", test.workload, test.selector, got, test.want)
			}
			allOK := !slices.ContainsFunc(matcher.Explain(test.workload), func(c Condition) bool { return c.Verdict != OK })
			if allOK != test.want {
				t.Errorf("Explain(%v) of %v = %v, want all ok: %v",
					test.workload, test.selector, matcher.Explain(test.workload), test.want)
			}
		})
	}
}

func TestMatcherOfNoSelector(t *testing.T) {
	t.Parallel()
	for _, selector := range []*WorkloadSelector{nil, {}, {MatchLabels: map[string]string{}}} {
		matcher, err := Compile(selector)
		if err == nil {
			t.Errorf("Compile(%v) is no error", selector)
		}
		for _, labels := range []map[string]string{nil, {}, {"app": "a"}} {
			if matcher.Matches(labels) {
				t.Errorf("the Matcher of %v matches %v", selector, labels)
			}
		}
	}
}

func TestMatcherKeepsNoMap(t *testing.T) {
	t.Parallel()
	selector := &WorkloadSelector{MatchLabels: map[string]string{"app": "a"}}
	matcher, err := Compile(selector)
	if err != nil {
		t.Fatal(err)
	}
	selector.MatchLabels["app"] = "b"
	if !matcher.Matches(map[string]string{"app": "a"}) {
		t.Error("the Matcher changed with the selector it was made of")
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	matcher, err := Compile(&WorkloadSelector{MatchLabels: map[string]string{"d": "", "b": "1", "a": "1", "c": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	got := matcher.Explain(map[string]string{"a": "1", "c": "2", "e": "1"})
	want := []Condition{{"a", OK}, {"b", Missing}, {"c", Different}, {"d", Missing}}
	if !slices.Equal(got, want) {
		t.Errorf("Explain = %v, want %v", got, want)
	}
}

func TestEffectiveLabels(t *testing.T) {
	t.Parallel()
	proxy := Proxy{
		Metadata:  map[string]string{"all": "metadata", "mh": "metadata", "mi": "metadata", "m": "metadata"},
		Handshake: map[string]string{"all": "handshake", "mh": "handshake", "hi": "handshake", "h": "handshake"},
		Instance:  map[string]string{"all": "instance", "mi": "instance", "hi": "instance", "i": ""},
	}
	got := proxy.EffectiveLabels()
	want := map[string]string{
		"all": "instance", "mh": "handshake", "mi": "instance", "hi": "instance",
		"m": "metadata", "h": "handshake", "i": "",
	}
	if !maps.Equal(got, want) {
		t.Errorf("EffectiveLabels = %v, want %v", got, want)
	}
	got["i"] = "changed"
	if proxy.Instance["i"] != "" {
		t.Error("EffectiveLabels shares a map with the proxy")
	}
	if got := (Proxy{}).EffectiveLabels(); got == nil || len(got) != 0 {
		t.Errorf("EffectiveLabels of no labels = %v, want an empty map", got)
	}
}

func TestEffectiveLabelsMayBeLeftEarly(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"a": "", "b": ""}
	for _, proxy := range []Proxy{{Metadata: labels}, {Handshake: labels}, {Instance: labels}} {
		count := 0
		for range proxy.each {
			count++
			break
		}
		if count != 1 {
			t.Errorf("%v: %d labels, want 1", proxy, count)
		}
	}
}
