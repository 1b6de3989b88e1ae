// Package docs has the API documents, which are generated from the annotations of controllers: make docs.
package docs

import _ "embed"

// OpenAPI is the OpenAPI 3 document.
//
//go:embed openapi.json
var OpenAPI []byte

// Swagger is the Swagger 2 document.
//
//go:embed swagger.json
var Swagger []byte
