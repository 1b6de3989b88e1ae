package main

import (
	"slices"
	"strings"
)

// The templates of the tests use the methods below.

// Referred returns the resources whose records the tests create to refer to them.
func (r Resource) Referred() []Target {
	targets := slices.DeleteFunc(slices.Clone(r.Targets), func(t Target) bool { return t.IsOwner })
	if r.IsSelf() {
		targets = append(targets, Target{Resource: r})
	}
	return targets
}

// Inserters returns the names of the functions in the tests that store referenced records, except records of the resource itself.
func (r Resource) Inserters() (out []string) {
	for _, t := range r.Referred() {
		if t.Name != r.Name {
			out = append(out, "new"+t.Type())
		}
	}
	return out
}

// Hides reports whether users can refer only to records of their own, or under their own, in the field f.
func (r Resource) Hides(f Field) bool {
	return r.Rules[methodCreate] == ruleUser && r.TargetOf(f).hides()
}

// HidesParent reports whether users cannot see the parents of other users.
func (r Resource) HidesParent() bool { return r.Under != "" && r.hides() }

// CallersOf returns who may call a method; see testkit.Resource.
func (r Resource) CallersOf(method string) string {
	if r.ownersOnly(method) {
		return "owner"
	}
	if roles := orgRolesOf(r.Rules[method]); roles != nil {
		if r.Organization {
			return ruleOrg + "=" + strings.ReplaceAll(strings.ReplaceAll(r.OrgRolesAndAbove(method), `"`, ""), " ", "")
		}
		return ruleOrg
	}
	return r.Rules[method]
}

// FilterOperators returns the constant of package testkit with the operators of the field's filter.
func (f Field) FilterOperators() string { return f.kind().operators }

// Imported returns the resources whose packages the tests import.
func (r Resource) Imported() (out []Target) {
	for _, t := range r.Targets {
		if t.IsOwner {
			continue
		}
		for _, t := range append([]Target{t}, t.Targets...) {
			if t.Name != r.Name && !slices.ContainsFunc(out, func(other Target) bool { return other.Name == t.Name }) {
				out = append(out, t)
			}
		}
	}
	return out
}

// Needed returns the fields of a record whose zero value is not valid in a response or occurs only once.
func (t Target) Needed() fieldList {
	return t.Fields.only(func(f Field) bool { return f.Required && (f.Unique || f.Values != nil) })
}

// GoPackage returns the name by which the test refers to the target's package.
func (t Target) GoPackage() string {
	if t.Registered == "" {
		return "module"
	}
	return t.Package()
}

// DeletePath returns the path below which a record that the field refers to can be deleted; "" if it cannot be deleted. DeleteAs
// returns a caller who may delete the record.
func (r Resource) DeletePath(f Field) string {
	target := r.TargetOf(f)
	if !target.Has(methodDelete) || target.Under != "" {
		return ""
	}
	return target.Path()
}

func (r Resource) DeleteAs(f Field) string {
	switch r.TargetOf(f).Rules[methodDelete] {
	case rulePublic:
		return "nobody"
	case ruleMaster:
		return "master key"
	}
	return "admin"
}
