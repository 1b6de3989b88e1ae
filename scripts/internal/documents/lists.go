package documents

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-openapi/spec"
)

// listSpec has the fields of a listing.Spec that the API document needs.
type listSpec struct {
	name                 string
	search, sort, expand []string
	filters              []listFilter
}

// listFilter is a listing.Filter.
type listFilter struct {
	field  string
	kind   string   // the name of its listing.Type
	values []string // of an Enum
	list   bool
}

// The operators of package listing besides equality, in the order of the API document, and their descriptions.
var (
	ordering = []string{"gt", "gte", "lt", "lte", "ne", "in"}
	equality = []string{"ne", "in"}
	meanings = map[string]string{
		"gt": "greater than this value", "gte": "greater than or equal to this value",
		"lt": "less than this value", "lte": "less than or equal to this value",
		"ne": "not equal to this value", "in": "one of these values; a single value can be a comma-separated list",
	}
)

// filterTypes has the schema and the operators of each listing.Type.
var filterTypes = map[string]struct {
	schema    spec.SimpleSchema
	operators []string
}{
	"Text":    {spec.SimpleSchema{Type: "string"}, ordering},
	"Int":     {spec.SimpleSchema{Type: "integer"}, ordering},
	"Float":   {spec.SimpleSchema{Type: "number"}, ordering},
	"Bool":    {spec.SimpleSchema{Type: "boolean"}, []string{"ne"}},
	"Time":    {spec.SimpleSchema{Type: "string", Format: "date-time"}, ordering},
	"ID":      {spec.SimpleSchema{Type: "string"}, equality},
	"Enum":    {spec.SimpleSchema{Type: "string"}, equality},
	"Date":    {spec.SimpleSchema{Type: "string", Format: "date"}, ordering},
	"UUID":    {spec.SimpleSchema{Type: "string", Format: "uuid"}, equality},
	"Decimal": {spec.SimpleSchema{Type: "string", Format: "decimal"}, ordering},
}

// maxSearch is listing.MaxQuery.
const maxSearch = 200

// addListParameters adds query parameters to the lists of the module in dir, and of the server in the directory runtime. The
// listing.Spec in the package of an operation declares the parameters. If the package has several, the Name of the listing.Spec
// is the last segment of the path. addListParameters also adds the expand parameter to GET operations of one record.
func addListParameters(swagger *spec.Swagger, dir, runtime string) error {
	specs, err := listSpecs(filepath.Join(dir, "modules/*/*.go"), filepath.Join(runtime, "server/*.go"))
	if err != nil {
		return err
	}
	for _, route := range slices.Sorted(maps.Keys(swagger.Paths.Paths)) {
		item := swagger.Paths.Paths[route]
		if item.Get == nil {
			continue
		}
		if s := choose(specs[route], path.Base(path.Dir(route))); s != nil && strings.HasPrefix(path.Base(route), "{") && len(s.expand) > 0 {
			addParameters(item.Get, expandParameter(s.expand))
		}
		if page := pageOf(swagger, item.Get); page != nil {
			s := choose(specs[route], path.Base(route))
			if s == nil {
				return fmt.Errorf("GET %s returns a listing.Page, but its package has no listing.Spec, or several, none of which has the Name %q", route, path.Base(route))
			}
			addParameters(item.Get, s.parameters(page)...)
			item.Get.Produces = append([]string{"application/json"}, exportTypes...)
		}
	}
	return nil
}

// exportTypes are the media types of exports.
var exportTypes = []string{"application/x-ndjson", "text/csv"}

// choose returns the only element of specs, or the element with the name; nil if there is none.
func choose(specs []listSpec, name string) *listSpec {
	i := slices.IndexFunc(specs, func(s listSpec) bool { return len(specs) == 1 || s.name == name })
	if i < 0 {
		return nil
	}
	return &specs[i]
}

// pageOf returns the definition of the rows of a list; nil if the operation does not return a listing.Page.
func pageOf(swagger *spec.Swagger, op *spec.Operation) *spec.Schema {
	if op.Responses == nil || op.Responses.StatusCodeResponses[200].Schema == nil {
		return nil
	}
	name := path.Base(op.Responses.StatusCodeResponses[200].Schema.Ref.String())
	if !strings.HasPrefix(name, "listing.Page-") {
		return nil
	}
	rows := swagger.Definitions[name].Properties["rows"]
	row := swagger.Definitions[path.Base(rows.Items.Schema.Ref.String())]
	return &row
}

// addParameters adds query parameters to an operation, and removes existing query parameters with the same names.
func addParameters(op *spec.Operation, added ...spec.Parameter) {
	op.Parameters = append(slices.DeleteFunc(op.Parameters, func(p spec.Parameter) bool {
		return p.In == "query" && slices.ContainsFunc(added, func(a spec.Parameter) bool { return a.Name == p.Name })
	}), added...)
}

