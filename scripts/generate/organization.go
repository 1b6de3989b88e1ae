package main

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"example.com/ginseng/scripts/internal/naming"
	"example.com/ginseng/scripts/internal/registry"
)

const (
	orgRolesFile   = "modules/organization/roles.go"
	orgProfileFile = "modules/organization/profile.go"
	// orgPrefix is the prefix of roles in an organization in --role.
	orgPrefix = "org:"
)

// standardOrgRoles are the roles in an organization of every project, the highest first.
var standardOrgRoles = []string{"owner", "admin", "member"}

// orgRolesOf returns the roles of a rule such as org=admin,editor; nil if the rule is for all members, or not for members.
func orgRolesOf(rule string) []string {
	if names, ok := strings.CutPrefix(rule, ruleOrg+"="); ok {
		return strings.Split(names, ",")
	}
	return nil
}

// OrgRoles returns the roles in organizations in the rules of the resource.
func (r Resource) OrgRoles() (out []string) {
	if !r.Organization {
		return nil
	}
	for _, method := range r.Methods() {
		out = append(out, orgRolesOf(r.Rules[method])...)
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// Narrowed returns the methods that only some roles in the organization may call.
func (r Resource) Narrowed() []string {
	return slices.DeleteFunc(r.Methods(), func(m string) bool { return !r.Organization || orgRolesOf(r.Rules[m]) == nil })
}

// OrgRolesAndAbove returns the Go constants of the roles in the organization that may call a method: the given ones and those above.
func (r Resource) OrgRolesAndAbove(method string) string {
	named := orgRolesOf(r.Rules[method])
	var out []string
	for _, role := range append(slices.Clone(named), "admin", "owner") {
		if above := role == "admin" && slices.Equal(named, []string{"owner"}); !above && !slices.Contains(out, `"`+role+`"`) {
			out = append(out, `"`+role+`"`)
		}
	}
	return strings.Join(out, ", ")
}

// HidesOrganization reports whether only members see the records.
func (r Resource) HidesOrganization() bool {
	return r.Organization && kindOf(cmp.Or(r.Rules[methodList], r.Rules[methodShow])) == ruleOrg
}

// OrgForbidden reports whether a method rejects some users who see the record with 403, because of the organization.
func (r Resource) OrgForbidden(method string) bool {
	narrowed := slices.Contains(r.Narrowed(), method)
	return narrowed || r.Organization && kindOf(r.Rules[method]) == ruleOrg && method != methodCreate && !r.HidesOrganization()
}

// orgRoles returns the roles in the organization that --role gives to a method.
func (c *call) orgRoles(method string) []string {
	var out []string
	for _, role := range c.roles[method] {
		out = append(out, strings.TrimPrefix(role, orgPrefix))
	}
	slices.Sort(out)
	return out
}

// declareOrganization checks the flags of records that belong to organizations.
func (r *Resource) declareOrganization(c call, wrong *mistakes) {
	for _, role := range c.roleNames() {
		if strings.HasPrefix(role, orgPrefix) && !r.Organization {
			wrong.Add("flag --role: %s is a role in an organization; add --own organization", role)
		}
	}
	if !r.Organization {
		return
	}
	for _, flag := range []string{"owner", "no-owner", "on-user-delete", "under"} {
		if c.has(flag) {
			why := map[string]string{
				"under": "the records under a parent belong to the organization of the parent", "owner": "the organization owns the records",
			}[flag]
			wrong.Add("flag --%s: excludes --own organization; %s", flag, cmp.Or(why, "userId is the user who created the record, and stays"))
		}
	}
	for _, method := range r.Methods() {
		reads, rule := method == methodList || method == methodShow, r.Rules[method]
		switch {
		case rule == ruleUser, rule == rulePublic && !reads, rule == ruleOwn:
			wrong.Add("flag --%s: %s is for members with --own organization; omit the flag", rule, method)
		case slices.Contains(orgRolesOf(rule), "member"):
			wrong.Add("flag --role: org:member is every member, who may call %s without the flag; omit it", method)
		case orgRolesOf(rule) != nil && reads:
			wrong.Add("flag --role: %s is for all members; name create, update or delete", method)
		}
	}
	if r.Has(methodList) && r.Has(methodShow) && (r.Rules[methodList] == rulePublic) != (r.Rules[methodShow] == rulePublic) {
		wrong.Add("flag --public: with --own organization, list and show are for the same callers; write --public list,show, or omit it")
	}
	for _, role := range c.roleNames() {
		if !strings.HasPrefix(role, orgPrefix) {
			wrong.Add("flag --role: %s is a role of the service; with --own organization, write org:%s for the role in the organization", role, role)
		}
	}
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, "organizationId") || strings.EqualFold(f.Name, "inOrganization") {
			wrong.Add("field %s: is a field of every record of an organization; choose another name", f.Name)
		}
	}
}

// hasOrganization reports whether the project has the component organization.
func (p *project) hasOrganization() bool { return slices.Contains(p.modules, "organization") }

// orgRoles returns the roles in organizations that the project declares.
func (p *project) orgRoles() []string {
	source, err := os.ReadFile(p.path(orgRolesFile))
	if err != nil {
		return nil
	}
	c, err := parseArguments(registry.ReadDirective(string(source)))
	if err != nil {
		return nil
	}
	return c.projectRoles
}

// checkOrgRoles reports roles of a resource that organizations do not have.
func (p *project) checkOrgRoles(r Resource, wrong *mistakes) {
	known := append(slices.Clone(standardOrgRoles), p.orgRoles()...)
	for _, role := range r.OrgRoles() {
		if !slices.Contains(known, role) && p.hasOrganization() {
			wrong.Add("flag --role: organizations have no role %s; %s. Declare it with: generate organization --roles %s", quote(role), naming.Suggest(role, known), role)
		}
	}
}

// checkProjectOrgRoles reports invalid values of --roles of organizations, and roles that a resource uses but that are missing.
func (p *project) checkProjectOrgRoles(roles []string, wrong *mistakes) {
	for i, role := range roles {
		switch {
		case !kebabCase.MatchString(role):
			wrong.Add("flag --roles: %s is not in kebab-case; write %s", quote(role), naming.Kebab(role, "editor"))
		case len(role) > maxName:
			wrong.Add("flag --roles: %s has more than %d characters; choose a shorter name", role, maxName)
		case slices.Contains(standardOrgRoles, role):
			wrong.Add("flag --roles: %s is a role of every organization; omit it", role)
		case slices.Contains(roles[:i], role):
			wrong.Add("flag --roles: %s is given twice", role)
		}
	}
	for _, module := range p.modules {
		r, err := p.declared(module)
		if err != nil {
			continue // not generated
		}
		for _, role := range r.OrgRoles() {
			if !slices.Contains(roles, role) && !slices.Contains(standardOrgRoles, role) {
				wrong.Add("flag --roles: modules/%s uses the role %s; keep it, or remove the resource first", module, role)
			}
		}
	}
}

// AllOrgRoles returns the roles that a member can have, the highest first.
func (r Resource) AllOrgRoles() []string {
	return slices.Concat([]string{"owner", "admin"}, r.Roles, []string{"member"})
}
