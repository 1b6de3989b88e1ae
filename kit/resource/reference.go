package resource

import (
	"fmt"
	"reflect"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/store"
)

// Reference declares a field that refers to records of a Target. The field is a store.ID, a *store.ID or a []store.ID. For Under and
// Group, it must be a store.ID.
type Reference struct {
	field    string
	target   Target
	onDelete OnDelete
	parent   Parent // the same as target for a reference from Under; otherwise nil
	index    []int  // the index of the field in the document
	isList   bool
	isOwner  bool
	members  access.MembershipReader // see Group; nil for other references
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

// Group returns the reference from a record to the group of users that it belongs to, such as an organization or a team. Use it with
// the rule Member. The field is a store.ID. At creation, the caller must be a member of the group or act for all users; a Creator
// sets the field to the only group of a caller who gives none. The group of a record never changes. References between records of
// groups, or of records under them, stay in one group.
func Group(field string, target Target, members access.MembershipReader, onDelete OnDelete) Reference {
	return Reference{field: field, target: target, onDelete: onDelete, members: members}
}

// OrganizationID is the field with the ID of the organization that a record belongs to.
const OrganizationID = "organizationId"

// Organizations are the organizations of the service, which the component organization provides.
type Organizations interface {
	Target
	access.MembershipReader
}

// Organization returns the Group in the field organizationId. The records are deleted with the organization.
func Organization(organizations Organizations) Reference {
	return Group(OrganizationID, organizations, organizations, Cascade)
}

// InOrganization is embedded in records that belong to an organization, in their views, and in the parameters of their creation.
type InOrganization struct {
	OrganizationID store.ID `json:"organizationId" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f905"` // the organization; by default the only one of the caller; it never changes
}

// Under returns the reference from a record to its parent. Callers may see the records only if they may see the parent. If
// Open's change parameter is nil, callers that may change the parent may also create and change the records. The parent
// of a record never changes. The records are deleted with the parent.
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
