module quota-controller-manager/tests/manifests/kustomize

go 1.26.0
