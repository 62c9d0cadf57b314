// Runs upstream's own end-to-end tests of ResourceQuota (kubernetes v1.36.3,
// test/e2e/apimachinery/resource_quota.go), which need no nodes, against the cluster of a
// kubeconfig. Flags are those of e2e.test.
package main

import (
	"flag"
	"os"
	"regexp"
	"slices"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"

	_ "k8s.io/kubernetes/test/e2e/apimachinery"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
)

var (
	part = flag.Int("part", 0, "which part of the tests to run, from 0")
	of   = flag.Int("of", 1, "in how many parts the tests are run")
)

// What ginkgo needs of a test: to be told that something failed.
type suite struct{ failed bool }

func (s *suite) Fail() { s.failed = true }

// The names of the tests of this part, as expressions.
func share(config types.SuiteConfig) []string {
	config.FocusStrings = []string{`\[sig-api-machinery\] ResourceQuota`}
	var names []string
	for _, spec := range ginkgo.PreviewSpecs("ResourceQuota", config).SpecReports {
		if spec.State.Is(types.SpecStateSkipped | types.SpecStatePending) {
			continue
		}
		names = append(names, regexp.QuoteMeta(spec.FullText())+"$")
	}
	slices.Sort(names) // as in the other parts, whatever their random order
	var mine []string
	for i := *part; i < len(names); i += *of {
		mine = append(mine, names[i])
	}
	return mine
}

func main() {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	framework.AfterReadingAllFlags(&framework.TestContext)
	gomega.RegisterFailHandler(framework.Fail)

	suiteConfig, reporterConfig := framework.CreateGinkgoConfig()
	suiteConfig.SkipStrings = nil // those of features, too
	suiteConfig.FocusStrings = share(suiteConfig)
	s := &suite{}
	if !ginkgo.RunSpecs(s, "ResourceQuota of upstream", suiteConfig, reporterConfig) || s.failed {
		os.Exit(1)
	}
}
