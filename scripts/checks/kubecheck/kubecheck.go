// Package kubecheck holds the workload selector against others: its validation and its matching against Kubernetes',
// its Index against a plain scan, its JSON Schema against its reader, and its speed against all of them. It is a module
// of its own, so that what it compares with is nobody else's dependency, and it has nothing but tests.
//
//	go -C scripts/checks test -race ./kubecheck
//	go -C scripts/checks test -run '^$' -bench . ./kubecheck
package kubecheck
