package main

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"example.com/ginseng/scripts/internal/naming"
	"example.com/ginseng/scripts/internal/registry"
)

// The rule of a reference says what happens when the record that it refers to is deleted.
const (
	onRestrict = "restrict" // the deletion is rejected
	onCascade  = "cascade"  // the referring records are deleted
	onClear    = "clear"    // the reference is removed
	onKeep     = "keep"     // the reference keeps the ID; only for the owner
)

// IsRef reports whether the field refers to records.
func (f Field) IsRef() bool { return f.Target != "" }

// checkOnDelete reports a rule that the field cannot have, and sets the default. The default of an optional reference to user is
// clear, because restrict would prevent users from deleting their account. A required reference to user must have a rule. The
// default of other references is restrict, which is stored as "".
func (f *Field) checkOnDelete(bad func(string, ...any)) {
	switch {
	case f.OnDelete == "" && f.Target == "user" && f.Required && f.IsList():
		bad("a required list of users must have a rule; write onDelete=restrict, which rejects the deletion of the user, or leave out required")
	case f.OnDelete == "" && f.Target == "user" && f.Required:
		bad("a required reference to user must have a rule; write onDelete=cascade to delete the record with the user, or onDelete=restrict to reject the deletion of the user")
	case f.OnDelete == "" && f.Target == "user":
		f.OnDelete = onClear
	case f.OnDelete == "":
	case !f.IsRef():
		bad("onDelete is only for references")
	case !slices.Contains([]string{onRestrict, onCascade, onClear}, f.OnDelete):
		bad("onDelete=%s is unknown; %s", f.OnDelete, naming.Suggest(f.OnDelete, []string{onRestrict, onCascade, onClear}))
	case f.OnDelete == onClear && f.Required:
		bad("onDelete=clear excludes required; write restrict or cascade")
	case f.OnDelete == onCascade && f.IsList():
		bad("onDelete=cascade is not possible for a list; write restrict or clear")
	case f.OnDelete == onRestrict && f.Target != "user":
		f.OnDelete = ""
	}
}

// Rule returns the constant of package resource for the rule of a reference.
func (f Field) Rule() string { return goName(cmp.Or(f.OnDelete, onRestrict)) }

// TargetOf returns the resource that a field refers to.
func (r Resource) TargetOf(f Field) Target {
	for _, t := range r.Targets {
		if t.Name == f.Target {
			return t
		}
	}
	return Target{Resource: r, Registered: "self"}
}

// Target is a resource that another resource refers to, or is under.
type Target struct {
	Resource
	Registered string // the module's variable in modules.go
	Parent     bool   // the records are under this resource
	IsOwner    bool   // records refer to this resource only by their owner
}

// OwnerRule returns the constant of package resource for r.OnUser.
func (r Resource) OwnerRule() string { return goName(r.OnUser) }

// HasClearedOwner reports whether a record can lose its owner.
func (r Resource) HasClearedOwner() bool { return r.OnUser == onClear }

// target returns the resource that a reference or --under names.
func (p *project) target(name string) (Resource, error) {
	switch name {
	case "user":
	case "organization":
		return Resource{
			Module: p.module, Name: name, Plural: "organizations", HasUser: true, Fields: fieldList{{Name: "name", Type: typeString, Required: true}},
			Rules: map[string]string{methodShow: ruleOrg},
		}, nil
	default:
		return p.declared(name)
	}
	return Resource{
		Module: p.module, Name: "user", Plural: "users", HasUser: true,
		Fields: fieldList{{Name: "email", Type: typeEmail, Unique: true, Required: true}},
		Rules:  map[string]string{methodShow: rulePublic, methodDelete: ruleAdmin},
	}, nil
}

// isTarget reports whether a ref or --under can name the module.
func (p *project) isTarget(name string) bool {
	source, err := os.ReadFile(p.path("modules/" + name + "/module.go"))
	return err == nil && (strings.Contains(string(source), "resource.Target") || strings.Contains(string(source), "resource.Parent"))
}

