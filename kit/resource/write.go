package resource

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Create stores a new record. The see and change parameters of Open do not apply: the router decides who may create.
// ValidationFailed: a reference refers to a record that the caller may not see or that belongs to another group, or the caller is
// not a member of the group. NotFound: the caller may not see the parent. Forbidden: the caller may not choose another user as the
// owner, a rule of Narrow rejects the caller, or the change parameter of Open is nil and the caller may not change the parent.
// Conflict: see store.Collection.Insert.
//
// In an Atomic, Create cannot store files that were received with the request: call the Atomic in the write function of StoreFiles.
// Creator.Create stores the files before it calls the create function of the module.
func (c *Collection[D]) Create(ctx context.Context, caller access.Principal, doc D) error {
	if caller.Restriction != nil {
		return caller.Restriction.Err
	}
	if list := c.filesOf(doc); slices.ContainsFunc(list, isStaged) {
		if err := c.putFiles(ctx, caller, doc); err != nil {
			return err
		}
		err := c.create(ctx, caller, doc)
		if err != nil {
			c.files.Remove(ctx, err, list...)
		}
		return err
	}
	return c.create(ctx, caller, doc)
}

// create is Create for a record whose files are stored.
func (c *Collection[D]) create(ctx context.Context, caller access.Principal, doc D) error {
	list := c.filesOf(doc)
	needsCheck := slices.ContainsFunc(c.references, func(r Reference) bool { return r.needsCheck(caller, r.value(doc)) })
	if list == nil && c.narrow[Create] == nil && !needsCheck {
		return c.all.Insert(ctx, doc)
	}
	return c.db.Together(ctx, func(ctx context.Context) error {
		if err := c.lockTargets(ctx, doc); err != nil {
			return err
		}
		if err := c.mayChangeParent(ctx, caller, doc); err != nil {
			return err
		}
		if err := c.check(ctx, caller, doc); err != nil {
			return err
		}
		if err := c.mayCreate(ctx, caller, doc); err != nil {
			return err
		}
		if err := c.all.Insert(ctx, doc); err != nil || list == nil {
			return err
		}
		return c.files.Attach(ctx, list...)
	})
}

// Update changes a record that has one of the versions. If the changes do not modify the record, Update only reads it; see
// store.Collection.Update. NotFound: the record does not exist, or the caller may not see the record. Forbidden: the caller may not
// change the record, or may not choose another user as the owner. ValidationFailed: a change refers to a record that the caller may
// not see, or the parent or the group would change. store.ErrStale: the record has none of the versions. Conflict: see
// store.Collection.Update.
//
// The value of a change of files is a *files.File, or a []files.File that is added to the stored list; nil removes the files. Conflict:
// the list would have more than files.MaxItems files. In an Atomic, Update cannot store files: call the Atomic in the
// write function of StoreFiles.
func (c *Collection[D]) Update(
	ctx context.Context, caller access.Principal, id store.ID, versions store.Versions, changes ...store.Change,
) (doc D, err error) {
	if caller.Restriction != nil {
		return doc, caller.Restriction.Err
	}
	if ofFiles, others := c.takeFileChanges(changes); ofFiles != nil {
		return c.updateFiles(ctx, caller, id, versions, ofFiles, others)
	}
	return c.update(ctx, caller, id, versions, changes...)
}

// update is Update for changes of fields without files.
func (c *Collection[D]) update(
	ctx context.Context, caller access.Principal, id store.ID, versions store.Versions, changes ...store.Change,
) (doc D, err error) {
	write := func(ctx context.Context) error {
		writable, err := c.writable(ctx, caller, id, versions, Update)
		if err != nil {
			return err
		}
		doc, err = c.all.Update(ctx, writable, changes...)
		return c.explain(ctx, caller, id, versions, Update, err)
	}
	if c.parent() == nil && !c.changesReference(changes) {
		err = write(ctx)
		return doc, err
	}
	err = c.db.Together(ctx, func(ctx context.Context) error {
		stored, err := c.Get(ctx, caller, id)
		if err != nil {
			return err
		}
		if err := c.mayChangeParent(ctx, caller, stored); err != nil {
			return err
		}
		if err := c.checkChanges(ctx, caller, stored, changes); err != nil {
			return err
		}
		return write(ctx)
	})
	return doc, err
}

