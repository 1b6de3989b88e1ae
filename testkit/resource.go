package testkit

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
)

// Resource describes a generated resource. Run checks that the service behaves as described. Values of fields have the types that
// encoding/json decodes into: float64 for numbers, []any for lists, and map[string]any for objects.
type Resource struct {
	Start func(testing.TB, ...Option) *API // starts the service
	Path  string                           // path of the list; if records have a parent, the path contains RecordID(0)
	Under string                           // the field with the ID of the parent; "" if there is no parent

	// Methods are those of create, list, show, update and delete that the resource has. Access has, for each caller, the expected
	// status of each method, in the order of Methods. The callers are:
	//
	//	nobody         no credential
	//	invalid token  a string that is not a token
	//	master key     the master key
	//	user           a user other than the owner
	//	owner          the user who creates the records and owns the records that they refer to
	//	admin          an admin
	//	deleted user   a user who was deleted after signing in
	//	demoted admin  a user who was an admin when signing in
	//	ROLE           a user with a role of the project
	//
	// Other checks call a method as the first permitted caller of nobody, owner, the roles, admin and master key.
	Methods []string
	Access  map[string][]int

	Owner        bool              // records have their owner in userId
	OnUserDelete resource.OnDelete // what happens to a record when its owner is deleted
	Own          bool              // users see only their own records
	Changes      bool              // the resource has a feed of its changes

	Fields []Field

	// Derived are the response fields that the service computes. They can change when another field changes.
	Derived []string

	// Records insert the parents of the records, and the records that fields refer to. Each Inserter is called with the IDs
	// RecordID(0), RecordID(1) and RecordID(2).
	Records []Inserter

	// Insert stores a record if no route creates one; see InsertJSON. The record has all fields, and its owner in userId.
	Insert func(a *API, record map[string]any) store.ID

	// Prepare changes the body of a request that is expected to succeed, so that the body complies with rules that involve
	// several fields or records. n is at least 1, and different in each call for the same service. The body of an update has
	// only some of the fields. Prepare can be nil.
	Prepare func(a *API, n int, body map[string]any)
}

// Field is a field that clients set.
type Field struct {
	Name     string
	Samples  []any            // three valid values, in ascending order if the type has at least three values
	Valid    []any            // more valid values, such as those at the bounds of the rules
	Invalid  map[string][]any // invalid values by error code; [0].CODE is an error of the first item of a list
	Required bool
	Absent   any // value in responses if the request omits the field; unused if the field is required

	Unique   bool            // among the records of the owner if Own is set, otherwise among all records
	Global   bool            // a unique field is unique among all records
	Distinct func(n int) any // returns value n, different from the samples; set if the field is unique, required and not a reference

	Search  bool
	Sort    bool
	Filter  string // operators of the filter: "" or one of the constants
	Decimal bool   // the values are strings that are sorted as numbers

	Refers *Reference // nil if the field does not refer to another record
}

// Operators of filters.
const (
	ByEquality = "eq ne in"
	ByOrder    = "eq ne in gt gte lt lte"
	ByBool     = "eq ne"
	ByItem     = "eq in" // for a list: eq means that the list contains the value
)

// Inserter stores a record with the ID recordID. If records have an owner, the owner is the user with the ID ownerID.
type Inserter func(a *API, recordID, ownerID store.ID)

// Reference describes the records that a field refers to.
type Reference struct {
	Insert   Inserter          // stores a record that the field can refer to
	Self     bool              // the field refers to records of the same resource
	Hidden   bool              // users can refer only to their own records
	Path     string            // path below which the records can be deleted; "" if there is none
	DeleteAs string            // a caller who may delete the records
	OnDelete resource.OnDelete // effect on the referring record
}

// Field returns a pointer to the field called name. It panics if the resource has no such field.
func (r *Resource) Field(name string) *Field {
	return &r.Fields[slices.IndexFunc(r.Fields, func(f Field) bool { return f.Name == name })]
}

// RecordID returns the ID of record n that each Inserter of Resource.Records inserts. n begins at 0.
func RecordID(n int) store.ID { return store.ID{11: byte(n + 1)} }

// InsertJSON returns a function for Resource.Insert that stores records of the type D. spec declares the collection and its
// searched fields.
func InsertJSON[D store.Document](spec store.Spec) func(*API, map[string]any) store.ID {
	return func(a *API, body map[string]any) store.ID {
		a.t.Helper()
		var record D
		text, err := json.Marshal(body)
		a.must(err)
		a.must(json.Unmarshal(text, &record))
		meta := store.NewMeta(store.NewID(), store.At(a.Clock.Now()))
		reflect.ValueOf(&record).Elem().FieldByName("Meta").Set(reflect.ValueOf(meta))
		a.must(store.Open[D](a.DB, spec).Insert(a.t.Context(), record))
		return meta.ID
	}
}

// Run checks the resource. Each check is a subtest with its own service.
func (r Resource) Run(t *testing.T) {
	one, writes := r.has("show") || r.has("update") || r.has("delete"), r.has("create") || r.has("update")
	for _, check := range []struct {
		name string
		has  bool
		run  func(*testing.T, Resource)
	}{
		{"access", true, checkAccess},
		{"not found", one, checkNotFound},
		{"rules", writes, checkRules},
		{"create", r.has("create"), checkCreate},
		{"update", r.has("update"), checkUpdate},
		{"versions", r.has("update") || r.has("delete"), checkVersions},
		{"unique", writes && r.any(func(f Field) bool { return f.Unique }), checkUnique},
		{"references", r.has("create") && r.any(isReference), checkReferences},
		{"deleted references", r.has("create") && r.any(isReference), checkDeletedReferences},
		{"owner", r.Owner, checkOwner},
		{"own", r.Own, checkOwn},
		{"list", r.has("list"), checkList},
		{"etags", r.has("list") && one, checkETags},
		{"changes", r.Changes, checkChanges},
	} {
		if check.has {
			t.Run(check.name, func(t *testing.T) {
				t.Parallel()
				check.run(t, r)
			})
		}
	}
}

func isReference(f Field) bool { return f.Refers != nil }

func (r Resource) has(method string) bool { return slices.Contains(r.Methods, method) }

func (r Resource) any(is func(Field) bool) bool { return slices.ContainsFunc(r.Fields, is) }

// status returns the expected status of a method for a caller, or 0 if Access has none.
func (r Resource) status(method, caller string) int {
	i := slices.Index(r.Methods, method)
	if statuses := r.Access[caller]; i >= 0 && i < len(statuses) {
		return statuses[i]
	}
	return 0
}
