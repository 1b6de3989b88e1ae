package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The templates of the module use the methods below.

// Package is the module's package. Type is the type of the stored document. Collection is the field of the service that has the
// collection.
func (r Resource) Package() string    { return packageName(r.Name) }
func (r Resource) Type() string       { return goName(r.Name) }
func (r Resource) Collection() string { return variableName(r.Plural) }

// Word is the name of a record in comments ("blog post"). One is the name with its article ("a blog post"), and Many the plural.
func (r Resource) Word() string { return inWords(r.Name) }
func (r Resource) One() string  { return withArticle(r.Word()) }
func (r Resource) Many() string { return inWords(r.Plural) }

// templateVariables are the variables in the templates that the variable of a record must not shadow.
var templateVariables = []string{"c", "g", "s", "t", "q", "v", "in", "err", "ctx", "id", "caller", "changes", "page", "owner", "meta", "versions"}

// Var returns the variable of a record: the first of the resource's first letter, the resource's name and "record" that is not
// one of templateVariables.
func (r Resource) Var() string {
	for _, name := range []string{r.Name[:1], variableName(r.Name)} {
		if !slices.Contains(templateVariables, name) {
			return name
		}
	}
	return "record"
}

// Caller returns the callers that the route of a method accepts.
func (r Resource) Caller(method string) string {
	rule := goName(kindOf(r.Rules[method]))
	if r.Rules[method] == ruleOwn || kindOf(r.Rules[method]) == ruleOrg {
		rule = "User"
	}
	if roles := rolesOf(r.Rules[method]); roles != nil {
		rule += "(" + roleConstants(roles) + ")"
	}
	return "route." + rule
}

// HasRule reports whether a method has the rule.
func (r Resource) HasRule(rule string) bool {
	return slices.ContainsFunc(r.Methods(), func(m string) bool { return kindOf(r.Rules[m]) == rule })
}

// IsOwn reports whether users see only their own records.
func (r Resource) IsOwn() bool { return r.Under == "" && r.HasRule(ruleOwn) }

const (
	smallBody = 16 << 10 // middleware.SmallBody
	formBytes = 12       // length of the longest character in a form: four percent-encoded bytes
)

// HasLargeBody reports whether a valid request body can have more than smallBody bytes. Clients may send readonly fields back.
func (r Resource) HasLargeBody() bool {
	if !r.TakesFields() {
		return false
	}
	if r.Files() != nil {
		return true
	}
	size := 0
	for _, f := range r.Fields {
		switch {
		case f.IsList():
			size += f.MaxLength() * maxString * formBytes
		case f.kind().maxLength > 0:
			size += f.MaxLength() * formBytes
		default: // enums have short values
			size += cmp.Or(f.kind().bytes, maxString)
		}
	}
	return size > smallBody
}

// OwnerOnly reports whether a method is for the owner of the record, and for admins.
func (r Resource) OwnerOnly(method string) bool {
	return r.Owner && r.Rules[method] == ruleUser && (method == methodUpdate || method == methodDelete)
}

// ownersOnly reports whether a method is only for admins and the owner: of the record or, with AsParent, of its parent.
func (r Resource) ownersOnly(method string) bool {
	if above := r.Above(); above != nil && r.AsParent() {
		return above.OwnerOnly(methodUpdate) && method != methodList && method != methodShow
	}
	return r.OwnerOnly(method)
}

var accessByRule = map[string]string{
	rulePublic: "resource.Public", ruleUser: "resource.Users", ruleOwn: "resource.Own", ruleAdmin: "resource.Admins", ruleMaster: "resource.Master",
}

// accessOf returns the constant or call of package resource for a rule.
func accessOf(rule string) string {
	if roles := rolesOf(rule); roles != nil {
		return "resource.Roles(" + roleConstants(roles) + ")"
	}
	if kindOf(rule) == ruleOrg {
		return "resource.OrganizationMember()"
	}
	return accessByRule[rule]
}

// Forbidden reports whether a method rejects users who are neither the owner nor an admin with 403. The response for a hidden
// record is 404.
func (r Resource) Forbidden(method string) bool { return r.ownersOnly(method) && !r.hides() }

// hides reports whether a user cannot see the records of another.
func (r Resource) hides() bool {
	if above := r.Above(); above != nil {
		return above.hides()
	}
	return r.See() == accessOf(ruleOwn) || r.See() == accessOf(ruleOrg)
}

// TakesFields reports whether a method has the fields as parameters.
func (r Resource) TakesFields() bool { return r.Has(methodCreate) || r.Has(methodUpdate) }

