package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The limits of files, as in package files.
const (
	maxFileBytes     = 5_000_000_000
	defaultFileBytes = 10_000_000
)

var (
	fileSize  = regexp.MustCompile(`^([1-9]\d{0,9})(kB|MB|GB)$`)
	mediaType = regexp.MustCompile(`^[a-z]+/[a-z0-9][a-z0-9.+-]*$`)

	// imageTypes are the types that an image can have.
	imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
)

// IsFile reports whether the field has files.
func (f Field) IsFile() bool { return f.kind().isFile }

// checkFile is check for a field with files.
func (f *Field) checkFile(bad reporter) {
	const content = "the database has only the name, the type and the size of a file"
	for _, m := range []struct {
		given        bool
		name, reason string
	}{
		{f.Required, "required", "batches and imports carry no files"},
		{f.Unique, "unique", content},
		{f.Search, "search", content},
		{f.Sort, "sort", content},
		{f.Filter, "filter", content},
		{f.ReadOnly, "readonly", "its routes are for callers who may update the record"},
		{f.Title != "", "title", content},
		{f.Min != "", "min", "max limits the size, and empty files are rejected"},
		{f.HasDefault(), "default", "a declaration contains no file"},
		{f.Backfill != "", "backfill", "a declaration contains no file"},
		{f.OnDelete != "", "onDelete", "files are deleted with their record"},
	} {
		if m.given {
			bad("%s is not possible for %s: %s", m.name, f.Type, m.reason)
		}
	}
	if f.Max != "" && !fileSize.MatchString(f.Max) {
		bad("max=%s is not a size; write a whole number and kB, MB or GB, such as max=5MB", f.Max)
	} else if f.MaxBytes() > maxFileBytes {
		bad("max=%s is larger than 5GB", f.Max)
	}
	f.checkTypes(bad)
	checkDoc(f.Doc, bad)
}

// checkTypes reports invalid media types.
func (f *Field) checkTypes(bad reporter) {
	types := f.MediaTypes()
	for i, t := range types {
		switch {
		case !mediaType.MatchString(t):
			bad("types: %s is not a media type in lower case, such as application/pdf", t)
		case f.Type == typeImage && !slices.Contains(imageTypes, t):
			bad("types: an image is one of %s; write file for %s", strings.Join(imageTypes, ", "), t)
		case slices.Contains(types[:i], t):
			bad("types: %s is given twice", t)
		}
	}
}

// MediaTypes returns the allowed media types; nil if any type is allowed.
func (f Field) MediaTypes() []string {
	if f.Types == "" {
		return nil
	}
	return strings.Split(f.Types, ",")
}

// MaxBytes returns the size of the largest file.
func (f Field) MaxBytes() int64 {
	size := fileSize.FindStringSubmatch(f.Max)
	if size == nil {
		return defaultFileBytes
	}
	n, _ := strconv.ParseInt(size[1], 10, 64) // valid: fileSize has matched
	return n * map[string]int64{"kB": 1e3, "MB": 1e6, "GB": 1e9}[size[2]]
}

// checkFiles reports fields with files that the resource cannot have. Its rules must be those of resolve.
func (p *project) checkFiles(r Resource, wrong *mistakes) {
	list := r.Files()
	if list == nil {
		return
	}
	if slices.Contains([]string{"FileFields", "UpdateFields"}, r.Type()) {
		wrong.Add("name %s: is a type of modules with files; choose another name", r.Name)
	}
	if r.Rules[methodCreate] == rulePublic {
		wrong.Add("fields %s: files are not possible while everyone may create records, because files count toward the quota of a user; let others create",
			strings.Join(list.Names(), " and "))
	}
	for _, f := range list {
		if strings.EqualFold(f.Name, "fileFields") {
			wrong.Add("field %s: is an embedded struct of resources with files; choose another name", f.Name)
		}
		for _, name := range p.referrers(r.Name) {
			if child, err := p.declared(name); err == nil && child.Under == r.Name && child.Plural == f.Name {
				wrong.Add("field %s: the resource %s is at the same path, %s/%s; choose another name", f.Name, name, r.RouteOne(), f.Name)
			}
		}
	}
}

// checkParentFiles reports a resource whose path is that of files of its parent.
func (r Resource) checkParentFiles(parent Resource, wrong *mistakes) {
	if slices.Contains(parent.Files().Names(), r.Plural) {
		wrong.Add("plural %s: %s has files at the same path, %s/%s; choose another with --plural", r.Plural, parent.Name, parent.RouteOne(), r.Plural)
	}
}

// The templates of the module use the methods below.

// Files returns the fields with files.
func (r Resource) Files() fieldList { return r.Fields.only(Field.IsFile) }

// FileGo returns the declaration of the field for package files.
func (f Field) FileGo() string {
	out := fmt.Sprintf("Name: %q", f.Name)
	if f.IsList() {
		out += ", List: true"
	}
	if f.Type == typeImage {
		out += ", Image: true"
	}
	if types := f.MediaTypes(); types != nil {
		out += `, Types: []string{"` + strings.Join(types, `", "`) + `"}`
	}
	return fmt.Sprintf("{%s, MaxBytes: %s}", out, grouped(f.MaxBytes()))
}

// grouped returns a positive number with an underscore between its groups of three digits.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "_" + digits[i:]
	}
	return digits
}

// ViewGoType and ViewTag are the type and the tag of the field in the view. ViewOfFile returns the expression for its value; document is the variable of
// the record, and url that of its path.
func (f Field) ViewGoType() string { return strings.Replace(f.GoType(), ".File", ".View", 1) }

func (f Field) ViewTag() string {
	tag := `json:"` + f.Name + `"`
	if !f.IsList() {
		tag += ` extensions:"x-nullable"`
	}
	return tag
}

func (f Field) ViewOfFile(document, url string) string {
	path := fmt.Sprintf("%s+%q", url, "/"+f.Name)
	if f.IsList() {
		return fmt.Sprintf("files.Views(%s.%s, %s)", document, f.Go(), path)
	}
	return fmt.Sprintf("%s.%s.View(%s)", document, f.Go(), path)
}

// RecordURL returns the expression for the path of a record, below the root of the API.
func (r Resource) RecordURL() string {
	if above := r.Above(); above != nil {
		return fmt.Sprintf("%q + %s.%s.Hex() + %q + %[2]s.ID.Hex()", above.Route()+"/", r.Var(), r.UnderGo(), "/"+r.Plural+"/")
	}
	return fmt.Sprintf("%q + %s.ID.Hex()", r.Route()+"/", r.Var())
}

// View returns the controller's expression for the view of a record, and ViewFunc the expression for the function that returns it.
func (r Resource) View() string {
	if r.Files() != nil {
		return "c.service.view(" + r.Var() + ")"
	}
	return r.Var() + ".View()"
}

func (r Resource) ViewFunc() string {
	if r.Files() != nil {
		return "s.view"
	}
	return r.Type() + ".View"
}

// UpdateInput is the name of the type with the fields that update accepts.
func (r Resource) UpdateInput() string {
	if r.Files() != nil {
		return "UpdateFields"
	}
	return "Fields"
}

// FileCaller returns the callers of the routes that read files (show) or change them (update); nil if the resource has no such
// routes.
func (r Resource) FileCaller(method string) string {
	if method == methodShow && !r.Has(methodShow) {
		method = methodList
	}
	if !r.Has(method) {
		return "nil"
	}
	return r.Caller(method)
}
