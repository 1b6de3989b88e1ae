package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// resourceTypes returns the part of index.d.ts that depends on the resources. The interfaces that it names are in core/index.d.ts.
func (d document) resourceTypes(resources []*resource) string {
	w := &printer{}
	w.comment("The records of the resources, by their names.")
	w.open("export interface Records {")
	each(resources, func(r *resource) { w.line("%s: %s", camel(r.Record), d.record(r)) })
	w.close()
	w.WriteString("\n")

	w.comment("The parameters of the lists.")
	w.open("interface Queries {")
	each(resources, func(r *resource) {
		if r.list != nil {
			w.query(r)
		}
	})
	w.close()
	w.WriteString("\n")

	w.comment("The records that expand adds to the records of a resource; null if one does not exist, or the caller may not see it.")
	w.open("interface References {")
	each(resources, func(r *resource) { w.references(d, resources, r) })
	w.close()
	w.WriteString("\n")

	w.open("interface Resources {")
	w.resources(d, resources, d.methods, "")
	w.close()
	w.WriteString("\n")

	w.comment("The resources that a batch can write.")
	w.open("interface BatchResources {")
	w.resources(d, resources, d.batchMethods, "")
	w.close()
	w.WriteString("\n")
	w.sessions(d)
	return w.String()
}

// signIns are the ways to sign in: the path of each, the argument of signIn, and the result.
var signIns = []struct{ path, comment, argument, result string }{
	{"/auth", "Signs in with a password.", "{ email: string; password: string }", "User"},
	{"/auth/email-code", "Emails a code. The challenge is for the sign-in with the code.", "{ email: string }", "{ challenge: string }"},
	{"/auth/email-code", "Signs in with an emailed code.", "{ challenge: string; emailCode: string }", "User"},
	{"/auth/{provider}", "Signs in with a provider: with the fields that POST /auth/{provider} requires.", "{ provider: string } & Schemas['PostAuthByProviderBody']", "User"},
	{"/auth/passkey", "Signs in with a passkey, in a page. Also rejects with the errors of navigator.credentials.get.",
		"{ passkey: true; mediation?: CredentialMediationRequirement }", "User"},
	{"/auth/second-factor", "Completes a sign-in that was rejected with code second_factor_required, with the challenge of the Problem.",
		"{ challenge: string; code: string } | { challenge: string; recovery_code: string }", "User"},
}

// sessions prints the type of api.session with the ways to sign in that the API has.
func (w *printer) sessions(d document) {
	if !d.hasSessions() {
		w.line("interface Sessions {}")
		return
	}
	w.line("type User = Schemas['User']")
	w.WriteString("\n")
	w.open("interface Sessions {")
	w.line("readonly session: Session")
	w.close()
	w.WriteString("\n")
	w.comment("The session of a user. Its tokens are refreshed before they expire, once for all calls and tabs.")
	w.open("export interface Session {")
	w.comment("The user, as of the last sign-in or refresh; null without a session.")
	w.line("readonly user: User | null")
	for _, way := range signIns {
		if d.Paths[way.path] != nil {
			w.comment(way.comment)
			w.line("signIn(proof: %s, options?: Options): Promise<%s>", way.argument, way.result)
		}
	}
	if op := d.Paths["/users"]["post"]; op != nil {
		w.comment("Creates a user, and signs in.")
		w.line("signUp(fields: %s, options?: Options): Promise<User>", op.fields())
	}
	w.comment("Ends the session. It ends here also if the call rejects.")
	w.line("signOut(options?: Options): Promise<void>")
	w.comment("Calls the listener when the user changes, also in another tab. Returns a function that removes the listener.")
	w.line("onChange(listener: (user: User | null) => void): () => void")
	w.close()
}

// record returns the type of the records of a resource: the result of show; without show, of list, create or update, in this order.
func (d document) record(r *resource) string {
	for _, op := range []*operation{r.show, r.list, r.create, r.update} {
		if op != nil {
			return d.result(r, op)
		}
	}
	return "{ id: string }"
}

