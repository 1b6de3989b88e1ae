// Package deploy tests the Compose files and Kubernetes manifests of the directory deploy. It has only tests.
package deploy
