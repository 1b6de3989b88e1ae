// Command openapi makes DIR/openapi.json, an OpenAPI 3.0 document, of DIR/swagger.json, the Swagger 2 that swag writes:
//
//	go -C scripts/openapi run . DIR
//
// What Swagger 2 cannot say is added by rules that hold for every route; see the functions of convert.go. The annotations
// say the rest in these words:
//
//   - @x-optional-security true: the route is public, and shows or does more for a caller who is known;
//   - extensions:"x-omitempty" on a field of an answer: it may be absent. All others are always there;
//   - extensions:"x-nullable" on a field of either: it may be null; in an input, that clears it;
//   - extensions:"x-json=NAME" on a field of an input: JSON that fits the definition NAME, or any "object"; a form holds
//     its text;
//   - a filter of a list whose description is "also createdAt[gt], [in]" takes these operators too.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("which folder holds swagger.json? Run: go -C scripts/openapi run . DIR")
	}
	swagger, err := os.ReadFile(filepath.Join(args[0], "swagger.json"))
	if err != nil {
		return err
	}
	out, err := convert(swagger)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(args[0], "openapi.json"), out, 0o644)
}

// convert makes an OpenAPI 3.0 document of a Swagger 2 one.
func convert(swagger []byte) ([]byte, error) {
	swagger, err := prepare(swagger)
	if err != nil {
		return nil, fmt.Errorf("swagger.json: %w", err)
	}
	var from openapi2.T
	if err := json.Unmarshal(swagger, &from); err != nil {
		return nil, fmt.Errorf("swagger.json: %w", err)
	}
	doc, err := openapi2conv.ToV3(&from)
	if err != nil {
		return nil, err
	}
	if err := enrich(doc, &from); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	// What is written is what is validated: references that were made here are resolved anew.
	loader := openapi3.NewLoader()
	written, err := loader.LoadFromData(raw)
	if err != nil {
		return nil, fmt.Errorf("the document that was made cannot be read: %w", err)
	}
	if err := written.Validate(context.Background(), openapi3.EnableExamplesValidation()); err != nil {
		return nil, fmt.Errorf("the document that was made is not valid: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
