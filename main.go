// Ginseng is a REST API service over MongoDB or an embedded database.
package main

import (
	"example.com/ginseng/config"
	"example.com/ginseng/docs"
	"example.com/ginseng/kit"
	"example.com/ginseng/kit/server"
	"example.com/ginseng/modules"
)

// version is set by the linker: go build -ldflags "-X main.version=v1.2.3".
var version = "unknown"

// The general annotations of the API documents.
//
//	@title						Ginseng
//	@version					1.0
//	@description				Send parameters form-encoded or as JSON; the names are the same. Every error is a Problem (RFC 9457).
//	@BasePath					/
//
//	@securityDefinitions.basic	BasicAuth
//
//	@securityDefinitions.apikey	MasterKey
//	@in							query
//	@name						access_token
//	@description				The master key (MASTER_KEY), as Authorization: Bearer KEY, or as access_token in the body or, with QUERY_TOKENS=true, in the query.
//
//	@securityDefinitions.apikey	UserToken
//	@in							header
//	@name						Authorization
//	@description				The token from POST /auth, as Authorization: Bearer TOKEN, or as access_token in the body or query.
func main() {
	server.Main(server.Service[config.Settings]{
		Name: "ginseng", Version: version,
		Modules: func(d kit.Deps, s config.Settings) []kit.Module { return modules.New(d, s.Modules) },
		OpenAPI: docs.OpenAPI, Swagger: docs.Swagger,
	})
}
