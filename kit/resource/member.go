package resource

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Member returns the Access that gives users access to the records of the groups in which they have one of the roles, or any role
// if roles is empty. field has the ID of the group; see Group. Admins and the master key have access to all records. A rule of your
// own can call Member for the caller that it receives:
//
//	func visible(caller access.Principal) store.Filter {
//		if caller.ActsForAll() {
//			return nil
//		}
//		return store.Or(store.Eq("state", "published"), resource.Member("teamId")(caller))
//	}
func Member(field string, roles ...access.Role) Access {
	return func(caller access.Principal) store.Filter {
		if !caller.IsUser() || caller.ActsForAll() {
			return Admins(caller)
		}
		var ids []store.ID
		for _, m := range caller.Memberships(field) {
			if len(roles) == 0 || slices.Contains(roles, m.Role) {
				ids = append(ids, m.Group)
			}
		}
		slices.SortFunc(ids, compareIDs) // so that the digest of the filter is the same
		if len(ids) == 1 {
			return store.Eq(field, ids[0]) // unlike with In, an engine can read an index in the order of the list
		}
		return store.In(field, store.Values(ids)...)
	}
}

// OrganizationMember returns Member for the field organizationId.
func OrganizationMember(roles ...access.Role) Access { return Member(OrganizationID, roles...) }

// memberField is a field with the ID of a group, and the reader of the memberships in these groups.
type memberField struct {
	field   string
	members access.MembershipReader
}

// Members makes the memberships that m reads available to Member(field) in the rules of the collection. Open does that for each
// reference from Group. For the collection of the groups, call Members with the field "id". Call Members before the server starts.
func (c *core) Members(field string, m access.MembershipReader) {
	c.memberFields = append(c.memberFields, memberField{field, m})
}

// Method is a method of a Collection that writes.
type Method string

// The methods.
const (
	Create Method = "create"
	Update Method = "update"
	Delete Method = "delete"
)

// Narrow adds a condition to a method: for the caller, rule must also select the record. Otherwise, the method fails with Forbidden. A
// rule for Create can depend only on the owner and the group of the record. A second call for a method replaces the first rule. Call
// Narrow before the server starts.
func (c *core) Narrow(method Method, rule Access) {
	if c.narrow == nil {
		c.narrow = map[Method]Access{}
	}
	c.narrow[method] = rule
}

// selected returns the filter of rule for the caller. It reads the memberships of the caller for the rule. A nil filter selects all
// records.
func (c *core) selected(ctx context.Context, caller access.Principal, rule Access) (store.Filter, error) {
	if rule == nil {
		return nil, nil
	}
	if !caller.IsUser() || caller.ActsForAll() {
		return rule(caller), nil
	}
	for _, g := range c.memberFields {
		list, err := caller.MembershipsIn(ctx, g.members)
		if err != nil {
			return nil, err
		}
		caller = caller.WithMemberships(g.field, list)
	}
	return rule(caller), nil
}

// reread reads the memberships of the caller again, and returns a caller that has them. Forbidden: memberships that the rules of the
// collection use have changed since the request read them.
func (c *core) reread(ctx context.Context, caller access.Principal) (access.Principal, error) {
	now := caller.Reread()
	for _, g := range c.memberFields {
		before, err := caller.MembershipsIn(ctx, g.members)
		if err != nil {
			return now, err
		}
		after, err := now.MembershipsIn(ctx, g.members)
		if err != nil {
			return now, err
		}
		gone := func(m access.Membership) bool { return !slices.Contains(after, m) }
		if len(before) != len(after) || slices.ContainsFunc(before, gone) {
			return now, errAccessChanged()
		}
	}
	return now, nil
}

func errAccessChanged() error {
	return apperr.New(apperr.Forbidden, "The access of the caller has changed.")
}

// group returns the reference to the group of the records, or nil.
func (c *core) group() *Reference {
	i := slices.IndexFunc(c.references, func(r Reference) bool { return r.members != nil })
	if i < 0 {
		return nil
	}
	return &c.references[i]
}

