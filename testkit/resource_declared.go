package testkit

import (
	"maps"
	"slices"
	"strings"
)

// Complete returns the resource with what follows from its declaration: Methods and Access from Callers, and the values of each field
// with a Type. It does not change what is set.
func (r Resource) Complete() Resource {
	r.Fields = slices.Clone(r.Fields)
	for i := range r.Fields {
		r.Fields[i].complete(i)
	}
	if r.Methods == nil {
		r.Methods = slices.DeleteFunc([]string{"create", "list", "show", "update", "delete"}, func(m string) bool { return r.Callers[m] == "" })
	}
	access := map[string][]int{}
	for _, caller := range r.callers() {
		for _, method := range r.Methods {
			access[caller] = append(access[caller], r.promised(method, caller))
		}
	}
	maps.Copy(access, r.Access)
	r.Access = access
	return r
}

// callers returns the callers whose access follows from Callers.
func (r Resource) callers() []string {
	if r.Callers == nil {
		return nil
	}
	out := []string{"nobody", "invalid token", "master key"}
	if !r.NoUsers {
		out = append(out, "user", "admin", "deleted user", "demoted admin")
	}
	if r.Owner {
		out = append(out, "owner")
	}
	if r.inOrganization() {
		out = append(out, r.orgCallers()...)
	}
	for rule := range maps.Values(r.Callers) {
		out = append(out, rolesOf(rule)...)
		if rule == "user" || rule == "owner" || rule == "own" {
			out = append(out, "owner")
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// rolesOf returns the roles of a rule in Callers, such as role=reception.
func rolesOf(rule string) []string {
	if names, ok := strings.CutPrefix(rule, "role="); ok {
		return strings.Split(names, ",")
	}
	return nil
}

// hides reports whether users cannot see the records of other users.
func (r Resource) hides() bool {
	if r.Under != "" {
		return r.HiddenParent
	}
	own := false
	for method, rule := range r.Callers {
		switch {
		case method == "create":
		case rule == "public", rule == "user":
			return false
		case rule == "own", rule == "owner":
			own = true
		}
	}
	return own
}

// promised returns the status of a method for a caller that follows from Callers.
func (r Resource) promised(method, caller string) int {
	rule := r.Callers[method]
	roles := rolesOf(rule)
	isOther := caller != "admin" && caller != "owner" // among users
	signedIn := !slices.Contains([]string{"nobody", "invalid token", "master key", "deleted user"}, caller)
	switch {
	case caller == "invalid token", caller == "deleted user",
		rule == "master" && caller != "master key",
		rule != "master" && rule != "public" && !signedIn:
		return 401
	case r.inOrganization() && rule != "admin" && rule != "master" && signedIn:
		return r.promisedOrg(method, caller, successes[method])
	case roles != nil && caller != "admin" && !slices.Contains(roles, caller):
		return 403
	case r.hides() && signedIn && isOther && rule != "admin" && (r.Under != "" || method != "create" && method != "list"):
		return 404
	case method == "create" && rule != "admin" && signedIn && isOther && r.any(func(f Field) bool { return f.Required && f.Refers != nil && f.Refers.Hidden }):
		return 400
	case rule == "admin" && caller != "admin", rule == "owner" && isOther:
		return 403
	}
	return successes[method]
}

// successes are the statuses of the methods.
var successes = map[string]int{"create": 201, "list": 200, "show": 200, "update": 200, "delete": 204}
