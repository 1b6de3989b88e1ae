// Package manifests has no code: its tests hold deploy/kubernetes to the types of Kubernetes' API, to kube-score's rules, and
// to the service that is to run there. It is a module of its own, so that the service does not depend on Kubernetes.
package manifests