// groupsOf implements Target.
func (c *Collection[D]) groupsOf(ctx context.Context, ids []store.ID) (map[store.ID]store.ID, access.MembershipReader, error) {
	r := cmp.Or(c.group(), c.parent())
	if r == nil {
		return nil, nil, nil
	}
	docs, err := c.all.List(ctx, store.Query{Filter: store.In("id", store.Values(ids)...), Fields: []string{r.field}})
	if err != nil {
		return nil, nil, err
	}
	list := make([]store.Document, len(docs))
	for i, doc := range docs {
		list[i] = doc
	}
	return c.groupsOfDocs(ctx, list)
}

// groupsOfDocs is groupsOf for documents that need not be stored yet.
func (c *core) groupsOfDocs(ctx context.Context, docs []store.Document) (map[store.ID]store.ID, access.MembershipReader, error) {
	groups := make(map[store.ID]store.ID, len(docs))
	if r := c.group(); r != nil {
		for _, doc := range docs {
			groups[store.IDOf(doc)] = idsOf(r.value(doc))[0]
		}
		return groups, r.members, nil
	}
	r := c.parent()
	if r == nil {
		return nil, nil, nil
	}
	above, members, err := r.target.groupsOf(ctx, idsIn(*r, docs))
	if err != nil || members == nil {
		return nil, nil, err
	}
	for _, doc := range docs {
		groups[store.IDOf(doc)] = above[idsOf(r.value(doc))[0]]
	}
	return groups, members, nil
}

// idsIn returns the IDs that the documents have in the reference, each once.
func idsIn(r Reference, docs []store.Document) (ids []store.ID) {
	for _, doc := range docs {
		ids = append(ids, idsOf(r.value(doc))...)
	}
	slices.SortFunc(ids, compareIDs)
	return slices.Compact(ids)
}

func compareIDs(a, b store.ID) int { return bytes.Compare(a[:], b[:]) }

// sameGroup returns a function that reports whether one of docs and the record with one of ids belong to the same group. ids are the
// IDs in the reference r of docs. It returns nil if there is nothing to check: r is the reference to the owner, the parent or the
// group, ids is empty, one of the two collections has no groups, or their groups are of different kinds.
func (c *core) sameGroup(ctx context.Context, r Reference, docs []store.Document, ids []store.ID) (func(doc, id store.ID) bool, error) {
	if r.isOwner || r.parent != nil || r.members != nil || len(ids) == 0 {
		return nil, nil
	}
	groups, members, err := c.groupsOfDocs(ctx, docs)
	if err != nil || members == nil {
		return nil, err
	}
	of := make(map[store.ID]store.ID, len(ids))
	for chunk := range slices.Chunk(ids, maxChecked) {
		part, referred, err := r.target.groupsOf(ctx, chunk)
		if err != nil || referred != members {
			return nil, err
		}
		maps.Copy(of, part)
	}
	return func(doc, id store.ID) bool { return of[id] == groups[doc] }, nil
}

// mayCreate fails with Forbidden if Narrow does not let the caller create the record.
func (c *core) mayCreate(ctx context.Context, caller access.Principal, doc any) error {
	filter, err := c.selected(ctx, caller, c.narrow[Create])
	if err != nil {
		return err
	}
	scope := map[string]store.ID{}
	for _, r := range c.references {
		if r.isOwner || r.members != nil {
			for _, id := range idsOf(r.value(doc)) {
				scope[r.field] = id
			}
		}
	}
	if !selects(filter, scope) {
		return apperr.New(apperr.Forbidden, "Your role does not allow you to create this record.")
	}
	return nil
}

// setGroup sets the group of a new record that has no group: the only group of which the caller is a member. doc points to the record.
// ValidationFailed: the caller is a member of no group or of several.
func (c *core) setGroup(ctx context.Context, caller access.Principal, doc any) error {
	r := c.group()
	if r == nil {
		return nil
	}
	field := reflect.ValueOf(doc).Elem().FieldByIndex(r.index)
	if !field.IsZero() {
		return nil
	}
	list, err := caller.MembershipsIn(ctx, r.members)
	if err != nil {
		return err
	}
	if len(list) != 1 {
		return invalid([]apperr.Field{r.required()})
	}
	field.Set(reflect.ValueOf(list[0].Group))
	return nil
}

// required is the error of a record without a group.
func (r Reference) required() apperr.Field {
	return apperr.Field{In: "body", Param: r.field, Code: apperr.Required, Message: "Is required, unless the caller is a member of exactly one group."}
}
