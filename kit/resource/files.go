package resource

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store"
)

// fileField is a field of the document with files: a *files.File, or a []files.File.
type fileField struct {
	name   string
	index  []int
	isList bool
}

// fileFieldsOf returns the fields of t with files.
func fileFieldsOf(t reflect.Type) (fields []fileField) {
	for _, f := range reflect.VisibleFields(t) {
		switch f.Type {
		case reflect.TypeFor[*files.File](), reflect.TypeFor[[]files.File]():
			fields = append(fields, fileField{store.FieldName(f), f.Index, f.Type.Kind() == reflect.Slice})
		}
	}
	return fields
}

// of returns the files in the field of doc, which share their memory with doc.
func (f fileField) of(doc any) []*files.File {
	return filesIn(reflect.Indirect(reflect.ValueOf(doc)).FieldByIndex(f.index).Interface())
}

// filesIn returns the files in a value of a field.
func filesIn(value any) (list []*files.File) {
	switch v := value.(type) {
	case *files.File:
		if v != nil {
			list = append(list, v)
		}
	case []files.File:
		for i := range v {
			list = append(list, &v[i])
		}
	}
	return list
}

// filesOf returns the files of a record.
func (c *core) filesOf(doc any) (list []*files.File) {
	for _, f := range c.fileFields {
		list = append(list, f.of(doc)...)
	}
	return list
}

func idsOfFiles(list []*files.File) []store.ID {
	ids := make([]store.ID, len(list))
	for i, file := range list {
		ids[i] = file.ID
	}
	return ids
}

// listFiles is the files.ListRecords of the collection.
func (c *Collection[D]) listFiles(ctx context.Context, q store.Query) ([]files.Record, error) {
	q.Fields = []string{"id"}
	for _, f := range c.fileFields {
		q.Fields = append(q.Fields, f.name)
	}
	docs, err := c.all.List(ctx, q)
	records := make([]files.Record, len(docs))
	for i, doc := range docs {
		records[i].ID = store.IDOf(doc)
		for _, file := range c.filesOf(doc) {
			records[i].Files = append(records[i].Files, *file)
		}
	}
	return records, err
}

// putFiles stores the bytes of the files in doc that were received with the request. It must not run in a transaction. The caller
// then attaches the files, or removes them. If putFiles fails, it has removed them.
func (c *core) putFiles(ctx context.Context, caller access.Principal, doc store.Document) error {
	for _, f := range c.fileFields {
		if err := c.putField(ctx, caller, store.IDOf(doc), f, f.of(doc)); err != nil {
			c.files.Remove(ctx, nil, c.filesOf(doc)...)
			return err
		}
	}
	return nil
}

func (c *core) putField(ctx context.Context, caller access.Principal, id store.ID, f fileField, list []*files.File) error {
	if !slices.ContainsFunc(list, isStaged) {
		return nil
	}
	if store.InAtomic(ctx) {
		return errFilesInAtomic
	}
	owner := files.Owner{Collection: c.name, Field: f.name, Record: id}
	if caller.IsUser() {
		owner.Uploader = &caller.UserID
	}
	return c.files.Put(ctx, owner, list...)
}

// errFilesInAtomic is returned because a transaction can be rolled back, but not the storage of files.
var errFilesInAtomic = errors.New("resource: a file that was received with the request cannot be stored in an Atomic: call the Atomic in the write function of Collection.StoreFiles")

// StoreFiles stores the files among the changes of the record with the ID, and calls write, which writes the record: with Update and the
// same changes, or with Create and a record that has the same files. write can do that in an Atomic, where Create and Update cannot store
// files. StoreFiles returns the error of write. It removes the files to which no record refers afterwards.
func (c *core) StoreFiles(
	ctx context.Context, caller access.Principal, id store.ID, changes []store.Change, write func() error,
) (err error) {
	ofFiles, _ := c.takeFileChanges(changes)
	var added []*files.File
	for _, f := range ofFiles {
		added = append(added, f.add...)
		if err == nil {
			err = c.putField(ctx, caller, id, f.fileField, f.add)
		}
	}
	if err == nil {
		err = write()
	}
	if len(added) > 0 {
		c.files.Remove(ctx, err, added...)
	}
	return err
}

// isStaged reports whether the bytes of a file are not stored yet.
func isStaged(file *files.File) bool { return file.IsStaged() }

// fileChange is a change of the files in a field of a stored record.
type fileChange struct {
	fileField
	remove func(files.File) bool // selects the files that are removed; nil: none
	must   bool                  // NotFound if there is no file to remove
	add    []*files.File         // at the end of a list
}

// errTooMany is returned for a list with more than files.MaxItems files.
var errTooMany = apperr.New(apperr.Conflict, "The list can have at most %d files. Delete one of them first.", files.MaxItems)