// result returns the type of the records that an operation returns. A row has all fields of the record, unless fields leaves some out.
func (d document) result(r *resource, op *operation) string {
	s := op.response()
	if op != r.list {
		return d.without(s.base(), "expand")
	}
	row := d.Components.Schemas[s.base()].Properties["rows"].Items.base()
	if name := strings.TrimSuffix(row, "Row"); d.Components.Schemas[name] != nil {
		return d.without(name, "expand")
	}
	return "Required<" + d.without(row, "etag", "expand") + ">"
}

// without returns the type of a schema without the given properties.
func (d document) without(name string, properties ...string) string {
	s := d.Components.Schemas[name]
	if s == nil {
		return "{ id: string }"
	}
	var omitted []string
	for _, property := range properties {
		if s.Properties[property] != nil {
			omitted = append(omitted, quote(property))
		}
	}
	if omitted == nil {
		return fmt.Sprintf("Schemas[%s]", quote(name))
	}
	return fmt.Sprintf("Omit<Schemas[%s], %s>", quote(name), strings.Join(omitted, " | "))
}

// generic are the query parameters that query and filters omit: those that the interfaces of core/index.d.ts have, and those of exports.
var generic = []string{"fields", "expand", "etags", "count", "page", "limit", "after", "bom", "format"}

var operator = regexp.MustCompile(`^(.+)\[(\w+)\]$`)

// query prints the parameters of a list. The operators of a filter are the properties of an object.
func (w *printer) query(r *resource) {
	operators := map[string][]string{}
	for _, p := range r.list.Parameters {
		if match := operator.FindStringSubmatch(p.Name); match != nil && p.In == "query" {
			operators[match[1]] = append(operators[match[1]], match[2]+"?: "+p.typescript())
		}
	}
	w.open("%s: {", camel(r.Name))
	for _, p := range r.list.Parameters {
		if p.In != "query" || slices.Contains(generic, p.Name) || operator.MatchString(p.Name) {
			continue
		}
		w.comment(p.Description)
		value := p.typescript()
		if others := operators[p.Name]; others != nil {
			value += " | { " + strings.Join(others, "; ") + " }"
		}
		w.line("%s%s: %s", key(p.Name), optional(p.Required), value)
	}
	w.close()
}

// typescript returns the type of a parameter's values. Lists are readonly arrays, so that callers can pass constants.
func (p parameter) typescript() string {
	if p.Schema.Type == "array" {
		return "readonly " + p.Schema.typescript()
	}
	return p.Schema.typescript()
}

// references prints the types of the records that expand adds.
func (w *printer) references(d document, all []*resource, r *resource) {
	expand, properties := r.list.parameter("expand"), map[string]*schema{}
	if expand == nil {
		expand = r.show.parameter("expand")
	}
	for _, op := range []*operation{r.list, r.show} {
		if op == nil {
			continue
		}
		s := d.Components.Schemas[op.response().base()]
		if op == r.list {
			s = d.Components.Schemas[s.Properties["rows"].Items.base()]
		}
		if s != nil { // nil: show returns no record
			properties = s.Properties
		}
	}
	if expand == nil {
		w.line("%s: {}", camel(r.Name))
		return
	}
	w.open("%s: {", camel(r.Name))
	for _, value := range expand.Schema.Items.Enum {
		name := fmt.Sprint(value)
		target := "{ id: string }"
		each(all, func(other *resource) {
			if property := properties[name]; property != nil && property.Reference == other.Name {
				target = fmt.Sprintf("Records[%s]", quote(camel(other.Record)))
			}
		})
		if target += " | null"; properties[name] != nil && properties[name].Type == "array" {
			target = "(" + target + ")[]"
		}
		w.line("%s: %s", key(name), target)
	}
	w.close()
}

