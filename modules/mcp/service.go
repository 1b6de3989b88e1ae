package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/suggest"
)

// service runs the tools.
type service struct {
	name    string
	log     *slog.Logger
	routes  *route.Table
	catalog func() *catalog // parses the OpenAPI document at the first call
}

const (
	toolList     = "list_resources"
	toolDescribe = "describe_resource"
	toolSearch   = "search_records"
	toolGet      = "get_record"
	toolCreate   = "create_record"
	toolUpdate   = "update_record"
	toolDelete   = "delete_record"
)

const instructions = "Tools that read and write the records of this service as the user whose credential is sent. Call list_resources first, " +
	"then describe_resource for the fields and filters of a resource. " + notice

// server returns the MCP server with the tools.
func (s *service) server() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: s.name, Version: "1"},
		&sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})
	no, yes := false, true
	reads := &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no}
	addTool(server, sdk.Tool{Name: toolList, Title: "List resources", Annotations: reads,
		Description: "Lists the resources, which are the kinds of records, and the tools that work for each."}, s.list)
	addTool(server, sdk.Tool{Name: toolDescribe, Title: "Describe a resource", Annotations: reads,
		Description: "Describes the fields of a resource with their types and limits as JSON Schema, and its filters and sort fields."}, s.describe)
	addTool(server, sdk.Tool{Name: toolSearch, Title: "Search records", Annotations: reads,
		Description: "Lists the records of a resource that match all given conditions, one page at a time. " + notice}, s.search)
	addTool(server, sdk.Tool{Name: toolGet, Title: "Get a record", Annotations: reads,
		Description: "Returns a record with its etag. " + notice}, s.get)
	addTool(server, sdk.Tool{Name: toolCreate, Title: "Create a record", Annotations: &sdk.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no},
		Description: "Creates a record and returns it with its etag."}, s.create)
	addTool(server, sdk.Tool{Name: toolUpdate, Title: "Update a record", Annotations: &sdk.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &no},
		Description: "Changes the given fields of a record and returns it with its new etag. Send ifMatch if the change depends on what you have read."}, s.update)
	addTool(server, sdk.Tool{Name: toolDelete, Title: "Delete a record", Annotations: &sdk.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &no},
		Description: "Deletes a record. This cannot be undone."}, s.delete)
	return server
}

// addTool adds a tool whose arguments have the type T. The result of run is encoded as JSON unless it is a string. An error of
// run must be a problem, whose text is the result of the tool.
func addTool[T any](server *sdk.Server, tool sdk.Tool, run func(*call, T) (any, error)) {
	tool.InputSchema = schemaOf[T]()
	server.AddTool(&tool, func(ctx context.Context, request *sdk.CallToolRequest) (result *sdk.CallToolResult, err error) {
		c := ctx.Value(callKey{}).(*call)
		defer func() {
			if v := recover(); v != nil {
				c.panicked = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
				err = c.panicked
			}
		}()
		var in T
		arguments := request.Params.Arguments
		if len(arguments) == 0 || string(arguments) == "null" {
			arguments = json.RawMessage("{}")
		}
		if fieldErrs := rest.DecodeObject(arguments, &in); fieldErrs != nil {
			return toolError(c.invalid(fieldErrs...)), nil
		}
		out, err := run(c, in)
		if err != nil {
			return toolError(err), nil
		}
		text, ok := out.(string)
		if !ok {
			text = encode(out)
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	})
}

func toolError(err error) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: limitProblem(err.Error())}}}
}

type resourceRow struct {
	Name   string   `json:"name"`
	About  string   `json:"about,omitempty"`
	Parent []string `json:"parent,omitempty"`
	Tools  []string `json:"tools"`
}

type resourceList struct {
	Rows []resourceRow `json:"rows"`
	Next string        `json:"next,omitempty"` // value for the after parameter
}

