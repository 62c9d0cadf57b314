//go:build tools

// Package tools pins the Helm that the chart is tested with.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
