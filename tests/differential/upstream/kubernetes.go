package main

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// The version of Kubernetes whose code this is, in the form of an API server's /version.
func answerVersion() (any, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, fmt.Errorf("this program does not say which modules it has")
	}
	for _, module := range info.Deps {
		if module.Path != "k8s.io/kubernetes" {
			continue
		}
		numbers := strings.Split(strings.TrimPrefix(module.Version, "v"), ".")
		return map[string]string{"major": numbers[0], "minor": numbers[1]}, nil
	}
	return nil, fmt.Errorf("this program does not contain Kubernetes")
}