// resources prints the resources with their methods. Nested ones are functions of the ID of a record of the parent. parent is "" at the
// root.
func (w *printer) resources(d document, resources []*resource, methods func(*resource) []string, parent string) {
	for _, r := range resources {
		parts := methods(r)
		if len(parts) == 0 && !slices.ContainsFunc(r.nested, func(n *resource) bool { return len(methods(n)) > 0 }) {
			continue
		}
		w.comment(r.description)
		name := camel(r.Name)
		if parent != "" {
			name += "(" + camel(parent) + "Id: string)"
		}
		text := name + ": " + strings.Join(parts, " & ")
		if len(r.nested) == 0 {
			w.line("%s", text)
			continue
		}
		if len(parts) > 0 {
			text += " & "
		}
		w.open("%s{", text)
		w.resources(d, r.nested, methods, r.Record)
		w.close()
	}
}

// methods returns the interfaces of the methods of a resource.
func (d document) methods(r *resource) (out []string) {
	references := fmt.Sprintf("References[%s]", quote(camel(r.Name)))
	if r.list != nil {
		out = append(out, fmt.Sprintf("List<%s, Queries[%s], %s>", d.named(r, r.list), quote(camel(r.Name)), references))
	}
	if r.show != nil {
		out = append(out, fmt.Sprintf("Get<%s, %s>", d.named(r, r.show), references))
	}
	if r.create != nil {
		out = append(out, fmt.Sprintf("Create<%s, %s>", d.named(r, r.create), r.create.fields()))
	}
	if r.update != nil {
		out = append(out, fmt.Sprintf("Update<%s, %s>", d.named(r, r.update), r.update.fields()))
	}
	if r.delete != nil {
		out = append(out, "Delete")
	}
	if r.changes != nil {
		out = append(out, fmt.Sprintf("Follow<%s, %s>", d.followed(r), r.changes.filters()))
	}
	for _, f := range r.files {
		kind := "FileField"
		if f.list {
			kind = "FileList"
		}
		out = append(out, fmt.Sprintf("{ %s: %s<%s> }", key(f.name), kind, d.named(r, f.upload)))
	}
	return out
}

// followed returns the type of the records in a feed: the rows of the list or, without a list, the record.
func (d document) followed(r *resource) string {
	if r.list != nil {
		return d.named(r, r.list)
	}
	return d.record(r)
}

// filters returns the type of the filters of a feed.
func (op *operation) filters() string {
	var out []string
	for _, p := range op.Parameters {
		if p.In == "query" && !slices.Contains(generic, p.Name) {
			out = append(out, key(p.Name)+optional(p.Required)+": "+p.typescript())
		}
	}
	if out == nil {
		return "{}"
	}
	return "{ " + strings.Join(out, "; ") + " }"
}

// batchMethods returns the interfaces of the methods that a batch can call.
func (d document) batchMethods(r *resource) (out []string) {
	if r.create != nil && r.create.Batch {
		out = append(out, fmt.Sprintf("BatchCreate<%s, %s>", d.named(r, r.create), r.create.fields()))
	}
	if r.update != nil && r.update.Batch {
		out = append(out, fmt.Sprintf("BatchUpdate<%s, %s>", d.named(r, r.update), r.update.fields()))
	}
	if r.delete != nil && r.delete.Batch {
		out = append(out, "BatchDelete")
	}
	return out
}

// named is like result, with the name of the type if it is the resource's record.
func (d document) named(r *resource, op *operation) string {
	if out := d.result(r, op); out != d.record(r) {
		return out
	}
	return fmt.Sprintf("Records[%s]", quote(camel(r.Record)))
}

// fields returns the type of the body of a write.
func (op *operation) fields() string {
	if op.RequestBody == nil {
		return "Record<string, never>"
	}
	return strings.ReplaceAll(op.RequestBody.Content["application/json"].Schema.typescript(), "components['schemas']", "Schemas")
}
