// Upstream answers each line with the result of Kubernetes' own quota code for the question on that
// line: the usage, scopes and names of one object, the decision on a request, the usage of claims
// beside their pods, or the sums of two quantities. Or with that of kstatus, for an object that a
// tool waits for. It decides nothing itself;
// tests/differential/upstream.h describes the lines.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache"
	"k8s.io/klog/v2"
	resourcedefaults "k8s.io/kubernetes/pkg/apis/resource/v1"
	"k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	testingclock "k8s.io/utils/clock/testing"
)

type question struct {
	// Of an object; its kind says what it is.
	Object    json.RawMessage                            `json:"object"`
	Now       time.Time                                  `json:"now"`
	Names     []corev1.ResourceName                      `json:"names"`
	Limited   []corev1.ResourceName                      `json:"limited"`
	Selectors []corev1.ScopedResourceSelectorRequirement `json:"selectors"`
	// Of a request, with its object.
	Quotas      []corev1.ResourceQuota `json:"quotas"`
	Old         json.RawMessage        `json:"old"`
	Subresource string                 `json:"subresource"`
	// Of claims and pods.
	Pods   []corev1.Pod               `json:"pods"`
	Claims []resourcev1.ResourceClaim `json:"claims"`
	// Of two quantities.
	Left  *string `json:"left"`
	Right string  `json:"right"`
	Times int64   `json:"times"`
	// Of an object that somebody waits for.
	Waiting json.RawMessage `json:"waiting"`
	// Of nothing: which Kubernetes answers.
	Version bool `json:"version"`
}

type objectAnswer struct {
	Usage   map[corev1.ResourceName]quantityAnswer `json:"usage"`
	Owned   []corev1.ResourceName                  `json:"owned"`
	Matched []string                               `json:"matched"`
	Missing string                                 `json:"missing"`
	Served  served                                 `json:"served"`
}

// The object as an API server sends it, in both encodings; protobuf in hexadecimal.
type served struct {
	JSON     json.RawMessage `json:"json"`
	Protobuf string          `json:"protobuf"`
	// The same in the other versions of its kind.
	Versions map[string]json.RawMessage `json:"versions,omitempty"`
}

// Called before any evaluation: upstream's pod evaluator adds the overhead to a pod-level request
// in place if that amount is a big decimal.
func serve(object runtime.Object) (served, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return served{}, err
	}
	bytes, err := object.(interface{ Marshal() ([]byte, error) }).Marshal()
	if err != nil {
		return served{}, err
	}
	versions, err := inOtherVersions(object)
	return served{JSON: text, Protobuf: hex.EncodeToString(bytes), Versions: versions}, err
}

func noLister(schema.GroupVersionResource) (cache.GenericLister, error) {
	return nil, fmt.Errorf("one object is asked about at a time")
}

var clock = testingclock.NewFakeClock(time.Time{})

// The same classes as in objects_test.cc. No claim belongs to a pod: that takes two objects.
var deviceClasses = func() *extendedresourcecache.ExtendedResourceCache {
	classes := extendedresourcecache.NewExtendedResourceCache(klog.Background())
	names := map[string]string{"gold": "example.com/gpu", "gpu": "vendor.io/fpga", "a.b": ""}
	for name, resource := range names {
		class := resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if resource != "" {
			class.Spec.ExtendedResourceName = &resource
		}
		classes.OnAdd(&class, true)
	}
	return classes
}()

var evaluators = map[string]struct {
	evaluator quota.Evaluator
	empty     func() runtime.Object
}{
	"Pod": {
		departing{core.NewPodEvaluator(noLister, clock)},
		func() runtime.Object { return &corev1.Pod{} },
	},
	"Service": {
		core.NewServiceEvaluator(noLister),
		func() runtime.Object { return &corev1.Service{} },
	},
	"PersistentVolumeClaim": {
		core.NewPersistentVolumeClaimEvaluator(noLister),
		func() runtime.Object { return &corev1.PersistentVolumeClaim{} },
	},
	"ResourceClaim": {
		departing{core.NewResourceClaimEvaluator(noLister, deviceClasses, nil, nil)},
		func() runtime.Object { return &resourcev1.ResourceClaim{} },
	},
	"ConfigMap": {
		objectCounter("configmaps", "configmaps"),
		func() runtime.Object { return &corev1.ConfigMap{} },
	},
}