// parameters returns the query parameters of a list whose rows have the schema row. The description of q names only searched
// fields that clients can see.
func (s listSpec) parameters(row *spec.Schema) (out []spec.Parameter) {
	if len(s.search) > 0 {
		visible := slices.DeleteFunc(slices.Clone(s.search), func(name string) bool { _, ok := row.Properties[name]; return !ok })
		q := queryParameter("q", "up to 10 words, or beginnings of words, to search for in "+andList(visible), spec.SimpleSchema{Type: "string"})
		out = append(out, *q.WithMaxLength(maxSearch))
	}
	for _, f := range s.filters {
		out = append(out, f.parameters()...)
	}
	names := s.sort
	if !slices.Contains(names, "createdAt") {
		names = append(slices.Clone(names), "createdAt")
	}
	order := listOf(signed(names))
	order.Default = []string{"-createdAt"}
	out = append(out, *queryParameter("sort", "the fields to sort by; a - before a name means descending order", order))
	out = append(out, *queryParameter("fields", "the fields to include or, with a - before each name, to exclude; id is always included", listOf(selectable(row))))
	if len(s.expand) > 0 {
		out = append(out, expandParameter(s.expand))
	}
	return out
}

// parameters returns the query parameters of a filter: one for equality, and one for each operator.
func (f listFilter) parameters() []spec.Parameter {
	of := filterTypes[f.kind]
	operators, about, prefix := of.operators, "equal to this value", ""
	if f.list {
		operators, about, prefix = []string{"in"}, "the list contains this value", "the list contains "
	}
	var enum []any
	for _, value := range f.values {
		enum = append(enum, value)
	}
	withValues := func(p *spec.Parameter) spec.Parameter {
		p.Enum = enum
		return *p
	}
	out := []spec.Parameter{withValues(queryParameter(f.field, about, of.schema))}
	for _, operator := range operators {
		name, schema := f.field+"["+operator+"]", of.schema
		if operator != "in" {
			out = append(out, withValues(queryParameter(name, prefix+meanings[operator], schema)))
			continue
		}
		list := listOf(nil)
		list.Items.SimpleSchema, list.Items.Enum = schema, enum
		list.CollectionFormat = "multi" // so that generated clients can send values with commas
		out = append(out, *queryParameter(name, prefix+meanings[operator], list))
	}
	return out
}

func expandParameter(references []string) spec.Parameter {
	return *queryParameter("expand", "the references to expand; the response includes the referenced records", listOf(signed(references, references...)))
}

func queryParameter(name, description string, schema spec.SimpleSchema) *spec.Parameter {
	p := spec.QueryParam(name).WithDescription(description)
	p.SimpleSchema = schema
	return p
}

// listOf returns the schema of a comma-separated list of the given strings. If values is nil, the list can contain any string.
func listOf(values []any) spec.SimpleSchema {
	items := spec.NewItems().Typed("string", "")
	items.Enum = values
	return spec.SimpleSchema{Type: "array", CollectionFormat: "csv", Items: items}
}

// selectable returns the values allowed in the fields parameter of a list whose rows have the schema row.
func selectable(row *spec.Schema) []any {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(row.Properties)), func(name string) bool { return name == "expand" })
	return signed(names, "id")
}

// signed returns each name and, unless the name is in never, also the name with the prefix "-".
func signed(names []string, never ...string) (out []any) {
	for _, name := range names {
		out = append(out, name)
		if !slices.Contains(never, name) {
			out = append(out, "-"+name)
		}
	}
	return out
}

// andList returns "a", "a and b" or "a, b and c".
func andList(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// getRoute matches the annotation with the path of a GET operation.
var getRoute = regexp.MustCompile(`@Router\s+(\S+)\s+\[get\]`)

// listSpecs reads the packages with files that match a pattern. For the path of each GET operation, it returns the listing.Specs
// of the operation's package.
func listSpecs(patterns ...string) (map[string][]listSpec, error) {
	var files []string
	for _, pattern := range patterns {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		files = append(files, matches...)
	}
	routes, specs := map[string][]string{}, map[string][]listSpec{} // by directory
	parsed, variables := map[string]*ast.File{}, map[string]map[string]ast.Expr{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		in := filepath.Dir(name)
		for _, route := range getRoute.FindAllSubmatch(source, -1) {
			routes[in] = append(routes[in], string(route[1]))
		}
		if parsed[name], err = parser.ParseFile(token.NewFileSet(), name, source, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if variables[in] == nil {
			variables[in] = map[string]ast.Expr{}
		}
		addVariables(variables[in], parsed[name])
	}
	for _, name := range slices.Sorted(maps.Keys(parsed)) {
		in := filepath.Dir(name)
		found, err := readSpecs(parsed[name], variables[in])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		specs[in] = append(specs[in], found...)
	}
	out := map[string][]listSpec{}
	for _, in := range slices.Sorted(maps.Keys(routes)) {
		for _, route := range routes[in] {
			out[route] = specs[in]
		}
	}
	return out, nil
}

// addVariables adds to variables the package-level variables that a file declares: their values by name.
func addVariables(variables map[string]ast.Expr, file *ast.File) {
	for _, declaration := range file.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok || general.Tok != token.VAR {
			continue
		}
		for _, s := range general.Specs {
			if v := s.(*ast.ValueSpec); len(v.Names) == len(v.Values) {
				for i, name := range v.Names {
					variables[name.Name] = v.Values[i]
				}
			}
		}
	}
}

// readSpecs returns the listing.Specs in a file. A field of a Spec can have one of the package's variables as its value.
func readSpecs(file *ast.File, variables map[string]ast.Expr) (specs []listSpec, err error) {
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok || !isListing(literal.Type, "Spec") || err != nil {
			return true
		}
		resolve(literal, variables)
		var s listSpec
		s, err = readSpec(literal)
		specs = append(specs, s)
		return false
	})
	return specs, err
}

