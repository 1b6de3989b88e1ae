// Package v1beta1 is the workload selector: a schema type that states which workloads a policy applies to, with its
// semantics. The message is in selector.proto; it reads and writes what Istio's message of the same name does, in
// protobuf and in JSON, but is strict about what it takes.
//
//   - Validate, FromJSON and FromBinary say whether a selector is good, and if not, everything that is wrong.
//   - Compile makes a Matcher, which tells whether the labels of one workload match.
//   - Index finds, among many policies, those that apply to a Proxy.
package v1beta1

import (
	"maps"
	"slices"
	"strings"
)

// What Explain says of a label.
const (
	OK        = "ok"        // the workload bears it
	Missing   = "missing"   // the workload lacks the key
	Different = "different" // the workload has another value for the key
)

// label is a key with its value.
type label struct{ key, value string }

// Matcher is a compiled selector: it alone can match. It is immutable and safe for concurrent use. The zero Matcher
// matches nothing.
type Matcher struct {
	labels []label // sorted by key
}

// Condition is one label of a selector, held against a workload.
type Condition struct {
	Key     string
	Verdict string // OK, Missing or Different
}

// Compile returns the Matcher of a selector, which may be changed afterwards. The error is that of Validate: a selector
// without labels has no Matcher, so none can match everything by accident.
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

// Matches reports whether a workload with these labels bears every label of the selector: the key must be there, and
// its value be the same to the byte. It does not allocate.
func (m Matcher) Matches(labels map[string]string) bool {
	for i := range m.labels {
		want := &m.labels[i]
		if value, ok := labels[want.key]; !ok || value != want.value {
			return false
		}
	}
	return len(m.labels) > 0
}

// Explain holds each label of the selector against those of a workload; the result is sorted by key. The workload
// matches if every Verdict is OK.
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

// Proxy is what is known of a proxy when a policy is to be chosen for it.
type Proxy struct {
	Namespace string            // its configuration namespace
	Metadata  map[string]string // labels in its metadata: its own claim
	Handshake map[string]string // labels given in its initial handshake: its own claim too
	Instance  map[string]string // labels of the pod or virtual machine: the registry's word
}

// EffectiveLabels returns the labels that selectors are held against, in a map of its own. Where sources disagree
// about a key, the registry's word wins over the proxy's claims, and the handshake over the metadata.
func (p Proxy) EffectiveLabels() map[string]string {
	return maps.Collect(p.each)
}

// each yields the effective labels without making a map of them.
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
