package main

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	quota "k8s.io/apiserver/pkg/quota/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	resourcedefaults "k8s.io/kubernetes/pkg/apis/resource/v1"
	"k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
)

type claimsAnswer struct {
	Sum map[corev1.ResourceName]quantityAnswer `json:"sum"`
}

type claim = resourcev1.ResourceClaim

// As upstream's index of claims selects them.
func isMadeFor(made *claim, pod types.UID) bool {
	owner := metav1.GetControllerOfNoCopy(made)
	marked := made.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "true"
	return marked && owner != nil && owner.Kind == "Pod" && owner.APIVersion == "v1" &&
		owner.UID == pod
}

func claimsMadeFor(claims []claim) func(string, types.UID) ([]*claim, error) {
	return func(_ string, pod types.UID) ([]*claim, error) {
		var made []*claim
		for i := range claims {
			if isMadeFor(&claims[i], pod) {
				made = append(made, &claims[i])
			}
		}
		return made, nil
	}
}

// The usage of all claims beside these pods.
func answerClaims(q *question) (any, error) {
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for i := range q.Pods {
		if err := pods.Add(&q.Pods[i]); err != nil {
			return nil, err
		}
	}
	evaluator := departing{core.NewResourceClaimEvaluator(noLister, deviceClasses,
		corev1listers.NewPodLister(pods), claimsMadeFor(q.Claims))}
	sum := corev1.ResourceList{}
	for i := range q.Claims {
		resourcedefaults.SetObjectDefaults_ResourceClaim(&q.Claims[i])
		used, err := evaluator.Usage(&q.Claims[i])
		if err != nil {
			return nil, err
		}
		sum = quota.Add(sum, used)
	}
	answer := claimsAnswer{Sum: map[corev1.ResourceName]quantityAnswer{}}
	for name, amount := range sum {
		answer.Sum[name] = describe(amount)
	}
	return answer, nil
}
