package documents

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/go-openapi/spec"
	"github.com/gobuffalo/flect"

	"example.com/ginseng/scripts/internal/naming"
)

const (
	apiKeyScheme = "APIKey"               // the security scheme of API keys
	apiKeysPath  = "/users/{id}/api-keys" // a path of the component api-key
	keyUsage     = "An API key of a user. Send it as Authorization: Bearer KEY, or as access_token in the body or query. Without RESOURCE:read, the response to a write of the resource has only id. Scopes: "
)

// The suffixes of scopes, after the name of the resource, and the scope of an admin's key; see package access.
const readScope, writeScope, adminScope = ":read", ":write", "admin"

// The extensions that describe access; docs/client.md explains them.
const (
	callerMark, rolesMark, scopeMark, batchMark, settingMark, resourceMark = "x-caller", "x-roles", "x-scope", "x-batch", "x-setting", "x-resource"
	referenceMark                                                          = "x-reference"
)

// Descriptions that a route implies.
const (
	recentSignIn = "Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors."
	notAdmin     = "forbidden: the caller is not an admin"
	stepUp       = "reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account"
	stepUpLimit  = "too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes"
)

// joiner adds to a Swagger document what the table of routes knows of its operations. Annotations take precedence.
type joiner struct {
	*spec.Swagger
	rows    map[string][]row // by documented path and method: "/articles GET"
	table   Table
	hasKeys bool // the service has API keys
}

// ErrMismatch means that the annotations do not fit the routes or the error codes of the service.
var ErrMismatch = errors.New("the annotations do not fit the service")

// join adds to the operations of a document what the table knows. ErrMismatch: the table does not have an operation.
func join(swagger *spec.Swagger, table Table) error {
	j := joiner{Swagger: swagger, rows: map[string][]row{}, table: table}
	_, j.hasKeys = swagger.Paths.Paths[apiKeysPath]
	for _, r := range table.Routes {
		key := documented(r) + " " + r.Method
		j.rows[key] = append(j.rows[key], r)
	}
	j.fileOperations()
	for _, p := range slices.Sorted(maps.Keys(swagger.Paths.Paths)) {
		item := swagger.Paths.Paths[p]
		for _, o := range []struct {
			method string
			*spec.Operation
		}{{"GET", item.Get}, {"POST", item.Post}, {"PUT", item.Put}, {"PATCH", item.Patch}, {"DELETE", item.Delete}} {
			rows := j.rows[p+" "+o.method]
			switch {
			case o.Operation == nil:
			case rows == nil:
				return fmt.Errorf("%w: %s %s is annotated, but no router adds this route: correct @Router, add the module to modules.go, or use route.Setting if a setting turns the route off",
					ErrMismatch, o.method, p)
			default:
				j.operation(o.Operation, rows, p)
			}
		}
	}
	addCodes(swagger, table.Codes)
	if j.hasKeys {
		scheme := spec.APIKeyAuth("Authorization", "header")
		scheme.Description = keyUsage + strings.Join(scopes(table.Routes), ", ") + "."
		swagger.SecurityDefinitions[apiKeyScheme] = scheme
	}
	return nil
}

var pathParameter = regexp.MustCompile(`:(\w+)`)

// documented returns the path of a route in the document.
func documented(r row) string {
	if r.Documented != "" {
		return r.Documented
	}
	return pathParameter.ReplaceAllString(r.Path, "{$1}")
}

// operation adds to an operation what its rows say. Several rows share an operation only with route.Documented, such as
// /auth/{provider}; they differ only in Setting.
func (j joiner) operation(op *spec.Operation, rows []row, p string) {
	r := rows[0]
	op.Extensions = maps.Clone(op.Extensions) // swag shares them between the paths of an annotation
	responses := *op.Responses
	responses.StatusCodeResponses = maps.Clone(responses.StatusCodeResponses)
	op.Responses = &responses
	j.access(op, r)
	if r.Setting != "" && !slices.ContainsFunc(rows, func(other row) bool { return other.Setting != r.Setting }) {
		op.AddExtension(settingMark, r.Setting)
	}
	if (r.Caller == "step-up" || r.Caller == "step-up-admin") && !strings.Contains(op.Description, recentSignIn) {
		op.Description = strings.TrimSpace(op.Description + " " + recentSignIn)
	}
	if _, annotated := op.Extensions[restrictedMark]; r.Restricted && !annotated {
		op.AddExtension(restrictedMark, true)
	}
	if r.JSONOnly && len(op.Consumes) == 0 {
		op.Consumes = []string{"application/json"}
	}
	if r.Raw > 0 {
		op.AddExtension(rawMark, true)
	}
	if r.Upload != nil || r.Download {
		op.AddExtension(transferMark, true)
	}
	fileParts(op, r)
	j.parameters(op, r, p)
	j.resource(op, r, p)
	for i, parameter := range op.Parameters {
		if target := j.table.References[r.Resource][parameter.Name]; target != "" && parameter.In == "formData" {
			op.Parameters[i].AddExtension(referenceMark, target)
		}
	}
	for status, implied := range impliedErrors(r) {
		response, annotated := op.Responses.StatusCodeResponses[status]
		switch {
		case !annotated:
			response = *spec.NewResponse().WithSchema(spec.RefProperty("#/definitions/Problem")).WithDescription(strings.Join(implied, "; "))
		case slices.Contains(implied, stepUp) && !strings.Contains(response.Description, "reauthentication_required"):
			response.Description += "; " + stepUp
		}
		op.Responses.StatusCodeResponses[status] = response
	}
}