// resolve sets r.Targets and r.Variable, and adds every mistake to wrong. modules is nil if the registry is invalid.
func (p *project) resolve(r *Resource, modules *registry.Registry, wrong *mistakes) {
	r.Targets = nil
	if modules != nil {
		if r.Variable = r.registered(modules); r.Variable == "" && modules.Names()[r.entry().Variable] {
			r.Variable = r.entry().Variable + "Module" // another module has the variable
		}
	}
	if r.Under != "" {
		p.addTarget(r, "flag --under", r.Under, modules, wrong)
	}
	for _, f := range r.Fields {
		if f.IsRef() && f.Target != r.Name {
			p.addTarget(r, "field "+quote(f.Name), f.Target, modules, wrong)
		}
	}
	if r.Organization && !p.hasOrganization() {
		wrong.Add("flag --own: the project has no organizations; add them with: go tool new add organization")
		return
	}
	n := len(r.Targets)
	if r.Organization {
		p.addTarget(r, "flag --own", "organization", modules, wrong)
	}
	if r.Owner {
		p.addTarget(r, "flag --owner", "user", modules, wrong)
	}
	for i := n; i < len(r.Targets); i++ {
		r.Targets[i].IsOwner = true
	}
	p.checkFiles(*r, wrong)
}

// registered returns the variable of the module in the registry; "" if the registry does not have the module.
func (r Resource) registered(modules *registry.Registry) string {
	for _, m := range modules.Modules() {
		if m.Import == r.entry().Import {
			return m.Variable
		}
	}
	return ""
}

// addTarget adds the resource with the name to r.Targets. where is the flag or field with the name, for mistakes.
func (p *project) addTarget(r *Resource, where, name string, modules *registry.Registry, wrong *mistakes) {
	if slices.ContainsFunc(r.Targets, func(t Target) bool { return t.Name == name }) {
		return
	}
	if !slices.Contains(p.resources, name) {
		wrong.Add("%s: unknown resource %s; %s", where, quote(name), naming.Suggest(name, p.resources))
		return
	}
	target, err := p.target(name)
	if err != nil {
		wrong.Add("%s: %v", where, err)
		return
	}
	t := Target{Resource: target, Parent: name == r.Under}
	if parent, err := p.target(target.Under); err == nil && target.Under != "" {
		t.Targets = []Target{{Resource: parent, Registered: "its parent", Parent: true}}
	}
	if modules == nil {
		t.Registered = target.entry().Variable
	} else if t.Registered = target.registered(modules); t.Registered == "" {
		wrong.Add("%s: %s does not create %s", where, registry.Path, name)
	}
	switch {
	case target.seeRule() == "":
		wrong.Add("%s: no caller can read %s; they have neither show nor list", where, target.Many())
	case !t.Parent && mayNotSee(r.Rules[methodCreate], target.seeRule()):
		wrong.Add("%s: --%s may create %s, and cannot see %s, so that every reference is unknown; let them see %s, or let others create",
			where, kindOf(r.Rules[methodCreate]), r.Many(), target.Many(), target.Many())
	case t.Parent && r.OwnWrites && r.writesUnseen(target) != "":
		method := r.writesUnseen(target)
		wrong.Add("flag --%s: these callers may %s %s, and cannot see %s; choose another flag", kindOf(r.Rules[method]), method, r.Many(), target.Many())
	case t.Parent && name == "user":
		wrong.Add("%s: records of users have an owner: omit the flag", where)
	case t.Parent && target.Under != "":
		wrong.Add("%s: %s is under %s; more than two levels are not possible", where, name, target.Under)
	case p.refersTo(target, r.Name):
		wrong.Add("%s: %s refers to %s already, and a cycle is not possible", where, name, r.Name)
	}
	if t.Parent {
		r.nest(target)
		r.checkParentFiles(target, wrong)
	}
	r.Targets = append(r.Targets, t)
}

// writesUnseen returns a method with which callers who cannot see the parent may write records; "" if there is none.
func (r Resource) writesUnseen(parent Resource) string {
	for _, method := range writeMethods {
		if mayNotSee(r.Rules[method], parent.seeRule()) {
			return method
		}
	}
	return ""
}

// mayNotSee reports whether the rule caller allows callers that the rule see rejects. The master key may read all records.
func mayNotSee(caller, see string) bool {
	roles := rolesOf(caller)
	switch {
	case roles != nil && see == ruleOwn: // the records of others
		return true
	case roles != nil && rolesOf(see) != nil:
		return slices.ContainsFunc(roles, func(role string) bool { return !slices.Contains(rolesOf(see), role) })
	}
	least := map[string]int{rulePublic: 0, ruleOwn: 1, ruleOrg: 1, ruleUser: 1, ruleRole: 2, ruleAdmin: 3, ruleMaster: 4}
	return caller != "" && caller != ruleMaster && least[kindOf(see)] > least[kindOf(caller)]
}

