// Package docs holds the API's documentation as it is generated from the annotations of the controllers: make docs.
package docs

import _ "embed"

// OpenAPI is the OpenAPI 3 document, which scripts/openapi makes of the Swagger document.
//
//go:embed openapi.json
var OpenAPI []byte

// Swagger is the Swagger 2 document.
//
//go:embed swagger.json
var Swagger []byte
