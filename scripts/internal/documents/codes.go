package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-openapi/spec"
)

// errorCode is a constant of a module whose value is an error code.
type errorCode struct{ name, value string }

// codeConst matches the declaration of an error code.
var codeConst = regexp.MustCompile(`(?m)^(?:const|\t)\s*(\w+)\s+apperr\.Code\s*=\s*"(\w+)"`)

// moduleCodes returns the error codes that the modules of the project in dir declare.
func moduleCodes(dir string) ([]errorCode, error) {
	names, err := filepath.Glob(filepath.Join(dir, "modules/*/*.go"))
	if err != nil {
		return nil, err
	}
	var codes []errorCode
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, found := range codeConst.FindAllSubmatch(source, -1) {
			codes = append(codes, errorCode{string(found[1]), string(found[2])})
		}
	}
	return codes, nil
}

// addCodes adds the error codes of the modules in dir to the definition ErrorCode: swag lists only the constants in the package
// of the type.
func addCodes(swagger *spec.Swagger, dir string) error {
	codes, err := moduleCodes(dir)
	schema, listed := swagger.Definitions["ErrorCode"]
	if err != nil || !listed {
		return err
	}
	names, _ := schema.Extensions["x-enum-varnames"].([]string)
	for _, code := range codes {
		schema.Enum = append(schema.Enum, code.value)
		names = append(names, code.name)
	}
	schema.Extensions["x-enum-varnames"] = names
	swagger.Definitions["ErrorCode"] = schema
	return nil
}