// refersTo reports whether r refers to the resource with the name, directly or through other resources.
func (p *project) refersTo(r Resource, name string) bool {
	for _, target := range r.targetNames() {
		if target == name && target != r.Name {
			return true
		}
		if target == r.Name || target == "user" {
			continue
		}
		if next, err := p.declared(target); err == nil && p.refersTo(next, name) {
			return true
		}
	}
	return false
}

// targetNames returns the names of the resources that r refers to, or is under.
func (r Resource) targetNames() (out []string) {
	if r.Under != "" {
		out = append(out, r.Under)
	}
	for _, f := range r.Fields {
		if f.IsRef() {
			out = append(out, f.Target)
		}
	}
	return out
}

// referrers returns the resources that refer to the resource with the name, or are under it.
func (p *project) referrers(name string) (out []string) {
	for _, module := range p.modules {
		if r, err := p.declared(module); err == nil && module != name && slices.Contains(r.targetNames(), name) {
			out = append(out, module)
		}
	}
	return out
}

// nest sets the rules of a resource under a parent. Callers that may read the parent may read the records. Callers that may
// change the parent may write the records, unless flags set other callers.
func (r *Resource) nest(parent Resource) {
	r.OrgParent = parent.Organization
	write := parent.Rules[parent.firstOf(changeMethods)]
	for _, method := range r.Methods() {
		if !slices.Contains(writeMethods, method) {
			r.Rules[method] = parent.seeRule()
		} else if !r.OwnWrites {
			r.Rules[method] = write
		}
	}
}

// seeRule returns the rule of the method that reads records; "" if there is none.
func (r Resource) seeRule() string { return cmp.Or(r.Rules[methodShow], r.Rules[methodList]) }

// See returns Go code for the callers that can read, refer to, expand or change records.
func (r Resource) See() string {
	if r.Under != "" {
		return "nil"
	}
	return accessOf(r.weakest(methodShow, methodList, methodUpdate, methodDelete))
}

// changeMethods are methods in order of preference. The rule of the first of these methods that a parent has is the default rule
// for writing records under the parent.
var changeMethods = []string{methodUpdate, methodDelete, methodCreate}

// Change returns Go code for the callers that can update or delete records, and write the records under them. If a route allows
// fewer callers, its middleware rejects the others.
func (r Resource) Change() string {
	switch {
	case r.AsParent():
		return "nil"
	case !r.Has(methodUpdate) && !r.Has(methodDelete):
		return accessOf(r.weakest(methodCreate))
	}
	return accessOf(r.weakest(methodUpdate, methodDelete))
}

// strict orders the rules: a rule with a greater number allows fewer callers.
var strict = map[string]int{rulePublic: 0, ruleUser: 1, ruleOwn: 2, ruleOrg: 2, ruleRole: 3, ruleAdmin: 4, ruleMaster: 5}

// weakest returns the rule of the given methods that allows the most callers. It combines the roles of rules for roles. If the
// resource has none of the methods, weakest returns ruleMaster.
func (r Resource) weakest(methods ...string) string {
	weakest := ruleMaster
	for _, method := range methods {
		rule := r.Rules[method]
		if r.OwnerOnly(method) {
			rule = ruleOwn
		}
		switch {
		case !r.Has(method):
		case rolesOf(rule) != nil && rolesOf(weakest) != nil:
			weakest = ruleOfRoles(slices.Concat(rolesOf(weakest), rolesOf(rule)))
		case strict[kindOf(rule)] < strict[kindOf(weakest)]:
			weakest = rule
		}
	}
	return weakest
}

// firstOf returns the first method that the resource has, or "".
func (r Resource) firstOf(methods []string) string {
	i := slices.IndexFunc(methods, r.Has)
	if i < 0 {
		return ""
	}
	return methods[i]
}

// IsSelf reports whether records can refer to records of the same resource.
func (r Resource) IsSelf() bool { return slices.Contains(r.targetNames(), r.Name) }

// Above returns the parent resource; nil if there is none.
func (r Resource) Above() *Target {
	if r.Under == "" || len(r.Targets) == 0 {
		return nil
	}
	return &r.Targets[0]
}