// Settable returns the fields of the struct Fields, which clients set, and ReadOnly those of the struct ReadOnly. Without a method
// that has parameters, Settable returns all fields: no input needs to be told apart.
func (r Resource) Settable() fieldList {
	return r.Fields.only(func(f Field) bool { return !f.IsFile() && (!f.ReadOnly || !r.TakesFields()) })
}
func (r Resource) ReadOnly() fieldList {
	return r.Fields.only(func(f Field) bool { return f.ReadOnly && r.TakesFields() })
}

// Uniques returns the fields with the modifier unique. Filtered, Searched and Titled do the same for filter, search and title;
// References returns the references.
func (r Resource) Uniques() fieldList  { return r.Fields.only(func(f Field) bool { return f.Unique }) }
func (r Resource) Filtered() fieldList { return r.Fields.only(func(f Field) bool { return f.Filter }) }
func (r Resource) Searched() fieldList { return r.Fields.only(func(f Field) bool { return f.Search }) }
func (r Resource) Titled() fieldList {
	return r.Fields.only(func(f Field) bool { return f.Title != "" })
}
func (r Resource) References() fieldList { return r.Fields.only(Field.IsRef) }

// Expandable returns the fields allowed in the expand parameter: the references and the owner.
func (r Resource) Expandable() fieldList {
	if !r.Owner {
		return r.References()
	}
	if r.Organization {
		return append(r.References(), Field{Name: "userId"}, Field{Name: "organizationId"})
	}
	return append(r.References(), Field{Name: "userId"})
}

// Sorted returns all fields to sort by.
func (r Resource) Sorted() fieldList {
	return append(r.Fields.only(func(f Field) bool { return f.Sort }), Field{Name: "createdAt"}, Field{Name: "updatedAt"})
}

// Indexes returns Go code for the indexes that the list does not need: for unique values, and to find referring records.
func (r Resource) Indexes() (out []string) {
	add := func(unique string, fields ...string) {
		out = append(out, `Fields: []string{"`+strings.Join(fields, `", "`)+`"}`+unique)
	}
	for _, f := range r.Uniques() {
		if r.PerOwner(f) {
			add(", Unique: true", r.uniqueWithin(), f.Name)
			continue
		}
		add(", Unique: true", f.Name)
	}
	if r.Under != "" {
		add("", r.UnderField(), "createdAt")
	}
	if r.Organization && !r.Has(methodList) { // the index of a list begins with organizationId too
		add("", "organizationId")
	}
	if r.Owner && r.OnUser != onKeep && !r.Has(methodList) { // the index of a list begins with userId too
		add("", "userId")
	}
	for _, f := range r.References() {
		if (!f.Unique || r.PerOwner(f)) && (!f.Filter || f.IsList()) {
			add("", f.Name)
		}
	}
	return out
}

// PerOwner reports whether a unique field is unique among the records of one owner or organization, or under one record of an
// organization: a conflict would otherwise reveal a record of another.
func (r Resource) PerOwner(f Field) bool {
	return f.Unique && f.Among == "" && (r.IsOwn() || r.Organization || r.OrgParent)
}

// uniqueWithin returns the first field of the index of a unique field for which PerOwner is true.
func (r Resource) uniqueWithin() string {
	switch {
	case r.OrgParent:
		return r.UnderField()
	case r.Organization:
		return "organizationId"
	}
	return "userId"
}

// uniqueNotes returns a line for each unique field of --own, which says among which records it is unique.
func (r Resource) uniqueNotes(fields fieldList) (lines string) {
	for _, f := range fields {
		switch {
		case r.PerOwner(f) && r.Organization:
			lines += fmt.Sprintf("%s is unique per organization: two organizations can have the same value. Declare unique=global to make it unique among all records.\n", f.Name)
		case r.PerOwner(f) && r.OrgParent:
			lines += fmt.Sprintf("%s is unique per %s: the records under two can have the same value. Declare unique=global to make it unique among all records.\n", f.Name, inWords(r.Under))
		case f.Unique && (r.Organization || r.OrgParent):
			lines += fmt.Sprintf("%s is unique among all records: a conflict shows a member that another organization has the value.\n", f.Name)
		case r.PerOwner(f):
			lines += fmt.Sprintf("%s is unique per owner: two users can have the same value. Declare unique=global to make it unique among all records.\n", f.Name)
		case f.Unique && r.IsOwn() && r.usersSend(f):
			lines += fmt.Sprintf("%s is unique among all records: a conflict shows a user that another user has the value.\n", f.Name)
		case f.Unique && r.IsOwn():
			lines += f.Name + " is unique among all records.\n"
		}
	}
	return lines
}

// usersSend reports whether callers other than admins can send a value of the field.
func (r Resource) usersSend(f Field) bool {
	return !f.ReadOnly && slices.ContainsFunc([]string{methodCreate, methodUpdate}, func(method string) bool {
		return r.Has(method) && strict[kindOf(r.Rules[method])] < strict[ruleAdmin]
	})
}

