package main

import (
	"fmt"
	"slices"
	"strings"
)

// The methods below are what the templates of the tests use.

// Referred returns the resources of which the tests create records, to refer to them.
func (r Resource) Referred() []Target {
	targets := slices.DeleteFunc(slices.Clone(r.Targets), func(t Target) bool { return t.IsOwner })
	if r.IsSelf() {
		targets = append(targets, Target{Resource: r})
	}
	return targets
}

// Invisible returns the resources whose records users see only if they are their own.
func (r Resource) Invisible() (out []Target) {
	if r.Rules[methodCreate] != ruleUser {
		return nil
	}
	for _, t := range r.Targets {
		if t.IsOwn() && !t.Parent {
			out = append(out, t)
		}
	}
	return out
}

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

// Unique returns Go code for the required unique fields of a record, as elements of its struct. The record's ID is in the
// variable id.
func (t Target) Unique() string {
	var fields []string
	for _, f := range t.Fields {
		if f.Unique && f.Required {
			fields = append(fields, f.Go()+": "+f.kind().stored)
		}
	}
	if fields == nil {
		return ""
	}
	if t.Name == "user" {
		return ", " + strings.Join(fields, ", ")
	}
	return ", Fields: " + t.GoPackage() + ".Fields{" + strings.Join(fields, ", ") + "}"
}

// GoPackage returns the name by which the test refers to the target's package.
func (t Target) GoPackage() string {
	if t.Registered == "" {
		return "module"
	}
	return t.Package()
}

// deletion is a row of TestReferences: a referenced record that is deleted.
type deletion struct {
	Field, New, Path, Token string
	Items                   int // length of the list in Field; 0 if it is not a list
	Deleted, Shown          int // expected status of the deletion, and of reading the referring record afterwards
}

// Deletions returns the rows of TestReferences.
func (r Resource) Deletions() (out []deletion) {
	for _, f := range r.References() {
		target := r.TargetOf(f)
		rule := target.Rules[methodDelete]
		if rule == "" || target.Under != "" {
			continue
		}
		d := deletion{Field: f.Name, New: "s.new" + target.Type(), Path: target.Path() + "/", Items: f.listed(), Deleted: 204, Shown: 200}
		if d.Token = factsOf(rule).token; rule == ruleUser || rule == ruleAdmin || rolesOf(rule) != nil {
			d.Token = `s.SignUp("admin").Token`
		}
		switch f.OnDelete {
		case "", onRestrict:
			d.Deleted = 409
		case onCascade:
			d.Shown = 404
		}
		out = append(out, d)
	}
	return out
}

// listed returns the number of IDs that the tests put into a list; 0 if the field is not a list.
func (f Field) listed() int {
	if !f.IsList() {
		return 0
	}
	return max(1, f.MinLength())
}

// Value returns Go code for a value of the field that has the ID.
func (f Field) Value(id string) string {
	switch n := f.listed(); n {
	case 0:
		return id
	case 1:
		return "[]any{" + id + "}"
	default:
		return fmt.Sprintf("slices.Repeat([]any{%s}, %d)", id, n)
	}
}
