// Package kubecheck compares the workload selector with other implementations: validation and matching with Kubernetes, its
// Index with a plain scan, its JSON Schema with its reader, and its speed with all of them. It has only tests.
//
//	go -C scripts/checks test -race ./kubecheck
//	go -C scripts/checks test -run '^$' -bench . ./kubecheck
package kubecheck