// ConflictText returns the description of a conflict of unique values.
func (r Resource) ConflictText() string {
	perOwner := r.Uniques().only(r.PerOwner)
	global := r.Uniques().only(func(f Field) bool { return !r.PerOwner(f) })
	var texts []string
	if global != nil {
		texts = append(texts, strings.Join(global.Names(), " or ")+" is in use")
	}
	if perOwner != nil {
		texts = append(texts, strings.Join(perOwner.Names(), " or ")+" is in use by another record of the "+
			map[string]string{"organizationId": "organization", "userId": "owner", r.UnderField(): inWords(r.Under)}[r.uniqueWithin()])
	}
	return strings.Join(texts, ", or ")
}

type fieldList []Field

func (l fieldList) only(keep func(Field) bool) (out fieldList) {
	for _, f := range l {
		if keep(f) {
			out = append(out, f)
		}
	}
	return out
}

// Names returns the names of the fields.
func (l fieldList) Names() []string {
	out := make([]string, len(l))
	for i, f := range l {
		out[i] = f.Name
	}
	return out
}

// Go returns the field's name in Go.
func (f Field) Go() string { return goName(f.Name) }

// FilterGo returns the declaration of the filter.
func (f Field) FilterGo() string {
	out := fmt.Sprintf("Field: %q, Type: listing.%s", f.Name, f.kind().filter)
	if f.Values != nil {
		out += `, Values: []string{"` + strings.Join(f.Values, `", "`) + `"}`
	}
	if f.IsList() {
		out += ", List: true"
	}
	return "{" + out + "}"
}

// Parameters returns the first parameters of a method of the service. Arguments returns the arguments that the controller passes
// for these parameters.
func (r Resource) Parameters() string {
	return r.callerAnd("caller access.Principal, ", r.UnderVariable()+" store.ID, ")
}
func (r Resource) Arguments() string { return r.callerAnd("rest.Caller(g), ", r.UnderVariable()+", ") }

func (r Resource) callerAnd(caller, parent string) string {
	if r.Under == "" {
		return caller
	}
	return caller + parent
}

// Input is the name of the type with the fields that create accepts.
func (r Resource) Input() string {
	if (r.Owner || r.Files() != nil) && r.Has(methodCreate) {
		return "CreateFields"
	}
	return "Fields"
}

// Users is the variable of the users who own records.
func (r Resource) Users() string { return r.TargetOf(Field{Target: "user"}).Collection() }

// Organizations is the variable of the organizations that records belong to.
func (r Resource) Organizations() string {
	return r.TargetOf(Field{Target: "organization"}).Collection()
}

// Records returns the service's expression for the collection or, if there is a parent, for the records under the parent.
func (r Resource) Records() string {
	if r.Under == "" {
		return r.Collection()
	}
	return r.Collection() + ".Under(" + r.UnderVariable() + ")"
}

// UnderField is the name in JSON of the field with the parent's ID. UnderVariable and UnderGo are the names in Go.
func (r Resource) UnderField() string    { return variableName(r.Under) + "Id" }
func (r Resource) UnderVariable() string { return variableName(r.Under) + "ID" }
func (r Resource) UnderGo() string       { return goName(r.Under) + "ID" }

// parameter returns the name of the path parameter with the record's ID. Gin allows only one parameter name per place in a path,
// and "id" is the parent's.
func (r Resource) parameter() string {
	if r.Under == "" {
		return "id"
	}
	return variableName(r.Name) + "Id"
}

// ID returns the controller's expression for the record's ID.
func (r Resource) ID() string {
	if r.Under == "" {
		return "rest.ID(g)"
	}
	return fmt.Sprintf("rest.PathID(g, %q)", r.parameter())
}

// firstParent is testkit.RecordID(0).
const firstParent = "000000000000000000000001"

// RouteOne and Route are the paths of a record and of the list in the router; DocOne and DocPath are these paths in the API
// document. Path is the path of the list in the tests, with the ID of the first parent.
func (r Resource) RouteOne() string { return r.Route() + "/:" + r.parameter() }
func (r Resource) DocPath() string  { return strings.ReplaceAll(r.Route(), ":id", "{id}") }
func (r Resource) DocOne() string   { return r.DocPath() + "/{" + r.parameter() + "}" }
func (r Resource) Path() string     { return strings.ReplaceAll(r.Route(), ":id", firstParent) }
func (r Resource) Route() string {
	if above := r.Above(); above != nil {
		return above.Route() + "/:id/" + r.Plural
	}
	return "/" + r.Plural
}
