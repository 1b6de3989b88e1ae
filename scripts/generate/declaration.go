package main

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"

	"example.com/ginseng/scripts/internal/naming"
	"example.com/ginseng/scripts/internal/registry"
)

// runtime is the import path of the runtime, in every project.
const runtime = "example.com/ginseng"

// Methods of a resource, in the order of its routes.
const (
	methodCreate = "create"
	methodList   = "list"
	methodShow   = "show"
	methodUpdate = "update"
	methodDelete = "delete"
)

// The rule of a method says which callers may call the method.
const (
	rulePublic = "public" // everyone
	ruleUser   = "user"   // users
	ruleOwn    = "own"    // users, for their own records, and admins
	ruleOrg    = "org"    // members of the organization; with roles, such as org=admin,editor, those with one of them or above
	ruleRole   = "role"   // users with one of the listed roles, such as role=practitioner,reception, and admins
	ruleAdmin  = "admin"  // admins
	ruleMaster = "master" // callers with the master key
)

var (
	methods = []string{methodCreate, methodList, methodShow, methodUpdate, methodDelete}
	rules   = []string{ruleMaster, ruleAdmin, ruleRole, ruleOwn, ruleUser, rulePublic} // with a flag, strictest first; ruleOrg comes from --own organization
)

const (
	maxFields = 100 // of a resource
	maxName   = 50  // characters in the name of a resource or field
)

// Resource is a declared resource.
type Resource struct {
	Module  string // the import path of the project
	Name    string // kebab-case
	Plural  string // kebab-case
	Doc     string // describes the resource; "" is no description
	Fields  fieldList
	Rules   map[string]string // by method; the resource has no method without a rule
	Server  bool              // no route creates records, only code of the project
	Changes bool              // changes of records are recorded
	Owner   bool              // records have a user as their owner, who creates them
	OnUser  string            // what the deletion of the owner does to a record; "" if records have no owner
	HasUser bool              // the project has users
	// Organization reports whether records belong to organizations. UserID is then the user who created the record.
	Organization bool
	OrgParent    bool   // the records are under records of organizations
	Under        string // name of the parent resource of --under; "" if there is none
	// OwnWrites reports whether flags say who may write records under a parent. If it is false, callers that may change the
	// parent may write the records.
	OwnWrites bool
	Roles     []string // roles of the project; only set for the resource user
	Migrated  bool     // Parts has the migrations of migrations.go
	Targets   []Target // the parent, and the resources that fields refer to; set by project.resolve
	Variable  string   // the variable of the module in the registry, set by project.resolve; "" is the plural
}

var kebabCase = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// declare returns the resource that the command line declares, and adds every mistake to wrong. If --own and --role are combined, it
// does not check the rules and what depends on them, because messages would repeat and contradict that mistake.
func declare(c call, module string, hasUser bool, wrong *mistakes) Resource {
	*wrong = append(*wrong, c.wrong...)
	r := Resource{Module: module, Name: c.args[0], Plural: c.plural, Doc: c.doc, Rules: map[string]string{}, Server: c.has("create"), HasUser: hasUser, Organization: c.organization}
	checkName(r.Name, wrong)
	switch {
	case !c.has("plural"):
		r.Plural = plural(r.Name)
	case !kebabCase.MatchString(r.Plural):
		wrong.Add("flag --plural: %s is not in kebab-case; write %s", quote(r.Plural), naming.Kebab(r.Plural, plural(r.Name)))
	case token.IsKeyword(r.Plural):
		wrong.Add("flag --plural: %s is a Go keyword; choose another word", r.Plural)
	}
	checkDoc(r.Doc, func(format string, args ...any) { wrong.Add("flag --"+format, args...) })
	r.Fields = parseFields(c.args[1:], wrong)
	if c.rules[ruleOwn] != nil && c.rules[ruleRole] != nil {
		wrong.Add("flag --role: excludes --own, with which only the owner and admins see a record; omit --role, and write resource.OwnOr(%s) instead of resource.Own in module.go, "+
			"so that users with the role see and change all records", roleConstants(c.roleNames()))
		return r
	}
	r.Owner = r.Organization || r.Server && (c.owner || c.rules[ruleOwn] != nil) && !c.noOwner
	r.declareRules(c, wrong)
	r.declareOwner(c, wrong)
	r.declareOwn(c, wrong)
	r.declareOrganization(c, wrong)
	r.declareUnder(c, wrong)
	if r.Plural == "changes" && r.Under == "" {
		wrong.Add("name %s: /changes is the path of the log of changes; choose another name, or another word with --plural", quote(r.Name))
	}
	if r.Changes = c.feed; c.feed && !r.Has(methodList) {
		wrong.Add("flag --changes: needs the method list, whose callers may read the changes")
	}
	for _, f := range r.Fields {
		if !r.Has(methodList) && (f.Search || f.Sort || f.Filter) {
			wrong.Add("field %s: search, sort and filter need the method list", f.Name)
		}
	}
	r.checkReadOnly(wrong)
	if titled := r.Titled(); len(titled) > 1 {
		wrong.Add("fields %s: only one field can have title=true", strings.Join(titled.Names(), " and "))
	}
	return r
}

