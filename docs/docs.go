// Package docs holds the API's documentation as it is generated from the annotations of the controllers: make docs.
package docs

import _ "embed"

// Swagger is the Swagger 2 document.
//
//go:embed swagger.json
var Swagger []byte
