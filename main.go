// Ginseng is a REST API service over MongoDB or an embedded database.
package main

import (
	"example.com/ginseng/config"
	"example.com/ginseng/docs"
	"example.com/ginseng/kit"
	"example.com/ginseng/modules"
	"example.com/ginseng/server"
)

// version is set by the linker: go build -ldflags "-X main.version=v1.2.3".
var version = "unknown"

// The general annotations of the API documents.
//
//	@title						Ginseng
//	@version					1.0
//	@description				Send parameters form-encoded or as JSON; the names are the same. Every error is a Problem (RFC 9457) with a stable code.
//	@BasePath					/
//	@accept						x-www-form-urlencoded,mpfd,json
//	@produce					json
//
//	@securityDefinitions.basic	BasicAuth
//
//	@securityDefinitions.apikey	MasterKey
//	@in							query
//	@name						access_token
//	@description				The setting MASTER_KEY, in development in .env. For your own servers: Authorization: Bearer KEY, or access_token in the body or query.
//
//	@securityDefinitions.apikey	UserToken
//	@in							header
//	@name						Authorization
//	@description				The token of the response to POST /auth: Authorization: Bearer TOKEN, or access_token in the body or query.
func main() {
	server.Main(server.Service[config.Settings]{
		Name: "ginseng", Version: version,
		Modules: func(d kit.Deps, s config.Settings) []kit.Module { return modules.New(d, s.Modules) },
		OpenAPI: docs.OpenAPI, Swagger: docs.Swagger,
	})
}
