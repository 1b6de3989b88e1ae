package testkit

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
)

// Resource describes a generated resource: its declaration, from which Complete computes what Run checks. Values of fields have the
// types that encoding/json decodes into: float64 for numbers, []any for lists, and map[string]any for objects.
type Resource struct {
	Start func(testing.TB, ...Option) *API // starts the service
	Path  string                           // path of the list; if records have a parent, the path contains RecordID(0)
	Under string                           // the field with the ID of the parent; "" if there is no parent

	// Callers has, for each method (create, list, show, update and delete) that the resource has, who may call it:
	//
	//	public        every caller
	//	user          users
	//	owner         the owner of the record or of its parent, and admins
	//	own           users, who see only their own records, and admins
	//	org           members of the organization of the record or of its parent, and admins; for list and show, others see nothing
	//	org=R,S       members with one of the roles, and admins
	//	role=R,S      users with one of the roles, and admins
	//	admin         admins
	//	master        the master key
	Callers      map[string]string
	NoUsers      bool // the service has no users
	HiddenParent bool // users cannot see the parents of other users

	// Methods are the methods that the resource has. Access has, for each caller, the expected status of each method, in the order
	// of Methods. Complete sets both from Callers. The callers are:
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
	// If records belong to organizations, owner is a member who creates the records, user is no member, and there are:
	//
	//	member         another member
	//	former member  a user who was a member
	//	elsewhere      an owner of another organization
	//	org:ROLE       a member with the role
	//	narrow key     an API key of a member, which can only read
	//
	// Other checks call a method as the first permitted caller of nobody, owner, the roles, admin and master key. A record that a check
	// has created with POST is read by the caller who created it, if permitted: a rule can hide it from others.
	Methods []string
	Access  map[string][]int

	Owner        bool              // records have their owner in userId
	OnUserDelete resource.OnDelete // what happens to a record when its owner is deleted
	Own          bool              // users see only their own records
	Organization bool              // records belong to the organization in organizationId
	Changes      bool              // the resource has a feed of its changes

	Fields []Field

	// Derived are the response fields that the service computes. They can change when another field changes. A read-only field in
	// Derived can have any value in a new record; others have their default.
	Derived []string

	// Records insert the parents of the records, and the records that fields refer to. Each Inserter is called with the IDs
	// RecordID(0), RecordID(1) and RecordID(2).
	Records []Inserter

	// Insert stores a record and returns its ID; see InsertJSON. Checks insert the records that they show, list, update or delete,
	// so that these checks do not depend on the rules for creation. record has the values of the document: all Fields, the owner
	// in userId, and the parent in the field that Under names. To change the stored records, wrap the generated function:
	//
	//	insert := r.Insert
	//	r.Insert = func(api *testkit.API, caller testkit.Caller, record map[string]any) store.ID {
	//		record["state"] = "published"
	//		return insert(api, caller, record)
	//	}
	//
	// caller is the caller who then calls the methods. If Insert is nil, checks create records with POST.
	Insert func(a *API, caller Caller, record map[string]any) store.ID

	// Prepare changes the body of a request that is expected to succeed, so that the body complies with rules of the project. n is
	// at least 1, and different in each call for the same service. PrepareUpdate does the same for updates, whose bodies have only
	// some of the fields. A nil Prepare changes nothing. If PrepareUpdate is nil, Prepare also changes the bodies of updates.
	Prepare, PrepareUpdate func(a *API, n int, body map[string]any)

	skipped    map[string]string // reasons by name of the check; see Skip
	readOnly   []Field           // set by Run, which leaves the fields that clients set in Fields
	fileFields []Field           // set by Run
}

// Caller is a caller in Resource.Access. The Account of nobody is empty. The Account of the master key has only a Token.
type Caller struct {
	Name string
	Account
}

