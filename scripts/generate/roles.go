package main

import (
	"maps"
	"os"
	"slices"
	"strings"

	"example.com/ginseng/scripts/internal/naming"
	"example.com/ginseng/scripts/internal/registry"
)

const rolesFile = "modules/user/roles.go"

// ruleOfRoles returns the rule for users with one of the roles, such as "role=practitioner,reception".
func ruleOfRoles(roles []string) string {
	return ruleRole + "=" + strings.Join(slices.Compact(slices.Sorted(slices.Values(roles))), ",")
}

// rolesOf returns the roles of a rule, or nil if the rule is not for roles.
func rolesOf(rule string) []string {
	if names, ok := strings.CutPrefix(rule, ruleRole+"="); ok {
		return strings.Split(names, ",")
	}
	return nil
}

// kindOf returns the rule without its roles.
func kindOf(rule string) string {
	kind, _, _ := strings.Cut(rule, "=")
	return kind
}

// roleConstants returns the Go constants of roles, separated by commas.
func roleConstants(roles []string) string {
	out := make([]string, len(roles))
	for i, role := range roles {
		out[i] = "user." + roleConstant(role)
	}
	return strings.Join(out, ", ")
}

// roleConstant returns the name of a role's Go constant in package user.
func roleConstant(role string) string { return "Role" + goName(role) }

// UsedRoles returns the roles in the rules of the resource.
func (r Resource) UsedRoles() []string {
	var out []string
	for _, method := range r.Methods() {
		out = append(out, rolesOf(r.Rules[method])...)
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// AllRoles returns the roles that a user of the project can have.
func (r Resource) AllRoles() []string { return append([]string{"user", "admin"}, r.Roles...) }

// RolesDirective returns the go:generate line with the roles of the project.
func (r Resource) RolesDirective() string {
	args := []string{r.Name}
	if len(r.Roles) > 0 {
		args = append(args, "--roles", strings.Join(r.Roles, ","))
	}
	return registry.Directive(args)
}

// parseRoles reads the values of --role, such as reception=create,update.
func (c *call) parseRoles(values []string) {
	c.roles = map[string][]string{}
	for _, value := range values {
		role, list, ok := strings.Cut(value, "=")
		if role = strings.TrimSpace(role); !ok || role == "" {
			c.wrong.Add("flag --role: write ROLE=METHODS, such as reception=create,update")
			continue
		}
		for _, method := range parseMethods(ruleRole, []string{list}, &c.wrong) {
			if slices.Contains(c.roles[method], role) {
				c.wrong.Add("flag --role: %s is given twice to %s", method, quote(role))
			}
			c.roles[method] = append(c.roles[method], role)
		}
	}
	for _, method := range methods {
		if c.roles[method] != nil {
			c.rules[ruleRole] = append(c.rules[ruleRole], method)
		}
	}
}

// roleNames returns the roles of --role, sorted.
func (c *call) roleNames() []string {
	names := slices.Concat(slices.Collect(maps.Values(c.roles))...)
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// roles returns the roles that roles.go of the project declares.
func (p *project) roles() []string {
	source, err := os.ReadFile(p.path(rolesFile))
	if err != nil {
		return nil
	}
	c, err := parseArguments(registry.ReadDirective(string(source)))
	if err != nil {
		return nil
	}
	return c.projectRoles
}

// checkRoles reports roles of a resource that the project does not have.
func (p *project) checkRoles(r Resource, wrong *mistakes) {
	roles := p.roles()
	for _, role := range r.UsedRoles() {
		switch {
		case slices.Contains(roles, role) || !r.HasUser:
		case role == ruleUser || role == ruleAdmin:
			wrong.Add("flag --role: %s is a role of every project; use --%s", role, role)
		case len(roles) == 0:
			wrong.Add("flag --role: unknown role %s; the project has none. Declare it with: generate user --roles ROLE,ROLE", quote(role))
		default:
			wrong.Add("flag --role: unknown role %s; %s", quote(role), naming.Suggest(role, roles))
		}
	}
}

// reservedRoles are names that no role can have, because they name other callers.
var reservedRoles = []string{"user", "admin", "owner", "nobody", "master"}

// checkProjectRoles reports invalid values of --roles. It also reports roles that rules of a resource use, but that are missing
// in --roles.
func (p *project) checkProjectRoles(roles []string, wrong *mistakes) {
	for i, role := range roles {
		switch {
		case !kebabCase.MatchString(role):
			wrong.Add("flag --roles: %s is not in kebab-case; write %s", quote(role), naming.Kebab(role, "reception"))
		case len(role) > maxName:
			wrong.Add("flag --roles: %s has more than %d characters; choose a shorter name", role, maxName)
		case slices.Contains(reservedRoles, role):
			wrong.Add("flag --roles: %s names other callers; choose another name", role)
		case slices.Contains(roles[:i], role):
			wrong.Add("flag --roles: %s is given twice", role)
		}
	}
	for _, module := range p.modules {
		r, err := p.declared(module)
		if err != nil {
			continue // not generated
		}
		for _, role := range r.UsedRoles() {
			if !slices.Contains(roles, role) {
				wrong.Add("flag --roles: modules/%s uses the role %s; keep it, or remove the resource first", module, role)
			}
		}
	}
}
