// Package deploy tests the Compose files and Kubernetes manifests of the directory deploy. It has no other code.
package deploy
