package main

import (
	"cmp"
	"slices"
	"strconv"
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

// OwnerField returns Go code for the owner of a record in the tests, as an element of its struct.
func (r Resource) OwnerField() string {
	switch {
	case !r.Owner:
		return ""
	case r.HasClearedOwner():
		return ", UserID: &ownerID"
	}
	return ", UserID: ownerID"
}

// Hides reports whether users can refer only to their own records in the field f.
func (r Resource) Hides(f Field) bool {
	return r.Rules[methodCreate] == ruleUser && f.Target != r.Name && f.Target != r.Under && r.TargetOf(f).IsOwn()
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

// StoredFields returns Go code for the fields of a record whose zero value is not valid in a response or occurs only once, as
// elements of its struct. The variable recordID has the record's ID.
func (t Target) StoredFields() string {
	if t.Name == "user" {
		return t.Fields.stored(", ", "")
	}
	return t.Settable().stored(", Fields: "+t.GoPackage()+".Fields{", "}") + t.ReadOnly().stored(", ReadOnly: "+t.GoPackage()+".ReadOnly{", "}")
}

// stored is StoredFields for the fields in l, between begin and end.
func (l fieldList) stored(begin, end string) string {
	var fields []string
	for _, f := range l {
		switch {
		case f.Unique && f.Required:
			fields = append(fields, f.Go()+": "+f.kind().stored)
		case f.Type == typeEnum && (f.Required || f.HasDefault()):
			fields = append(fields, f.Go()+": "+strconv.Quote(cmp.Or(f.Default, f.Values[0])))
		}
	}
	if fields == nil {
		return ""
	}
	return begin + strings.Join(fields, ", ") + end
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