// resolve replaces variables that are values of fields in a literal with the values of the variables.
func resolve(literal *ast.CompositeLit, variables map[string]ast.Expr) {
	ast.Inspect(literal, func(n ast.Node) bool {
		if pair, ok := n.(*ast.KeyValueExpr); ok {
			if name, ok := pair.Value.(*ast.Ident); ok && variables[name.Name] != nil {
				pair.Value = variables[name.Name]
			}
		}
		return true
	})
}

// isListing reports whether an expression is listing.NAME.
func isListing(e ast.Expr, name string) bool {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := selector.X.(*ast.Ident)
	return ok && from.Name == "listing" && selector.Sel.Name == name
}

func readSpec(literal *ast.CompositeLit) (s listSpec, err error) {
	fields, err := fieldsOf(literal)
	if err != nil {
		return s, err
	}
	var filters []*ast.CompositeLit
	read := func(field string, into any) {
		if value, given := fields[field]; given && err == nil {
			err = readLiteral("listing.Spec."+field, value, into)
		}
	}
	read("Name", &s.name)
	read("Search", &s.search)
	read("Sort", &s.sort)
	read("Expand", &s.expand)
	read("Filter", &filters)
	for _, filter := range filters {
		if err == nil {
			var f listFilter
			f, err = readFilter(filter)
			s.filters = append(s.filters, f)
		}
	}
	return s, err
}

func readFilter(literal *ast.CompositeLit) (f listFilter, err error) {
	fields, err := fieldsOf(literal)
	if err != nil {
		return f, err
	}
	f.kind = "Text"
	if of, ok := fields["Type"].(*ast.SelectorExpr); ok {
		f.kind = of.Sel.Name
	}
	if _, known := filterTypes[f.kind]; !known {
		return f, fmt.Errorf("listing.Filter has the unknown Type %s", f.kind)
	}
	if list, ok := fields["List"].(*ast.Ident); ok {
		f.list = list.Name == "true"
	}
	if err := readLiteral("listing.Filter.Field", fields["Field"], &f.field); err != nil {
		return f, err
	}
	if values, given := fields["Values"]; given {
		err = readLiteral("listing.Filter.Values", values, &f.values)
	}
	return f, err
}

// fieldsOf returns the values of the fields of a struct literal, by name.
func fieldsOf(literal *ast.CompositeLit) (map[string]ast.Expr, error) {
	fields := map[string]ast.Expr{}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return nil, fmt.Errorf("a listing.Spec or listing.Filter needs the names of its fields, such as Name: \"orders\"")
		}
		if key, ok := pair.Key.(*ast.Ident); ok {
			fields[key.Name] = pair.Value
		}
	}
	return fields, nil
}

// readLiteral stores the value of a literal in into: a string, a list of strings or a list of structs. Errors contain name, the
// name of the field.
func readLiteral(name string, e ast.Expr, into any) error {
	if basic, ok := e.(*ast.BasicLit); ok {
		if text, ok := into.(*string); ok && basic.Kind == token.STRING {
			var err error
			*text, err = strconv.Unquote(basic.Value)
			return err
		}
	}
	if list, ok := e.(*ast.CompositeLit); ok {
		for _, element := range list.Elts {
			switch into := into.(type) {
			case *[]string:
				var text string
				if err := readLiteral(name, element, &text); err != nil {
					return err
				}
				*into = append(*into, text)
			case *[]*ast.CompositeLit:
				inner, ok := element.(*ast.CompositeLit)
				if !ok {
					return fmt.Errorf("%s must be a list of literals, so that the API document can have it", name)
				}
				*into = append(*into, inner)
			}
		}
		return nil
	}
	return fmt.Errorf("%s must be a literal, so that the API document can have it", name)
}
