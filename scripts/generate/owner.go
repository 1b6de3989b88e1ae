package main

import (
	"cmp"
	"slices"
	"strings"

	"example.com/ginseng/scripts/internal/naming"
)

// declareOwner sets r.Owner for records that users create, and r.OnUser. It reports invalid flags about owners.
func (r *Resource) declareOwner(c call, wrong *mistakes) {
	usersCreate := r.Rules[methodCreate] == ruleUser || r.Organization
	r.Owner = r.Owner || usersCreate && !c.noOwner
	switch {
	case c.owner && c.noOwner:
		wrong.Add("flag --owner: excludes --no-owner")
	case c.owner && !r.HasUser:
		wrong.Add("flag --owner: the project has no users")
	case c.owner && !usersCreate && !r.Server:
		wrong.Add("flag --owner: the owner is the user who creates the record; add --user create or, if only your code creates records, --create server")
	}
	onUser := []string{onCascade, onKeep, onRestrict, onClear}
	switch {
	case c.has("on-user-delete") && !r.Owner:
		wrong.Add("flag --on-user-delete: records have no owner; %s", r.ownerRemedy())
	case c.has("on-user-delete") && !slices.Contains(onUser, c.onUser):
		wrong.Add("flag --on-user-delete: %s is unknown; %s", quote(c.onUser), naming.Suggest(c.onUser, onUser))
	case r.Organization:
		r.OnUser = onKeep
	case r.Owner:
		r.OnUser = cmp.Or(c.onUser, r.defaultOnUser())
	}
	for _, method := range r.Methods() {
		for _, other := range []string{methodUpdate, methodDelete} {
			if r.OwnerOnly(other) && rolesOf(r.Rules[method]) != nil {
				wrong.Add("flag --role: %s is for roles, and %s for the owner; give %s to roles or admins too, or %s", method, other, other, map[bool]string{true: "omit --owner", false: "add --no-owner"}[r.Server])
			}
		}
	}
}

// ownerRemedy says which flags give records an owner.
func (r Resource) ownerRemedy() string {
	switch {
	case r.Server:
		return "omit --no-owner, and add --owner or --own"
	case r.Rules[methodCreate] == ruleUser:
		return "omit --no-owner"
	}
	return "let users create them with --user create or, if only your code creates them, add --create server"
}

// defaultOnUser returns the default of --on-user-delete. With --own, the deletion of the owner deletes the record, because other
// users cannot see the record.
func (r Resource) defaultOnUser() string {
	if r.HasRule(ruleOwn) {
		return onCascade
	}
	return onKeep
}

// declareOwn checks --own. It reports methods that would show users the records of other users.
func (r Resource) declareOwn(c call, wrong *mistakes) {
	if len(c.rules[ruleOwn]) == 0 {
		return
	}
	if !r.Owner {
		wrong.Add("flag --own: records have no owner; %s", r.ownerRemedy())
	}
	for _, method := range r.Methods() {
		reads := method == methodList || method == methodShow
		if rule := r.Rules[method]; rule == rulePublic || rule == ruleUser && reads || rolesOf(rule) != nil {
			wrong.Add("flag --own: %s is for callers who may not see the record; add it to --%s", method, map[bool]string{true: ruleOwn, false: ruleUser}[reads])
		}
	}
}

func (r *Resource) declareUnder(c call, wrong *mistakes) {
	if r.Under = c.under; r.Under == "" {
		return
	}
	r.declareWrites(c, wrong)
	if r.Under == r.Name {
		wrong.Add("flag --under: %s cannot be under itself", r.Name)
	}
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, r.UnderField()) {
			wrong.Add("field %s: has the ID of the %s; choose another name", f.Name, r.Under)
		}
	}
}

var writeMethods = []string{methodCreate, methodUpdate, methodDelete}

// declareWrites sets r.OwnWrites. It reports flags that say who may read records under a parent, and methods that write records
// but that no flag names.
func (r *Resource) declareWrites(c call, wrong *mistakes) {
	var given []string
	for _, rule := range rules {
		for _, method := range c.rules[rule] {
			if given = append(given, method); !slices.Contains(writeMethods, method) {
				wrong.Add("flag --%s: excludes --under; callers that may read %s may %s: for records of users, refer to it with %s:ref(%s) instead", rule, r.Under, method, r.Under, r.Under)
			}
		}
	}
	if r.OwnWrites = given != nil; r.OwnWrites {
		for _, method := range writeMethods {
			if r.Has(method) && !slices.Contains(given, method) {
				wrong.Add("flag --under: say who may %s too: add it to --user, --admin, --master or --public", method)
			}
		}
		return
	}
	for _, flag := range []string{"owner", "no-owner", "on-user-delete"} {
		if c.has(flag) {
			wrong.Add("flag --%s: excludes --under without --user create; the rules are those of %s", flag, r.Under)
		}
	}
	r.Owner, r.OnUser = false, ""
}
