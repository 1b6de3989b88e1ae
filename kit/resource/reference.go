package resource

import (
	"fmt"
	"reflect"

	"example.com/ginseng/kit/store"
)

// Reference declares a field that refers to records of a Target. The field is a store.ID, a *store.ID or a []store.ID.
type Reference struct {
	field    string
	target   Target
	onDelete OnDelete
	parent   Parent // the same as target for a reference from Under; otherwise nil
	index    []int  // the index of the field in the document
	isList   bool
	isOwner  bool
}

// To returns a reference to records of another collection.
func To(field string, target Target, onDelete OnDelete) Reference {
	return Reference{field: field, target: target, onDelete: onDelete}
}

// ToSelf returns a reference to records of the same collection.
func ToSelf(field string, onDelete OnDelete) Reference {
	return Reference{field: field, onDelete: onDelete}
}

// Owner returns the reference in the field userId, which refers to the user who owns the record. Only admins and the master key
// can create records for other users, and change the owner. A store.ID without a value is rejected; records that can have no owner
// need a *store.ID. If store.Spec.Changes is set, the owner must never change, because the feed of the previous owner would not
// contain the change.
func Owner(users Target, onDelete OnDelete) Reference {
	return Reference{field: "userId", target: users, onDelete: onDelete, isOwner: true}
}

// Under returns the reference from a record to its parent. Callers may see the records only if they may see the parent. If
// Open's change parameter is nil, callers that may change the parent may also create and change the records. The records are
// deleted with the parent.
func Under(field string, parent Parent) Reference {
	return Reference{field: field, target: parent, onDelete: Cascade, parent: parent}
}

// indexOf returns the index of the field of t whose JSON name is name. It panics if t has no such field, or if the field cannot
// be a reference.
func indexOf(t reflect.Type, name string) []int {
	for _, f := range reflect.VisibleFields(t) {
		if store.FieldName(f) != name || f.Anonymous {
			continue
		}
		switch f.Type {
		case reflect.TypeFor[store.ID](), reflect.TypeFor[*store.ID](), reflect.TypeFor[[]store.ID]():
			return f.Index
		}
	}
	panic(fmt.Sprintf("resource: %v has no field %s that is an ID or a list of IDs", t, name))
}

// idsOf returns the IDs in the value of a reference.
func idsOf(value any) []store.ID {
	switch v := value.(type) {
	case store.ID:
		return []store.ID{v}
	case *store.ID:
		if v != nil {
			return []store.ID{*v}
		}
	case []store.ID:
		return v
	}
	return nil
}

// value returns the value of a reference in a document, or in a document that doc points to.
func (r Reference) value(doc any) any {
	return reflect.Indirect(reflect.ValueOf(doc)).FieldByIndex(r.index).Interface()
}

// refersTo returns the filter that selects the records that refer to one of the IDs.
func (r Reference) refersTo(ids []store.ID) store.Filter {
	if r.isList {
		return store.Contains(r.field, store.Values(ids)...)
	}
	return store.In(r.field, store.Values(ids)...)
}