// impliedErrors returns the descriptions of the errors that a row implies, by status. An annotation of the same status replaces
// them, except stepUp.
func impliedErrors(r row) map[int][]string {
	errs := map[int][]string{}
	imply := func(status int, descriptions ...string) { errs[status] = append(errs[status], descriptions...) }
	switch r.Caller {
	case "admin":
		imply(http.StatusForbidden, notAdmin)
	case "role":
		imply(http.StatusForbidden, "forbidden: the caller is neither an admin nor a user with the role "+strings.Join(r.Roles, " or "))
	case "master":
		imply(http.StatusUnauthorized, "unauthorized: the master key is missing or wrong")
	case "step-up-admin":
		imply(http.StatusForbidden, notAdmin, stepUp)
		imply(http.StatusTooManyRequests, stepUpLimit)
	case "step-up":
		imply(http.StatusForbidden, stepUp)
		imply(http.StatusTooManyRequests, stepUpLimit)
	case "step-up-others":
		imply(http.StatusForbidden, "forbidden: the caller is neither the user nor an admin", stepUp)
		imply(http.StatusTooManyRequests, stepUpLimit)
	}
	if r.Origin {
		imply(http.StatusForbidden, "forbidden: the header Origin is not one of CORS_ORIGINS")
	}
	if r.Stream {
		imply(http.StatusTooManyRequests, "too_many_requests: too many open streams")
	}
	return errs
}

// callers has the value of x-caller for the kinds that have another name. step-up-others is user, because the path decides whether
// it needs a recent sign-in.
var callers = map[string]string{"open": "public", "refresh": "public", "step-up-admin": "step-up", "step-up-others": "user"}

// security has the security requirements of the kinds that require a credential.
var security = map[string][]string{
	"master": {"MasterKey"}, "user": {"UserToken"}, "admin": {"UserToken"}, "role": {"UserToken"}, "provider": {"UserToken"},
	"step-up": {"UserToken", "BasicAuth"}, "step-up-admin": {"UserToken", "BasicAuth"}, "step-up-others": {"UserToken", "BasicAuth"},
}

// access adds the security requirements and the extensions that describe access.
func (j joiner) access(op *spec.Operation, r row) {
	caller := cmp.Or(callers[r.Caller], r.Caller)
	if caller == "master" && slices.ContainsFunc(op.Security, func(all map[string][]string) bool { return all["BasicAuth"] != nil }) {
		caller = "sign-in" // PUBLIC_SIGNIN decides whether it also needs the master key
	}
	op.AddExtension(callerMark, caller)
	if r.Caller == "open" {
		op.AddExtension(openMark, true)
		return
	}
	if r.Caller == "step-up-admin" {
		op.AddExtension(rolesMark, []string{"admin"})
	}
	if r.Roles != nil {
		op.AddExtension(rolesMark, r.Roles)
	}
	if r.Resource != "" && r.Method != http.MethodGet && r.Raw == 0 && r.Upload == nil && !r.Read && r.Caller != "master" {
		op.AddExtension(batchMark, true)
	}
	if op.Security == nil {
		for _, scheme := range security[r.Caller] {
			op.Security = append(op.Security, map[string][]string{scheme: {}})
		}
	}
	if r.Caller == "provider" {
		op.AddExtension(optionalMark, true)
	}
	isKey := func(all map[string][]string) bool { return all[apiKeyScheme] != nil }
	if !j.hasKeys {
		op.Security = slices.DeleteFunc(op.Security, isKey)
		return
	}
	if (r.AnyKey || r.AdminKey || r.Resource != "" && len(op.Security) > 0) && r.Caller != "master" && !slices.ContainsFunc(op.Security, isKey) {
		op.Security = append(op.Security, map[string][]string{apiKeyScheme: {}})
	}
	switch {
	case r.AdminKey:
		op.AddExtension(scopeMark, adminScope)
	case r.Resource != "" && r.Caller != "master":
		op.AddExtension(scopeMark, scope(r))
	}
}

// scope returns the scope that an API key needs for a route of a resource.
func scope(r row) string {
	if r.Method == http.MethodGet || r.Read {
		return r.Resource + readScope
	}
	return r.Resource + writeScope
}

