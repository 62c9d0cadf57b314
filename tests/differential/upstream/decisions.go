package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
)

type decisionAnswer struct {
	// False if upstream's plugin is not concerned with such a request.
	Handled bool   `json:"handled"`
	Refusal string `json:"refusal"`
	// Of each quota by name, after the request.
	Used map[string]map[corev1.ResourceName]quantityAnswer `json:"used"`
}

var resources = map[string]schema.GroupResource{
	"Pod":                   {Resource: "pods"},
	"Service":               {Resource: "services"},
	"PersistentVolumeClaim": {Resource: "persistentvolumeclaims"},
	"ResourceClaim":         {Group: "resource.k8s.io", Resource: "resourceclaims"},
	"ConfigMap":             {Resource: "configmaps"},
}

// Without an old object the request is a CREATE, else an UPDATE.
func requestOf(q *question, kind string) (admission.Attributes, error) {
	object, err := decode(kind, q.Object)
	if err != nil {
		return nil, err
	}
	old, err := decode(kind, q.Old)
	if err != nil {
		return nil, err
	}
	operation := admission.Create
	if old != nil {
		operation = admission.Update
	}
	metadata, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	resource := resources[kind].WithVersion("v1")
	return admission.NewAttributesRecord(object, old, resource.GroupVersion().WithKind(kind), "n",
		metadata.GetName(), resource, q.Subresource, operation, nil, false, nil), nil
}

func answerDecision(q *question) (any, error) {
	kind, err := kindOf(q.Object)
	if err != nil {
		return nil, err
	}
	request, err := requestOf(q, kind)
	if err != nil {
		return nil, err
	}
	clock.SetTime(q.Now)
	evaluator := evaluators[kind].evaluator
	answer := decisionAnswer{
		Handled: evaluator.Handles(request),
		Used:    map[string]map[corev1.ResourceName]quantityAnswer{},
	}
	quotas, err := resourcequota.CheckRequest(q.Quotas, request, evaluator, nil)
	if err != nil {
		answer.Refusal = err.Error()
		return answer, nil
	}
	for _, quota := range quotas {
		used := map[corev1.ResourceName]quantityAnswer{}
		for name, amount := range quota.Status.Used {
			used[name] = describe(amount)
		}
		answer.Used[quota.Name] = used
	}
	return answer, nil
}
