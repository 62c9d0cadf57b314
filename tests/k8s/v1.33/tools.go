//go:build tools

// Package tools pins the kube-apiserver of this version.
package tools

import _ "k8s.io/kubernetes/cmd/kube-apiserver"
