package main

import (
	"encoding/json"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/resource"
	fromv1 "k8s.io/kubernetes/pkg/apis/resource/v1"
	tov1beta1 "k8s.io/kubernetes/pkg/apis/resource/v1beta1"
	tov1beta2 "k8s.io/kubernetes/pkg/apis/resource/v1beta2"
)

// The object by version, as servers send it that know, or are asked for, another version than v1.
// Only device claims have others.
func inOtherVersions(object runtime.Object) (map[string]json.RawMessage, error) {
	claim, ok := object.(*resourcev1.ResourceClaim)
	if !ok {
		return nil, nil
	}
	// Conversion shares memory, and the evaluator must still see the original object.
	var hub resource.ResourceClaim
	err := fromv1.Convert_v1_ResourceClaim_To_resource_ResourceClaim(claim.DeepCopy(), &hub, nil)
	if err != nil {
		return nil, err
	}
	var older resourcev1beta1.ResourceClaim
	err = tov1beta1.Convert_resource_ResourceClaim_To_v1beta1_ResourceClaim(hub.DeepCopy(), &older, nil)
	if err != nil {
		return nil, err
	}
	var newer resourcev1beta2.ResourceClaim
	err = tov1beta2.Convert_resource_ResourceClaim_To_v1beta2_ResourceClaim(hub.DeepCopy(), &newer, nil)
	if err != nil {
		return nil, err
	}
	versions := map[string]json.RawMessage{}
	for version, converted := range map[string]any{"v1beta1": &older, "v1beta2": &newer} {
		text, err := json.Marshal(converted)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", version, err)
		}
		versions[version] = text
	}
	return versions, nil
}