func objectCounter(resource string, alias corev1.ResourceName) quota.Evaluator {
	counted := schema.GroupVersionResource{Version: "v1", Resource: resource}
	list := generic.ListResourceUsingListerFunc(noLister, counted)
	return generic.NewObjectCountEvaluator(counted.GroupResource(), list, alias)
}

// The kind of an object, which has an evaluator.
func kindOf(object json.RawMessage) (string, error) {
	var typed struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(object, &typed); err != nil {
		return "", err
	}
	if _, ok := evaluators[typed.Kind]; !ok {
		return "", fmt.Errorf("no evaluator for kind %q", typed.Kind)
	}
	return typed.Kind, nil
}

// The object as the API server sees it: a claim with its count and its mode. Nil if there is none.
func decode(kind string, text json.RawMessage) (runtime.Object, error) {
	if text == nil {
		return nil, nil
	}
	object := evaluators[kind].empty()
	if err := json.Unmarshal(text, object); err != nil {
		return nil, err
	}
	if claim, ok := object.(*resourcev1.ResourceClaim); ok {
		resourcedefaults.SetObjectDefaults_ResourceClaim(claim)
	}
	if pod, ok := object.(*corev1.Pod); ok {
		dropEmpty(pod.Status.ContainerStatuses)
		dropEmpty(pod.Status.InitContainerStatuses)
	}
	return object, nil
}

// An API server stores protobuf, which does not tell an empty list from none. Code since 1.37 does.
func dropEmpty(statuses []corev1.ContainerStatus) {
	drop := func(list *corev1.ResourceList) {
		if len(*list) == 0 {
			*list = nil
		}
	}
	for i := range statuses {
		drop(&statuses[i].AllocatedResources)
		if resources := statuses[i].Resources; resources != nil {
			drop(&resources.Requests)
			drop(&resources.Limits)
		}
	}
}

func answerObject(q *question) (any, error) {
	kind, err := kindOf(q.Object)
	if err != nil {
		return nil, err
	}
	known := evaluators[kind]
	object, err := decode(kind, q.Object)
	if err != nil {
		return nil, err
	}
	asServed, err := serve(object)
	if err != nil {
		return nil, err
	}
	clock.SetTime(q.Now)
	used, err := known.evaluator.Usage(object)
	if err != nil {
		return nil, err
	}
	answer := objectAnswer{
		Usage:  map[corev1.ResourceName]quantityAnswer{},
		Served: asServed,
	}
	for name, amount := range used {
		answer.Usage[name] = describe(amount)
	}
	for _, name := range q.Names {
		if len(known.evaluator.MatchingResources([]corev1.ResourceName{name})) > 0 {
			answer.Owned = append(answer.Owned, name)
		}
	}
	for _, selector := range q.Selectors {
		answer.Matched = append(answer.Matched, match(known.evaluator, object, selector))
	}
	if err := known.evaluator.Constraints(q.Limited, object); err != nil {
		answer.Missing = err.Error()
	}
	return answer, nil
}

type requirement = corev1.ScopedResourceSelectorRequirement

func match(evaluator quota.Evaluator, object runtime.Object, selector requirement) string {
	matched, err := evaluator.MatchingScopes(object, []requirement{selector})
	switch {
	case err != nil:
		return "error"
	case len(matched) == 1:
		return "yes"
	default:
		return "no"
	}
}

func answer(line []byte) (any, error) {
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	if q.Version {
		return answerVersion()
	}
	if q.Quotas != nil {
		return answerDecision(&q)
	}
	if q.Claims != nil {
		return answerClaims(&q)
	}
	if q.Left != nil {
		return answerQuantities(*q.Left, q.Right, q.Times), nil
	}
	if q.Waiting != nil {
		return answerWaiting(q.Waiting)
	}
	return answerObject(&q)
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		result, err := answer(line)
		if err != nil {
			result = map[string]string{"error": err.Error()}
		}
		if err := encoder.Encode(result); err != nil {
			return
		}
		// The asker waits for the answers to all that it has sent.
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}