// scopes returns all scopes that a key can have.
func scopes(routes []row) []string {
	all := []string{"*" + readScope, "*" + writeScope, adminScope}
	for _, r := range routes {
		if r.Resource != "" {
			all = append(all, r.Resource+readScope, r.Resource+writeScope)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// parameters adds the parameters of a list, of a record and of options, and the media types of exports and streams.
func (j joiner) parameters(op *spec.Operation, r row, p string) {
	header := func(name, description string) {
		if !slices.ContainsFunc(op.Parameters, func(p spec.Parameter) bool { return p.Name == name }) {
			op.AddParam(spec.HeaderParam(name).WithDescription(description).Typed("string", "").AsOptional())
		}
	}
	const earlier = "the ETag of an earlier response"
	page := pageOf(j.Swagger, op)
	switch isRecord := j.isRecord(r, p); {
	case r.Method == http.MethodGet && r.List != nil && page != nil:
		addParameters(op, listParameters(*r.List, page)...)
		op.Produces = append([]string{"application/json"}, exportTypes...)
		header("If-None-Match", earlier)
	case r.Method == http.MethodGet && isRecord:
		if r.List != nil && len(r.List.Expand) > 0 {
			addParameters(op, expandParameter(r.List.Expand))
		}
		header("If-None-Match", earlier)
	case isRecord && r.Method == http.MethodDelete:
		header("If-Match", "the ETag of the version to delete")
	case isRecord:
		header("If-Match", "the ETag of the version to change")
	}
	if r.Idempotent {
		header("Idempotency-Key", "a unique key that the client chooses; repeated requests with the same key create only one record")
	}
	if r.Stream {
		op.Produces = []string{"application/json", "text/event-stream"}
		header("Last-Event-ID", "the id of the last event that the client received; takes precedence over after")
	}
}

// isRecord reports whether p is the path of one record, such as /articles/{id}: of a resource, or of another list whose records can be
// read one by one.
func (j joiner) isRecord(r row, p string) bool {
	collection, parameter := path.Split(p)
	if collection = path.Clean(collection); !strings.HasPrefix(parameter, "{") {
		return false
	}
	if r.Resource != "" {
		return path.Base(collection) == r.Resource
	}
	return j.rows[p+" GET"] != nil && slices.ContainsFunc(j.rows[collection+" GET"], func(r row) bool {
		return r.List != nil && r.List.Name == path.Base(collection)
	})
}

// resource adds x-resource to the tag of a list or record operation, once per tag, and x-reference to the properties of the record.
func (j joiner) resource(op *spec.Operation, r row, p string) {
	collection := p
	switch {
	case r.List == nil || len(op.Tags) == 0:
		return
	case r.Resource != "" && j.isRecord(r, p):
		collection = path.Dir(p)
	case path.Base(p) != r.List.Name || r.Resource == "" && j.rows[p+"/{id} GET"] == nil:
		return
	}
	name := recordOf(j.Swagger, op)
	if name == "" || slices.ContainsFunc(j.Tags, func(t spec.Tag) bool { return t.Name == op.Tags[0] }) {
		return
	}
	record := j.Definitions[name]
	about := map[string]any{"name": r.List.Name, "path": collection, "record": naming.Kebab(name[strings.LastIndexByte(name, '.')+1:], "")}
	titles := visible(*r.List, &record)
	if _, has := record.Properties[r.List.Title]; has {
		titles = []string{r.List.Title}
	}
	if len(titles) > 0 {
		about["title"] = titles[0]
	}
	if segments := strings.Split(collection, "/"); len(segments) > 3 {
		about["parent"] = segments[len(segments)-3]
	}
	for _, owner := range []string{"user", "organization"} { // the organization owns what one of its members has created
		if _, owned := record.Properties[owner+"Id"]; owned {
			about["own"] = owner
		}
	}
	j.fileProperties(&record, r.List.Files)
	for field, target := range j.table.References[r.List.Name] {
		if property, has := record.Properties[field]; has {
			property.AddExtension(referenceMark, target)
			record.Properties[field] = property
		}
	}
	tag := spec.NewTag(op.Tags[0], "", nil)
	tag.AddExtension(resourceMark, about)
	j.Tags = append(j.Tags, tag)
}

// addCodes adds error codes to the definition ErrorCode: swag lists only the constants in the package of the type.
func addCodes(swagger *spec.Swagger, codes []string) {
	schema, listed := swagger.Definitions["ErrorCode"]
	if !listed || len(codes) == 0 {
		return
	}
	names, _ := schema.Extensions["x-enum-varnames"].([]string)
	for _, code := range codes {
		schema.Enum = append(schema.Enum, code)
		names = append(names, flect.Pascalize(code))
	}
	schema.AddExtension("x-enum-varnames", names)
	swagger.Definitions["ErrorCode"] = schema
}