// apply returns the change of the stored record doc, and the files that the record does not refer to afterwards. The change is nil
// if nothing changes.
func (f fileChange) apply(doc any) (change []store.Change, removed []store.ID, err error) {
	kept := []files.File{}
	for _, file := range f.of(doc) {
		if f.remove != nil && f.remove(*file) {
			removed = append(removed, file.ID)
		} else {
			kept = append(kept, *file)
		}
	}
	for _, file := range f.add {
		kept = append(kept, *file)
	}
	switch {
	case f.must && removed == nil:
		return nil, nil, store.ErrNotFound
	case removed == nil && f.add == nil:
		return nil, nil, nil
	case f.isList && len(f.add) > 0 && len(kept) > files.MaxItems:
		return nil, nil, errTooMany
	case f.isList:
		return []store.Change{store.Set(f.name, kept)}, removed, nil
	case len(kept) == 0:
		return []store.Change{store.Set(f.name, (*files.File)(nil))}, removed, nil
	}
	return []store.Change{store.Set(f.name, &kept[0])}, removed, nil
}

// takeFileChanges returns the changes of files among the changes, and the others. A list in a change is added to the stored list; a
// nil list removes all files.
func (c *core) takeFileChanges(changes []store.Change) (ofFiles []fileChange, others []store.Change) {
	for _, change := range changes {
		i := slices.IndexFunc(c.fileFields, func(f fileField) bool { return f.name == change.Field })
		if i < 0 {
			others = append(others, change)
			continue
		}
		f := fileChange{fileField: c.fileFields[i], add: filesIn(change.Value)}
		if !f.isList || f.add == nil {
			f.remove = func(files.File) bool { return true }
		}
		ofFiles = append(ofFiles, f)
	}
	return ofFiles, others
}

// mayWrite returns a record that the caller may change with the method, and that has one of the versions. It returns the errors of
// Update.
func (c *Collection[D]) mayWrite(ctx context.Context, caller access.Principal, id store.ID, versions store.Versions, method Method) (none D, err error) {
	if caller.Restriction != nil {
		return none, caller.Restriction.Err
	}
	if err := c.mayChange(ctx, caller, id, method); err != nil {
		return none, err
	}
	doc, err := c.Get(ctx, caller, id)
	if err == nil {
		err = versions.Check(store.VersionOf(doc))
	}
	return doc, err
}

// updateFiles is Update with changes of files. A file with the name, the type and the bytes of the stored one changes nothing.
func (c *Collection[D]) updateFiles(
	ctx context.Context, caller access.Principal, id store.ID, versions store.Versions, ofFiles []fileChange, others []store.Change,
) (doc D, err error) {
	stored, err := c.mayWrite(ctx, caller, id, versions, Update)
	if err != nil {
		return doc, err
	}
	ofFiles = slices.DeleteFunc(ofFiles, func(f fileChange) bool { return f.isSame(stored) })
	var added []*files.File
	for _, f := range ofFiles {
		if _, _, err := f.apply(stored); err != nil {
			return doc, err
		}
		added = append(added, f.add...)
	}
	for _, f := range ofFiles {
		if err = c.putField(ctx, caller, id, f.fileField, f.add); err != nil {
			break
		}
	}
	if err == nil {
		doc, err = c.writeFiles(ctx, caller, stored, versions, ofFiles, others)
	}
	if err != nil && !store.InAtomic(ctx) { // otherwise, StoreFiles does
		c.files.Remove(ctx, err, added...)
	}
	return doc, err
}

// isSame reports whether the only effect of the change would be to replace a file by the same file.
func (f fileChange) isSame(doc any) bool {
	stored := f.of(doc)
	if f.isList || len(stored) != 1 || len(f.add) != 1 {
		return false
	}
	before, after := stored[0], f.add[0]
	return before.SHA256 == after.SHA256 && before.Name == after.Name && before.Type == after.Type
}

// writeFiles writes the changes of a record whose new files are stored. It repeats the write for a newer version of the record if the
// record had the version of doc only until then.
func (c *Collection[D]) writeFiles(
	ctx context.Context, caller access.Principal, doc D, versions store.Versions, ofFiles []fileChange, others []store.Change,
) (D, error) {
	id := store.IDOf(doc)
	for {
		changes, removed, added := slices.Clone(others), []store.ID(nil), []*files.File(nil)
		for _, f := range ofFiles {
			change, ids, err := f.apply(doc)
			if err != nil {
				return doc, err
			}
			changes, removed, added = append(changes, change...), append(removed, ids...), append(added, f.add...)
		}
		var changed D
		err := c.db.Together(ctx, func(ctx context.Context) (err error) {
			if err = c.files.Release(ctx, removed...); err != nil {
				return err
			}
			if changed, err = c.update(ctx, caller, id, store.Versions{store.VersionOf(doc)}, changes...); err != nil {
				return err
			}
			return c.files.Attach(ctx, added...)
		})
		if err != nil {
			c.files.Restore(ctx, err, removed...)
		}
		if !errors.Is(err, store.ErrStale) || ctx.Err() != nil {
			return changed, err
		}
		if doc, err = c.mayWrite(ctx, caller, id, versions, Update); err != nil {
			return doc, err
		}
	}
}

// releaseFiles marks that no record refers to the files of the records any more, which are then deleted.
func (c *Collection[D]) releaseFiles(ctx context.Context, docs []D) error {
	var ids []store.ID
	for _, doc := range docs {
		ids = append(ids, idsOfFiles(c.filesOf(doc))...)
	}
	if len(ids) == 0 {
		return nil
	}
	return c.files.Release(ctx, ids...)
}