func (s *service) list(c *call, in listArguments) (any, error) {
	out, size := resourceList{Rows: []resourceRow{}}, 0
	for _, name := range s.catalog().names {
		if name <= in.After {
			continue
		}
		r, ok := s.visible(c, name)
		if !ok {
			continue
		}
		row := resourceRow{name, s.catalog().document.about(r), r.parents(), slices.Sorted(maps.Keys(r.tools()))}
		if size += len(encode(row)) + 1; size > maxRecord {
			out.Next = out.Rows[len(out.Rows)-1].Name
			break
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

func (s *service) describe(c *call, in resourceArgument) (any, error) {
	r, ok := s.visible(c, in.Resource)
	if !ok {
		return nil, s.unknown(c, in)
	}
	return s.catalog().describe(r), nil
}

// visible returns the resource with the name, without the operations that do not accept the caller. ok is false if there is no such
// resource, or if none of its operations accepts the caller.
func (s *service) visible(c *call, name string) (r resource, ok bool) {
	r, ok = s.catalog().resources[name]
	if !ok {
		return r, false
	}
	for _, o := range []struct {
		method, path string
		operation    **operation
	}{
		{http.MethodGet, r.collection, &r.list}, {http.MethodPost, r.collection, &r.create},
		{http.MethodGet, r.record, &r.get}, {http.MethodPatch, r.record, &r.update}, {http.MethodDelete, r.record, &r.deletion},
	} {
		if *o.operation != nil && !s.accepts(c.caller, o.method, o.path) {
			*o.operation = nil
		}
	}
	return r, len(r.tools()) > 0
}

// accepts reports whether the route of an operation accepts the caller. path is as in the OpenAPI document.
func (s *service) accepts(caller access.Principal, method, path string) bool {
	row := s.routes.Match(method, s.routes.Root()+path)
	return row != nil && row.Accepts(caller) == nil
}

func (s *service) search(c *call, in searchArguments) (any, error) {
	r, path, err := s.collection(c, in.collectionArguments, toolSearch)
	if err != nil {
		return nil, err
	}
	query, fieldErrs := in.query(r)
	if fieldErrs != nil {
		return nil, c.invalid(fieldErrs...)
	}
	page, size, err := s.page(c, path, query)
	if err != nil {
		return nil, err
	}
	first := page
	for size > maxRecord { // request fewer rows, so that next continues after the last row in the result
		rows := len(page.Rows)
		if rows == 1 {
			var fields []string
			if page.Rows[0], fields = shortenRecord(page.Rows[0]); fields != nil {
				page.Shortened = shortenedFields(fields)
			}
			break
		}
		query.Set("limit", strconv.Itoa(max(1, min(rows-1, rows*maxRecord/size))))
		query.Set("count", "false")
		if page, size, err = s.page(c, path, query); err != nil {
			return nil, err
		}
	}
	page.Count, page.CountCapped = first.Count, first.CountCapped
	if len(page.Rows) < len(first.Rows) {
		page.Shortened += fmt.Sprintf("The text of a result is limited, so there are only %d rows here. Call this tool again with the after parameter to get the other rows.", len(page.Rows))
	}
	return page, nil
}

// query returns the query parameters of a request for a list, or the errors of invalid filters.
func (in searchArguments) query(r resource) (query url.Values, fieldErrs []apperr.Field) {
	query = url.Values{}
	for name, value := range map[string]string{"q": in.Q, "sort": strings.Join(in.Sort, ","), "fields": strings.Join(in.Fields, ","), "after": in.After} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if in.Limit > 0 {
		query.Set("limit", strconv.FormatInt(in.Limit, 10))
	}
	var filters map[string]any
	if len(in.Filter) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(in.Filter))
		decoder.UseNumber()
		if decoder.Decode(&filters) != nil { // unreachable: an Object is a JSON object
			return nil, []apperr.Field{{In: "body", Param: "filter", Code: apperr.Type, Message: "Must be a JSON object."}}
		}
	}
	var known []string
	for _, p := range r.list.filters() {
		known = append(known, p.Name)
	}
	isUnknown := func(name string) bool { return !slices.Contains(known, name) }
	names := sortedNames(filters)
	if slices.ContainsFunc(names, isUnknown) {
		fieldErrs = append(fieldErrs, apperr.Field{In: "body", Param: "filter", Code: apperr.Unknown, Message: "Has a filter that this resource does not have.", Expected: known})
	}
	for _, name := range slices.DeleteFunc(names, isUnknown) {
		values, ok := filterValues(filters[name])
		if !ok {
			fieldErrs = append(fieldErrs, apperr.Field{In: "body", Param: "filter." + name, Code: apperr.Type, Message: "Must be a string, a number, a boolean or an array of these."})
		}
		if _, isArray := filters[name].([]any); isArray && strings.HasSuffix(name, "[in]") {
			values = append(values, "") // a list splits a single value at commas, and ignores an empty one
		}
		query[name] = values
	}
	return query, fieldErrs
}

// filterValues converts a JSON value to the values of a query parameter.
func filterValues(value any) (values []string, ok bool) {
	switch value := value.(type) {
	case string:
		return []string{value}, true
	case json.Number, bool:
		return []string{fmt.Sprint(value)}, true
	case []any:
		for _, item := range value {
			text, ok := filterValues(item)
			if _, nested := item.([]any); nested || !ok {
				return nil, false
			}
			values = append(values, text...)
		}
		return values, true
	}
	return nil, false
}

// page requests a page of a list. size is the size of the page's rows and of next in bytes.
func (s *service) page(c *call, path string, query url.Values) (page pageResult, size int, err error) {
	response, err := s.call(c, route.Request{Method: http.MethodGet, Path: path, Query: query})
	if err != nil {
		return page, 0, err
	}
	if err := json.Unmarshal(response.Body, &page); err != nil {
		return page, 0, err
	}
	page.Notice = notice
	for _, row := range page.Rows {
		size += len(row) + 1
	}
	return page, size + len(page.Next), nil
}

func (s *service) get(c *call, in recordArguments) (any, error) {
	path, err := s.record(c, in, toolGet)
	if err != nil {
		return nil, err
	}
	response, err := s.call(c, route.Request{Method: http.MethodGet, Path: path})
	if err != nil {
		return nil, err
	}
	return newRecordResult(response), nil
}

func (s *service) create(c *call, in createArguments) (any, error) {
	_, path, err := s.collection(c, in.collectionArguments, toolCreate)
	if err != nil {
		return nil, err
	}
	response, err := s.call(c, route.Request{Method: http.MethodPost, Path: path, Body: in.Data, IdempotencyKey: in.IdempotencyKey})
	if err != nil {
		return nil, err
	}
	return newRecordResult(response), nil
}

func (s *service) update(c *call, in updateArguments) (any, error) {
	path, err := s.record(c, in.recordArguments, toolUpdate)
	if err != nil {
		return nil, err
	}
	response, err := s.call(c, route.Request{Method: http.MethodPatch, Path: path, Body: in.Data, IfMatch: in.IfMatch})
	if err != nil {
		return nil, err
	}
	return newRecordResult(response), nil
}

func (s *service) delete(c *call, in deleteArguments) (any, error) {
	path, err := s.record(c, in.recordArguments, toolDelete)
	if err != nil {
		return nil, err
	}
	if _, err := s.call(c, route.Request{Method: http.MethodDelete, Path: path, IfMatch: in.IfMatch}); err != nil {
		return nil, err
	}
	return map[string]string{"deleted": in.ID}, nil
}

// resource returns the resource that the arguments name.
func (s *service) resource(c *call, in resourceArgument) (resource, error) {
	r, ok := s.catalog().resources[in.Resource]
	if !ok {
		return r, s.unknown(c, in)
	}
	return r, nil
}

// unknown returns the error of a name that is not a resource that the caller may use.
func (s *service) unknown(c *call, in resourceArgument) error {
	names := slices.DeleteFunc(slices.Clone(s.catalog().names), func(name string) bool {
		_, ok := s.visible(c, name)
		return !ok
	})
	message := "Is not a resource. list_resources returns the names of the resources."
	if near := suggest.Nearest(in.Resource, names); near != "" {
		message = "Is not a resource. Did you mean " + near + "?"
	}
	return c.invalid(apperr.Field{In: "body", Param: "resource", Code: apperr.OneOf, Message: message})
}

// segment matches an ID that cannot change the meaning of a path.
var segment = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// collection returns the resource that the arguments name, and the path of its collection. It fails if the tool does not work for
// the resource.
func (s *service) collection(c *call, in collectionArguments, tool string) (r resource, path string, err error) {
	if r, err = s.resource(c, in.resourceArgument); err != nil {
		return r, "", err
	}
	if _, ok := r.tools()[tool]; !ok {
		return r, "", c.invalid(apperr.Field{In: "body", Param: "resource", Code: apperr.NotAllowed, Message: "This tool does not work for this resource. " +
			"describe_resource returns the tools that work.", Expected: slices.Sorted(maps.Keys(r.tools()))})
	}
	parents := r.parents()
	if len(in.Parent) != len(parents) {
		message := "Must be left out: the records of this resource have no parent records."
		if parents != nil {
			message = "Must have the IDs of the parent records, in this order: " + strings.Join(parents, ", ") + "."
		}
		return r, "", c.invalid(apperr.Field{In: "body", Param: "parent", Code: apperr.Required, Message: message})
	}
	parts := strings.Split(r.collection, "/")
	i := 0
	for n, part := range parts {
		if strings.HasPrefix(part, "{") {
			if parts[n] = in.Parent[i]; !segment.MatchString(parts[n]) {
				return r, "", c.invalid(apperr.Field{In: "body", Param: fmt.Sprintf("parent[%d]", i), Code: apperr.Format, Message: "Must be an ID."})
			}
			i++
		}
	}
	return r, strings.Join(parts, "/"), nil
}

// record returns the path of the record that the arguments name. It fails if the tool does not work for the resource.
func (s *service) record(c *call, in recordArguments, tool string) (string, error) {
	r, path, err := s.collection(c, in.collectionArguments, tool)
	if err != nil {
		return "", err
	}
	if _, other := s.catalog().document.Paths[r.collection+"/"+in.ID]; other || !segment.MatchString(in.ID) {
		return "", c.invalid(apperr.Field{In: "body", Param: "id", Code: apperr.Format, Message: "Must be an ID."})
	}
	return path + "/" + in.ID, nil
}