// reserved has the names that no module can have, with the reason.
var reserved = map[string]string{
	"init": "is reserved in Go", "main": "is reserved in Go", "internal": "is a special directory in Go",
	"vendor": "is a special directory in Go", "testdata": "is a special directory in Go", "docs": "is a directory that swag ignores",
}

// windowsDevice matches names that Windows does not allow for directories.
var windowsDevice = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com\d|lpt\d)$`)

// declared are the kebab-case names of the types that every module declares.
var declared = []string{"module", "service", "view", "controller", "fields", "create-fields"}

// imported are the packages that the templates import.
var imported = []string{
	"access", "apitest", "apperr", "context", "files", "gin", "kit", "listing", "resource", "rest", "route", "store", "testing", "testkit", "time",
}

// checkName reports why the name of a resource is invalid.
func checkName(name string, wrong *mistakes) {
	bad := func(reason string) { wrong.Add("name %s: %s", quote(name), reason) }
	pkg := packageName(name)
	switch reason := reserved[name]; {
	case reason != "":
		bad(reason + "; choose another name")
	case windowsDevice.MatchString(name):
		bad("is a device name on Windows; choose another name")
	case !kebabCase.MatchString(name):
		bad("is not in kebab-case; write " + naming.Kebab(name, "blog-post"))
	case len(name) > maxName:
		bad(fmt.Sprintf("has more than %d characters; choose a shorter name", maxName))
	case slices.Contains(declared, name):
		bad("is a type of every module; choose another name")
	case token.IsKeyword(pkg):
		bad("is a Go keyword; choose another name")
	case types.Universe.Lookup(pkg) != nil:
		bad("is predeclared in Go; choose another name")
	case slices.Contains(imported, pkg):
		bad("is a package that every module imports; choose another name")
	}
}

// defaultRule returns the rule that a method has if no flag sets its rule. If no route creates records
// and they have no owner, only admins can update and delete them.
func (r Resource) defaultRule(method string) string {
	switch {
	case r.Organization:
		return ruleOrg
	case method == methodList || method == methodShow:
		return rulePublic
	case r.HasUser && r.Server && !r.Owner:
		return ruleAdmin
	case r.HasUser:
		return ruleUser
	}
	return ruleMaster
}

func (r Resource) declareRules(c call, wrong *mistakes) {
	chosen := methods
	if c.has("methods") && len(c.wrong) == 0 {
		if chosen = c.methods; chosen == nil {
			wrong.Add("flag --methods: name at least one of %s", strings.Join(methods, ", "))
		}
	}
	if r.Server && c.create != "server" {
		wrong.Add("flag --create: %s is unknown; write --create server, or say who may create with --user create", quote(c.create))
	} else if r.Server && slices.Contains(c.methods, methodCreate) {
		wrong.Add("flag --create: server excludes create in --methods")
	}
	for _, method := range chosen {
		if !r.Server || method != methodCreate {
			r.Rules[method] = r.defaultRule(method)
		}
	}
	flags := map[string]string{} // by method
	for _, rule := range rules {
		for _, method := range c.rules[rule] {
			switch {
			case flags[method] != "":
				wrong.Add("flag --%s: %s is also given to --%s", rule, method, flags[method])
			case r.Server && method == methodCreate:
				wrong.Add("flag --%s: create has no route with --create server", rule)
			case r.Rules[method] == "":
				wrong.Add("flag --%s: --methods does not have %s", rule, method)
			case rule == ruleOwn && method != methodList && method != methodShow:
				wrong.Add("flag --own: is for list and show; others may not %s a record that they cannot see", method)
			case !r.HasUser && rule != ruleMaster && rule != rulePublic:
				wrong.Add("flag --%s: the project has no users; use --master or --public", rule)
			case rule == ruleRole && r.Organization:
				r.Rules[method] = ruleOrg + "=" + strings.Join(c.orgRoles(method), ",")
			case rule == ruleRole:
				r.Rules[method] = ruleOfRoles(c.roles[method])
			default:
				r.Rules[method] = rule
			}
			flags[method] = rule
		}
	}
}

// Declaration returns the arguments that declare the resource, in canonical form: only with flags that differ from their default.
func (r Resource) Declaration() []string {
	out := []string{r.Name}
	for _, f := range r.Fields {
		out = append(out, f.String())
	}
	if r.Plural != plural(r.Name) {
		out = append(out, "--plural", r.Plural)
	}
	if r.Doc != "" {
		out = append(out, "--doc", r.Doc)
	}
	all := len(methods)
	if r.Server {
		all--
	}
	if chosen := r.Methods(); len(chosen) < all {
		out = append(out, "--methods", strings.Join(chosen, ","))
	}
	if r.Server {
		out = append(out, "--create", "server")
	}
	if r.Changes {
		out = append(out, "--changes")
	}
	if r.Under != "" {
		out = append(out, "--under", r.Under)
	}
	if r.Organization {
		out = append(out, "--own", "organization")
	}
	named := func(flag, prefix string, is func(rule string) bool) {
		chosen := slices.DeleteFunc(r.Methods(), func(m string) bool { return !is(r.Rules[m]) || r.isDefault(m) })
		if len(chosen) > 0 {
			out = append(out, "--"+flag, prefix+strings.Join(chosen, ","))
		}
	}
	for _, rule := range rules {
		named(rule, "", func(r string) bool { return r == rule })
		if rule == ruleRole {
			for _, role := range r.OrgRoles() {
				named(rule, orgPrefix+role+"=", func(r string) bool { return slices.Contains(orgRolesOf(r), role) })
			}
			for _, role := range r.UsedRoles() {
				named(rule, role+"=", func(r string) bool { return slices.Contains(rolesOf(r), role) })
			}
		}
	}
	switch {
	case r.AsParent(), r.Organization:
	case r.Rules[methodCreate] == ruleUser && !r.Owner:
		out = append(out, "--no-owner")
	case r.Owner:
		if r.Server && !r.HasRule(ruleOwn) {
			out = append(out, "--owner")
		}
		if r.OnUser != r.defaultOnUser() {
			out = append(out, "--on-user-delete", r.OnUser)
		}
	}
	return out
}

// isDefault reports whether a method would have its rule without a flag, in a project with users.
func (r Resource) isDefault(method string) bool {
	switch {
	case r.AsParent(), r.Under != "" && !slices.Contains(writeMethods, method):
		return true
	case r.Under != "":
		return false
	}
	return Resource{HasUser: true, Server: r.Server, Owner: r.Owner, Organization: r.Organization}.defaultRule(method) == r.Rules[method]
}

// AsParent reports whether the resource has a parent, and may be written by the callers that may change the parent.
func (r Resource) AsParent() bool { return r.Under != "" && !r.OwnWrites }

// Methods returns the methods of the resource, in the order of the routes.
func (r Resource) Methods() []string {
	return slices.DeleteFunc(slices.Clone(methods), func(m string) bool { return !r.Has(m) })
}

// Describes reports whether the annotations of a method have the description of the resource. Only the annotations of the first
// method have the description.
func (r Resource) Describes(method string) bool { return r.Doc != "" && r.Methods()[0] == method }

// Has reports whether the resource has the method.
func (r Resource) Has(method string) bool { return r.Rules[method] != "" }

// Directive returns the go:generate line with the declaration.
func (r Resource) Directive() string { return registry.Directive(r.Declaration()) }

// ProfileDirective returns the go:generate line with the name and the fields.
func (r Resource) ProfileDirective() string {
	args := []string{r.Name}
	for _, f := range r.Fields {
		args = append(args, f.String())
	}
	return registry.Directive(args)
}

// entry returns the module's entry in the registry.
func (r Resource) entry() registry.Module {
	variable := variableName(r.Plural)
	if variable == r.Package() {
		variable += "Module"
	}
	variable = cmp.Or(r.Variable, variable)
	call := r.Package() + ".New(d"
	for _, t := range r.Targets {
		call += ", " + t.Registered
	}
	return registry.Module{
		Import: path.Join(r.Module, "modules", r.Name), Package: r.Package(), Variable: variable, Call: call + ")",
	}
}