// Field is a field of a record. Complete sets what follows from its Type; a test can set other values before or afterwards.
type Field struct {
	Name       string
	Type       string   // the type in the declaration, such as "string" or "[]int"
	Values     []string // the values of an enum
	Min, Max   string   // the bounds in the declaration; "" if there is none
	MediaTypes []string // the types of files in the declaration; nil: any
	Default    string   // the default in the declaration; "" if there is none
	Required   bool
	ReadOnly   bool // only code of the service sets the field; Valid and Invalid are unused

	Unique bool // among the records of the owner or organization if Own or Organization is set, otherwise among all records
	Global bool // a unique field is unique among all records
	Search bool
	Sort   bool
	Filter string // operators of the filter: "" or one of the constants

	// Bytes returns the bytes of a file that the field accepts, different for each n. The files must be valid for MediaTypes[0], or of
	// the type image/png if MediaTypes is nil and Type is "image". If Bytes is nil, the checks use files of their own: images, PDF and text.
	Bytes func(n int) []byte

	Refers *Reference // nil if the field does not refer to another record

	// Complete sets the following fields.

	Samples  []any            // three valid values, in ascending order if the type has at least three values
	Valid    []any            // more valid values, such as those at the bounds of the rules
	Invalid  map[string][]any // invalid values by error code; [0].CODE is an error of the first item of a list
	Absent   any              // value in responses if the request omits the field; unused if the field is required
	Distinct func(n int) any  // returns value n, different from the samples; needed if the field is unique, required and not a reference
	Decimal  bool             // the values are strings that are sorted as numbers

	kind  kind
	index int // position among the fields of the resource
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
	Hidden   bool              // users can refer only to records of their own, or under their own
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

// InsertJSON returns a function for Resource.Insert that stores records of the type D. Fields that the record lacks have the value
// of their default tag. spec declares the collection, its searched fields and whether its changes are logged.
func InsertJSON[D store.Document](spec store.Spec) func(*API, Caller, map[string]any) store.ID {
	return func(a *API, _ Caller, record map[string]any) store.ID {
		a.t.Helper()
		id := store.NewID()
		insertJSON[D](a, spec, id, record)
		return id
	}
}

// InsertRecord stores a record of the type D with the ID in the field id, unless it exists: it can be the parent of several others. userId
// is ownerID and, if under is not "", the field under is the ID of the parent, which is the ID of the record. Records of organizations
// belong to OrganizationID. fields are the fields that must not be empty: each has a sample or, if it is unique, a different value for
// each ID. Other fields have their default.
func InsertRecord[D store.Document](a *API, collection, under string, recordID, ownerID store.ID, fields ...Field) {
	a.t.Helper()
	spec := store.Spec{Name: collection}
	exists, err := store.Open[D](a.DB, spec).Exists(a.t.Context(), store.Eq("id", recordID))
	a.must(err)
	if exists {
		return
	}
	record := map[string]any{"userId": ownerID, resource.OrganizationID: a.organization}
	if under != "" {
		record[under] = recordID
	}
	for _, f := range fields {
		record[f.Name] = f.stored(recordID)
	}
	insertJSON[D](a, spec, recordID, record)
}

func insertJSON[D store.Document](a *API, spec store.Spec, id store.ID, values map[string]any) {
	a.t.Helper()
	var record D
	store.SetDefaults(&record)
	text, err := json.Marshal(values)
	a.must(err)
	a.must(json.Unmarshal(text, &record))
	reflect.ValueOf(&record).Elem().FieldByName("Meta").Set(reflect.ValueOf(store.NewMeta(id, store.At(a.Clock.Now()))))
	a.must(store.Open[D](a.DB, spec).Insert(a.t.Context(), record))
}

// Skip leaves out a check that a rule of the project excludes. name is the name of the check as in the output of go test, without
// the name of the test: "update", or for a part of a check "access/admin", "rules/FIELD", "list/filters".
func (r *Resource) Skip(name, reason string) {
	r.skipped = maps.Clone(r.skipped)
	if r.skipped == nil {
		r.skipped = map[string]string{}
	}
	r.skipped[name] = reason
}

// check is a check of a resource, and the names of its parts, which can be skipped too.
type check struct {
	name  string
	has   bool // whether the resource has what is checked
	run   func(*suite)
	parts []string
}

func (r Resource) checks() []check {
	one, writes := r.has("show") || r.has("update") || r.has("delete"), r.has("create") || r.has("update")
	add := r.Insert != nil || r.has("create")
	sets := len(r.Fields) > 0 || len(r.fileFields) == 0 // an update without files can change the record
	return []check{
		{"access", true, checkAccess, slices.Sorted(maps.Keys(r.Access))},
		{"not found", one, checkNotFound, nil},
		{"rules", writes, checkRules, namesOf(r.Fields)},
		{"create", r.has("create"), checkCreate, []string{"list", "delete"}},
		{"update", r.has("update") && sets, checkUpdate, nil},
		{"versions", r.has("update") && sets || r.has("delete") && !r.has("update"), checkVersions, nil},
		{"read-only", writes && len(r.readOnly) > 0, checkReadOnly, nil},
		{"unique", writes && r.any(func(f Field) bool { return f.Unique }), checkUnique, nil},
		{"references", add && r.any(isReference), checkReferences, nil},
		{"deleted references", add && r.any(isReference), checkDeletedReferences, nil},
		{"owner", r.Owner, checkOwner, nil},
		{"own", r.Own || r.Organization && r.hidesOrganization(), checkOwn, nil},
		{"organization", r.Organization, checkOrganization, nil},
		{"list", r.has("list"), checkList, []string{"order", "filters", "search"}},
		{"etags", r.has("list") && one && (sets || !r.has("update")), checkETags, nil},
		{"changes", r.Changes && (sets || !r.has("update")), checkChanges, nil},
		{"files", len(r.fileFields) > 0, checkFiles, namesOf(r.fileFields)},
	}
}

// Run checks the resource. Each check is a subtest with its own service. Run fails if a call of Skip names no check, or if a caller in
// Access does not have a status for each method.
func (r Resource) Run(t *testing.T) {
	var names []string
	r.readOnly = slices.DeleteFunc(slices.Clone(r.Fields), func(f Field) bool { return !f.ReadOnly })
	r.fileFields = slices.DeleteFunc(slices.Clone(r.Fields), func(f Field) bool { return !f.isFile() })
	r.Fields = slices.DeleteFunc(slices.Clone(r.Fields), func(f Field) bool { return f.ReadOnly || f.isFile() })
	for caller, statuses := range r.Access {
		if len(statuses) != len(r.Methods) {
			t.Fatalf("Access[%q] has %d statuses, want one for each of %q", caller, len(statuses), r.Methods)
		}
	}
	for _, check := range r.checks() {
		if !check.has {
			continue
		}
		names = append(names, check.name)
		for _, part := range check.parts {
			names = append(names, check.name+"/"+part)
		}
		t.Run(check.name, func(t *testing.T) {
			t.Parallel()
			s := &suite{Resource: r, t: t, check: check.name}
			s.skip()
			check.run(s)
		})
	}
	for name := range r.skipped {
		if !slices.Contains(names, name) {
			t.Errorf("Skip: there is no check %q; the checks are %q", name, names)
		}
	}
}

func isReference(f Field) bool { return f.Refers != nil }

func (r Resource) has(method string) bool { return slices.Contains(r.Methods, method) }

func namesOf(fields []Field) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

func (r Resource) any(is func(Field) bool) bool { return slices.ContainsFunc(r.Fields, is) }

// status returns the expected status of a method for a caller, or 0 if Access has none.
func (r Resource) status(method, caller string) int {
	i := slices.Index(r.Methods, method)
	if statuses := r.Access[caller]; i >= 0 && i < len(statuses) {
		return statuses[i]
	}
	return 0
}
