// Package kubecheck compares the workload selector with other implementations: its validation and matching with those of
// Kubernetes, its Index with a plain scan, its JSON Schema with its parser, and its speed with that of the others. It has only
// tests.
//
//	go -C scripts/checks test -race ./kubecheck
//	go -C scripts/checks test -run '^$' -bench . ./kubecheck
package kubecheck