// explain replaces the NotFound of an operation that used the filter from writable with a more specific error. It returns other
// errors unchanged. NotFound: the record does not exist, the caller may not see the record, or another caller has just changed
// or deleted the record. Forbidden: the caller may not change the record. store.ErrStale: the record has none of the versions.
func (c *Collection[D]) explain(
	ctx context.Context, caller access.Principal, id store.ID, versions store.Versions, method Method, err error,
) error {
	if !apperr.Is(err, apperr.NotFound) {
		return err
	}
	doc, err := c.Get(ctx, caller, id)
	if err != nil {
		return err
	}
	changeable, err := c.changeable(ctx, caller, method)
	if err != nil {
		return err
	}
	if _, err := c.all.First(ctx, store.And(store.Eq("id", id), changeable)); err != nil {
		return apperr.Replace(err, apperr.NotFound, c.forbidden(ctx, method))
	}
	return cmp.Or(versions.Check(store.VersionOf(doc)), error(store.ErrNotFound)) // changed or deleted in the meantime
}

// forbidden returns the error of a caller who may see a record, but not change it with the method. It names an admin, or a member of
// the group, only if the method allows admins. In a group, "admin" can be the role of a member.
func (c *core) forbidden(ctx context.Context, method Method) error {
	byAdmin, err := c.changeable(ctx, access.Principal{UserID: store.NewID(), Role: access.RoleAdmin}, method)
	message := "You may see this record, but not change it."
	switch {
	case err != nil:
		return err
	case !selects(byAdmin, nil):
	case c.group() != nil:
		message += " A member of the organization that owns it can, if their role allows it."
	default:
		message += " An admin can change it."
	}
	return apperr.New(apperr.Forbidden, "%s", message)
}

// changesReference reports whether one of the changes sets a reference.
func (c *core) changesReference(changes []store.Change) bool {
	return slices.ContainsFunc(changes, func(change store.Change) bool {
		return slices.ContainsFunc(c.references, func(r Reference) bool { return r.field == change.Field })
	})
}

// lock implements Target.
func (c *Collection[D]) lock(ctx context.Context, ids []store.ID) error {
	if len(ids) == 0 || c.db.Serializable() || store.IsSeparate(ctx) {
		return nil
	}
	return apperr.Replace(c.all.Lock(ctx, ids...), apperr.NotFound, nil)
}

// lockTargets locks the records to which doc refers. It skips references with Keep, which ignore deletions, and the group of doc:
// otherwise, all writers in a group would wait for each other.
func (c *core) lockTargets(ctx context.Context, doc any) error {
	for _, r := range c.references {
		if r.onDelete == Keep || r.members != nil {
			continue
		}
		if err := r.target.lock(ctx, idsOf(r.value(doc))); err != nil {
			return err
		}
	}
	return nil
}

// check fails with ValidationFailed unless the references of a new record refer to records that the caller may see, and with
// Forbidden unless the caller may choose the owner. It does not check the reference to a parent.
func (c *core) check(ctx context.Context, caller access.Principal, doc store.Document) error {
	var unknown []apperr.Field
	for _, r := range c.references {
		fields, err := c.checkReference(ctx, caller, doc, r, r.value(doc))
		if err != nil {
			return err
		}
		unknown = append(unknown, fields...)
	}
	return invalid(unknown)
}

// maxChecked is the maximum number of IDs that checkAll looks up with one query. A record can have a long list of IDs.
const maxChecked = 500

// checkAll returns for each of the new records, at most maxChecked, the error of mayChangeParent or of check. The principal caller
// must act for all users: checkAll checks neither the owner nor memberships.
func (c *core) checkAll(ctx context.Context, caller access.Principal, docs []store.Document) ([]error, error) {
	errs := make([]error, len(docs))
	parents := map[store.ID]error{}
	for i, doc := range docs {
		if r := c.parent(); r != nil {
			id := idsOf(r.value(doc))[0]
			err, known := parents[id]
			if !known {
				err = c.mayChangeParent(ctx, caller, doc)
				parents[id] = err
			}
			errs[i] = err
		}
	}
	unknown := make([][]apperr.Field, len(docs))
	for _, r := range c.references {
		if r.parent != nil {
			continue
		}
		ids := idsIn(r, docs)
		found, err := r.findAll(ctx, caller, ids)
		if err != nil {
			return nil, err
		}
		sameGroup, err := c.sameGroup(ctx, r, docs, ids)
		if err != nil {
			return nil, err
		}
		for i, doc := range docs {
			if value := r.value(doc); r.needsCheck(caller, value) {
				unknown[i] = append(unknown[i], r.unknown(idsOf(value), func(id store.ID) bool {
					_, known := found[id]
					return known && (sameGroup == nil || sameGroup(store.IDOf(doc), id))
				})...)
			}
		}
	}
	for i := range docs {
		errs[i] = cmp.Or(errs[i], invalid(unknown[i]))
	}
	return errs, nil
}

