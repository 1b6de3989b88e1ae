package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-openapi/spec"
)

const (
	apiKeyScheme = "APIKey"               // the security scheme; operations that accept every key have it in @Security
	apiKeysPath  = "/users/{id}/api-keys" // a path of the component api-key
	scopesMark   = "x-required-scopes"    // an extension of operations
	keyUsage     = "An API key of a user. Send it as Authorization: Bearer KEY, or as access_token in the body or query. Without RESOURCE:read, the response to a write of the resource has only id. Scopes: "
)

// The suffixes of scopes, after the name of the resource; see package access.
const readScope, writeScope = ":read", ":write"

// The calls in the router.go of a module that declare a resource and its routes.
var (
	resourceCall = regexp.MustCompile(`\.Resource\("([^"]+)"\)`)
	routeCall    = regexp.MustCompile(`\.(GET|POST|PUT|PATCH|DELETE)\("([^"]+)"`)
	pathParam    = regexp.MustCompile(`:(\w+)`)
)

// addScopes declares API keys, and adds the scope that each operation of a resource requires. If the project does not have the
// component api-key, it removes API keys from the security requirements of operations instead.
func addScopes(swagger *spec.Swagger, dir string) error {
	_, hasKeys := swagger.Paths.Paths[apiKeysPath]
	required, err := requiredScopes(dir)
	if err != nil {
		return err
	}
	for path, item := range swagger.Paths.Paths {
		for method, op := range map[string]*spec.Operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch, "DELETE": item.Delete} {
			scope := required[method+" "+path]
			switch {
			case op == nil:
			case !hasKeys:
				op.Security = slices.DeleteFunc(op.Security, func(all map[string][]string) bool { return all[apiKeyScheme] != nil })
			case scope != "":
				op.AddExtension(scopesMark, []string{scope})
				if len(op.Security) > 0 {
					op.Security = append(op.Security, map[string][]string{apiKeyScheme: {}})
				}
			}
		}
	}
	if hasKeys {
		scheme := spec.APIKeyAuth("Authorization", "header")
		scheme.Description = keyUsage + strings.Join(scopes(required), ", ") + "."
		swagger.SecurityDefinitions[apiKeyScheme] = scheme
	}
	return nil
}

// requiredScopes returns the scopes that the routes of resources in dir/modules require, by "METHOD /path".
func requiredScopes(dir string) (map[string]string, error) {
	routers, err := filepath.Glob(filepath.Join(dir, "modules/*/router.go"))
	if err != nil {
		return nil, err
	}
	required := map[string]string{}
	for _, name := range routers {
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		at := resourceCall.FindSubmatchIndex(source)
		if at == nil {
			continue
		}
		resource := string(source[at[2]:at[3]])
		for _, route := range routeCall.FindAllSubmatch(source[at[1]:], -1) {
			action := writeScope
			if string(route[1]) == "GET" {
				action = readScope
			}
			required[string(route[1])+" "+pathParam.ReplaceAllString(string(route[2]), "{$1}")] = resource + action
		}
	}
	return required, nil
}

// scopes returns all scopes that a key can have. required has the scopes that operations require.
func scopes(required map[string]string) []string {
	all := []string{"*" + readScope, "*" + writeScope, "admin"}
	for _, scope := range required {
		resource, _, _ := strings.Cut(scope, ":")
		all = append(all, resource+readScope, resource+writeScope)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
