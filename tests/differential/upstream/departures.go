package main

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	quota "k8s.io/apiserver/pkg/quota/v1"
	resourcehelpers "k8s.io/component-helpers/resource"
)

// An evaluator of upstream that counts what the daemon counts on purpose: of a pod with resources
// of its own what the node has not taken back yet, and of a device claim no request with admin
// access. Everything else, its scopes included, is upstream's.
type departing struct {
	quota.Evaluator
}

func (d departing) Usage(object runtime.Object) (corev1.ResourceList, error) {
	switch object := object.(type) {
	case *corev1.Pod:
		return d.Evaluator.Usage(withReported(object))
	case *resourcev1.ResourceClaim:
		return d.Evaluator.Usage(withoutAdminAccess(object))
	default:
		return d.Evaluator.Usage(object)
	}
}

// A pod that specifies, as a whole, what its node has not taken back yet of the same names.
func withReported(pod *corev1.Pod) *corev1.Pod {
	if pod.Spec.Resources == nil || pod.Status.Resources == nil {
		return pod
	}
	reported := pod.DeepCopy()
	own, status := reported.Spec.Resources, reported.Status
	infeasible := resourcehelpers.IsPodResizeInfeasible(pod)
	own.Requests = largest(infeasible, own.Requests, status.Resources.Requests,
		status.AllocatedResources)
	own.Limits = largest(infeasible, own.Limits, status.Resources.Limits)
	return reported
}

// The largest amount for each name that is wanted. If that is infeasible, of the others, if any.
func largest(infeasible bool, wanted corev1.ResourceList,
	others ...corev1.ResourceList) corev1.ResourceList {
	result := corev1.ResourceList{}
	for name, amount := range wanted {
		replace := infeasible
		for _, other := range others {
			found, ok := other[name]
			if ok && (replace || amount.Cmp(found) < 0) {
				amount, replace = found, false
			}
		}
		result[name] = amount
	}
	return result
}

func withoutAdminAccess(claim *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	counted := claim.DeepCopy()
	counted.Spec.Devices.Requests = nil
	for _, request := range claim.Spec.Devices.Requests {
		exactly := request.Exactly
		admin := exactly != nil && exactly.AdminAccess != nil && *exactly.AdminAccess
		// Upstream counts the alternatives where there are both, which no API server accepts.
		if admin && len(request.FirstAvailable) == 0 {
			continue
		}
		counted.Spec.Devices.Requests = append(counted.Spec.Devices.Requests, request)
	}
	return counted
}
