package main

import (
	"bytes"
	"fmt"
	"os/exec"
)

// documents are the generated documents that describe resources.
var documents = []string{swaggerPath, "docs/openapi.json"}

// document generates the documents from the annotations.
func document(root string) error {
	command := exec.Command("go", "run", runtime+"/scripts/docs", "-api")
	command.Dir = root
	if printed, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, bytes.TrimSpace(printed))
	}
	return nil
}