// findAll returns, by ID, the views of those records with the IDs that the caller may see.
func (r Reference) findAll(ctx context.Context, caller access.Principal, ids []store.ID) (map[store.ID]any, error) {
	all := map[store.ID]any{}
	for chunk := range slices.Chunk(ids, maxChecked) {
		found, _, err := r.target.Find(ctx, caller, chunk, nil, "id")
		if err != nil {
			return nil, err
		}
		maps.Copy(all, found)
	}
	return all, nil
}

// checkChanges is like lockTargets and check, but for an update of a stored record: only for the references that change. It also fails
// with ValidationFailed if the parent or the group changes.
func (c *core) checkChanges(ctx context.Context, caller access.Principal, stored store.Document, changes []store.Change) error {
	var unknown []apperr.Field
	for _, r := range c.references {
		for _, change := range changes {
			if change.Field != r.field || slices.Equal(idsOf(change.Value), idsOf(r.value(stored))) {
				continue
			}
			if r.members != nil || r.parent != nil {
				unknown = append(unknown, apperr.Field{In: "body", Param: r.field, Code: apperr.ReadOnly, Message: "Never changes."})
				continue
			}
			if r.onDelete != Keep {
				if err := r.target.lock(ctx, idsOf(change.Value)); err != nil {
					return err
				}
			}
			fields, err := c.checkReference(ctx, caller, stored, r, change.Value)
			if err != nil {
				return err
			}
			unknown = append(unknown, fields...)
		}
	}
	return invalid(unknown)
}

// invalid returns ValidationFailed for the fields, or nil if there are no fields.
func invalid(unknown []apperr.Field) error {
	if unknown == nil {
		return nil
	}
	return apperr.Invalid(unknown...)
}

// needsCheck reports whether check or mayChangeParent could reject a new record because of value. If the owner is the caller, a
// rejection is possible only if onDelete is not Keep.
func (r Reference) needsCheck(caller access.Principal, value any) bool {
	return !r.isOwner || r.onDelete != Keep || !caller.IsUser() || !slices.Equal(idsOf(value), []store.ID{caller.UserID})
}

// checkReference returns an error for each ID in the value of a reference of doc, except the IDs of records that the caller may see
// and that belong to the same group as doc. Forbidden: the caller chooses another user as the owner, and does not act for all users.
func (c *core) checkReference(
	ctx context.Context, caller access.Principal, doc store.Document, r Reference, value any,
) (unknown []apperr.Field, err error) {
	ids := idsOf(value)
	if r.isOwner && !caller.ActsForAll() && !slices.Equal(ids, []store.ID{caller.UserID}) {
		return nil, apperr.New(apperr.Forbidden, "Only an admin may choose another user as the owner.")
	}
	if len(ids) == 0 || r.parent != nil || !r.needsCheck(caller, value) {
		return nil, nil
	}
	found, _, err := r.target.Find(ctx, caller, ids, nil, "id")
	if err != nil {
		return nil, err
	}
	sameGroup, err := c.sameGroup(ctx, r, []store.Document{doc}, ids)
	if err != nil {
		return nil, err
	}
	isMember, err := r.isMember(ctx, caller)
	if err != nil {
		return nil, err
	}
	return r.unknown(ids, func(id store.ID) bool {
		_, known := found[id]
		return known && isMember(id) && (sameGroup == nil || sameGroup(store.IDOf(doc), id))
	}), nil
}

// isMember returns a function that reports whether the caller is a member of the group with an ID. The function always returns true
// for references other than Group, and for callers who act for all users.
func (r Reference) isMember(ctx context.Context, caller access.Principal) (func(id store.ID) bool, error) {
	if r.members == nil || caller.ActsForAll() {
		return func(store.ID) bool { return true }, nil
	}
	list, err := caller.MembershipsIn(ctx, r.members)
	return func(id store.ID) bool {
		return slices.ContainsFunc(list, func(m access.Membership) bool { return m.Group == id })
	}, err
}

// unknown returns an error for each of the IDs in a value that is not known.
func (r Reference) unknown(ids []store.ID, known func(store.ID) bool) (unknown []apperr.Field) {
	for i, id := range ids {
		if known(id) {
			continue
		}
		if r.members != nil && id.IsZero() {
			return []apperr.Field{r.required()}
		}
		param := r.field
		if r.isList {
			param = fmt.Sprintf("%s[%d]", r.field, i)
		}
		unknown = append(unknown, apperr.Field{In: "body", Param: param, Code: apperr.UnknownReference, Message: "There is no such record."})
	}
	return unknown
}
