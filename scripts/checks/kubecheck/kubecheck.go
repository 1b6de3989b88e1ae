// Package kubecheck compares the workload selector with other implementations: its validation and matching with Kubernetes, its
// Index with a plain scan, and its JSON Schema with its parser. It also compares their speed. It has only tests.
//
//	go -C scripts/checks test -race ./kubecheck
//	go -C scripts/checks test -run '^$' -bench . ./kubecheck
package kubecheck
