// Package v1beta1 defines the workload selector: a schema type that states which workloads a policy applies to. The
// message in selector.proto is compatible with Istio's message of the same name, in protobuf and in JSON, but is
// validated more strictly.
//
//   - Validate, FromJSON and FromBinary validate a selector and return all violations.
//   - Compile returns a Matcher, which reports whether the labels of one workload match.
//   - Index finds the policies that apply to a Proxy.
package v1beta1

import (
	"maps"
	"slices"
	"strings"
)

// Verdicts of Explain.
const (
	OK        = "ok"        // the workload has the label
	Missing   = "missing"   // the workload does not have the key
	Different = "different" // the workload has another value for the key
)

type label struct{ key, value string }

// Matcher is a compiled selector. It is immutable and safe for concurrent use. The zero Matcher matches nothing.
type Matcher struct {
	labels []label // sorted by key
}

// Condition is the result of Explain for one label of a selector.
type Condition struct {
	Key     string
	Verdict string // OK, Missing or Different
}

// Compile returns the Matcher for a selector. Later changes to the selector do not affect the Matcher. Compile fails
// with the error of Validate if the selector is invalid. A selector without labels is invalid, so that it cannot
// match every workload by accident.
func Compile(selector *WorkloadSelector) (Matcher, error) {
	if err := Validate(selector); err != nil {
		return Matcher{}, err
	}
	labels := make([]label, 0, len(selector.MatchLabels))
	for key, value := range selector.MatchLabels {
		labels = append(labels, label{key, value})
	}
	slices.SortFunc(labels, func(a, b label) int { return strings.Compare(a.key, b.key) })
	return Matcher{labels}, nil
}

// Matches reports whether labels contains every label of the selector, with exactly the same value. It does not
// allocate memory.
func (m Matcher) Matches(labels map[string]string) bool {
	for i := range m.labels {
		want := &m.labels[i]
		if value, ok := labels[want.key]; !ok || value != want.value {
			return false
		}
	}
	return len(m.labels) > 0
}

// Explain compares each label of the selector with labels, the labels of a workload. The result is sorted by key. The
// workload matches if every Verdict is OK.
func (m Matcher) Explain(labels map[string]string) []Condition {
	conditions := make([]Condition, len(m.labels))
	for i, want := range m.labels {
		value, ok := labels[want.key]
		verdict := OK
		if !ok {
			verdict = Missing
		} else if value != want.value {
			verdict = Different
		}
		conditions[i] = Condition{want.key, verdict}
	}
	return conditions
}

// Proxy describes a proxy for which policies are selected.
type Proxy struct {
	Namespace string            // the configuration namespace of the proxy
	Metadata  map[string]string // labels in the metadata of the proxy, set by the proxy
	Handshake map[string]string // labels in the initial handshake, set by the proxy
	Instance  map[string]string // labels of the pod or virtual machine, from the registry
}

// EffectiveLabels returns a new map with the labels that selectors are compared with. If several sources have the
// same key, Instance takes precedence over Handshake, and Handshake over Metadata.
func (p Proxy) EffectiveLabels() map[string]string {
	return maps.Collect(p.each)
}

// each yields the effective labels. It does not allocate a map.
func (p Proxy) each(yield func(key, value string) bool) {
	for key, value := range p.Instance {
		if !yield(key, value) {
			return
		}
	}
	for key, value := range p.Handshake {
		if _, known := p.Instance[key]; !known && !yield(key, value) {
			return
		}
	}
	for key, value := range p.Metadata {
		_, known := p.Instance[key]
		if !known {
			_, known = p.Handshake[key]
		}
		if !known && !yield(key, value) {
			return
		}
	}
}
