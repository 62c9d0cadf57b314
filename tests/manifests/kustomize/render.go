// Command render builds folders as the kustomize inside of a kubectl does. Prints "FOLDER: N
// objects", or why a folder cannot be built, also if kustomize panics. Exit code 1: one could not.
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func render(folder string) (objects int, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	kustomizer := krusty.MakeKustomizer(krusty.MakeDefaultOptions())
	built, err := kustomizer.Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return 0, err
	}
	return built.Size(), nil
}

func main() {
	code := 0
	for _, folder := range os.Args[1:] {
		objects, err := render(folder)
		if err != nil {
			fmt.Printf("%s: %v\n", folder, err)
			code = 1
			continue
		}
		fmt.Printf("%s: %d objects\n", folder, objects)
	}
	os.Exit(code)
}
