package main

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// What a tool that waits for the object makes of its status.
func answerWaiting(object json.RawMessage) (any, error) {
	var parsed unstructured.Unstructured
	if err := json.Unmarshal(object, &parsed); err != nil {
		return nil, err
	}
	result, err := status.Compute(&parsed)
	if err != nil {
		return nil, err
	}
	return map[string]string{"waiting": string(result.Status), "message": result.Message}, nil
}
