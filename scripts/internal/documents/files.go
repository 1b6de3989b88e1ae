package documents

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-openapi/spec"

	"example.com/ginseng/scripts/internal/naming"
)

// fileMark is the extension of a property of a record with files, and of the parameter of a form with a file: what files.Field
// declares. transferMark is that of an operation that receives or sends a file.
const fileMark, transferMark = "x-file", "x-transfer"

const (
	fileDefinition = "File" // files.View
	linkDefinition = "FileLink"
	multipartType  = "multipart/form-data"
	binaryType     = "application/octet-stream"
)

// file is a files.Field.
type file struct {
	Name        string
	List, Image bool
	Types       []string
	MaxBytes    int64
}

// about returns the value of x-file.
func (f file) about() map[string]any {
	about := map[string]any{"maxBytes": f.MaxBytes}
	switch {
	case f.Types != nil:
		about["types"] = f.Types
	case f.Image:
		about["types"] = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
	}
	return about
}

// words returns the name of the field in words.
func (f file) words() string { return strings.ReplaceAll(naming.Kebab(f.Name, f.Name), "-", " ") }

// rules describes the files that the field accepts.
func (f file) rules() string {
	text := fmt.Sprintf("at most %d bytes", f.MaxBytes)
	if types, ok := f.about()["types"].([]string); ok {
		text += "; " + strings.Join(types, ", ")
	}
	return text
}

// fileRow is a row of the files of a field.
type fileRow struct {
	file
	method string
	path   string // documented path
	record string // documented path of the record
	isLink bool
}

// fileRowOf returns the fileRow of a row; false if the row is not of files.
func fileRowOf(r row) (f fileRow, ok bool) {
	if r.List == nil || r.Resource == "" {
		return f, false
	}
	f.method, f.path = r.Method, documented(r)
	segments := strings.Split(f.path, "/")
	for i := 1; i+2 < len(segments); i++ {
		if segments[i] != r.Resource || !strings.HasPrefix(segments[i+1], "{") {
			continue
		}
		at := slices.IndexFunc(r.List.Files, func(f file) bool { return f.Name == segments[i+2] })
		if at < 0 {
			return f, false
		}
		f.file, f.record = r.List.Files[at], strings.Join(segments[:i+2], "/")
		f.isLink = segments[len(segments)-1] == "link"
		return f, true
	}
	return f, false
}

// fileOperations adds the operations of files, which have no annotations. Those of a resource whose record no annotated operation
// returns are left out.
func (j joiner) fileOperations() {
	for _, row := range j.table.Routes {
		f, ok := fileRowOf(row)
		if !ok {
			continue
		}
		tag, definition := j.recordAt(f.record)
		item := j.Paths.Paths[f.path]
		method := map[string]**spec.Operation{"GET": &item.Get, "POST": &item.Post, "PUT": &item.Put, "DELETE": &item.Delete}[f.method]
		if definition == "" || method == nil || *method != nil {
			continue
		}
		op := spec.NewOperation("").WithTags(tag)
		op.Extensions, op.Consumes = spec.Extensions{}, []string{}
		switch {
		case f.isLink:
			j.linkTo(op, f)
		case f.method == http.MethodGet:
			download(op, f)
		case f.method == http.MethodDelete:
			op.Summary = "Delete the " + f.words()
			if f.List {
				op.Summary = "Delete one of the " + f.words()
			}
			op.RespondsWith(http.StatusNoContent, spec.NewResponse().WithDescription("No Content"))
		default:
			upload(op, f, definition)
		}
		if f.method != http.MethodGet && !f.isLink {
			if update := j.Paths.Paths[f.record].Patch; update != nil { // who may update the record may change its files
				if response, annotated := update.Responses.StatusCodeResponses[http.StatusForbidden]; annotated {
					op.RespondsWith(http.StatusForbidden, &response)
				}
			}
			op.AddParam(spec.HeaderParam("If-Match").WithDescription("the ETag of the version of the record to change").Typed("string", "").AsOptional())
		}
		op.RespondsWith(http.StatusNotImplemented, problem("not_supported: the service has no storage for files"))
		*method = op
		j.Paths.Paths[f.path] = item
	}
}

// recordAt returns the tag and the definition of the records with the documented path.
func (j joiner) recordAt(record string) (tag, definition string) {
	list := record[:strings.LastIndexByte(record, '/')]
	one, all := j.Paths.Paths[record], j.Paths.Paths[list]
	for _, op := range []*spec.Operation{one.Get, one.Patch, all.Get, all.Post} {
		if op == nil || len(op.Tags) == 0 {
			continue
		}
		if definition = recordOf(j.Swagger, op); definition != "" {
			return op.Tags[0], definition
		}
	}
	return "", ""
}

func problem(description string) *spec.Response {
	return spec.NewResponse().WithSchema(spec.RefProperty("#/definitions/Problem")).WithDescription(description)
}

// upload completes the operation that stores a file.
func upload(op *spec.Operation, f fileRow, definition string) {
	op.Consumes = []string{multipartType}
	op.Summary, op.Description = "Store the "+f.words(), "Replaces the file."
	record := spec.NewResponse().WithSchema(spec.RefProperty("#/definitions/" + definition)).WithDescription("OK")
	status := http.StatusOK
	if f.List {
		op.Summary, op.Description, status = "Add a file to the "+f.words(), "Adds a file at the end of the list, which has at most 20.", http.StatusCreated
		record.WithDescription("Created").AddHeader("Location", spec.ResponseHeader().Typed("string", "").WithDescription("path of the file"))
		op.RespondsWith(http.StatusConflict, problem("conflict: the list has 20 files"))
	}
	op.Description += " The body is the file, with any Content-Type, or a form with the file in one part. The type of the file is found from its content. " +
		"A file with the bytes and the name of the stored one changes nothing. Send the credential in the header or in the query string."
	part := spec.FileParam(f.Name).WithDescription("the file: " + f.rules()).AsRequired()
	op.AddParam(part)
	op.AddParam(spec.QueryParam("filename").WithDescription("the name of the file, if Content-Disposition does not have it").Typed("string", "").AsOptional())
	op.RespondsWith(status, record)
	op.RespondsWith(http.StatusRequestEntityTooLarge, problem(fmt.Sprintf("payload_too_large: the file is larger than %d bytes; quota_exceeded: the files of the user would be larger than FILES_QUOTA", f.MaxBytes)))
}

// download completes the operation that sends a file.
func download(op *spec.Operation, f fileRow) {
	op.Summary = "Read the " + f.words()
	if f.List {
		op.Summary = "Read one of the " + f.words()
	}
	op.Produces = []string{"*/*"}
	for _, p := range []struct{ name, description string }{
		{"If-None-Match", "the ETag of an earlier response"}, {"Range", "one range of bytes, such as bytes=0-1023"}, {"If-Range", "the ETag of the file that the range is of"},
	} {
		op.AddParam(spec.HeaderParam(p.name).WithDescription(p.description).Typed("string", "").AsOptional())
	}
	op.AddParam(spec.QueryParam("expires").WithDescription("from a link").Typed("string", "").AsOptional())
	op.AddParam(spec.QueryParam("signature").WithDescription("from a link; replaces the credential").Typed("string", "").AsOptional())
	op.RespondsWith(http.StatusForbidden, problem("forbidden: the link has ended, or was changed"))
	op.RespondsWith(http.StatusRequestedRangeNotSatisfiable, problem("range_not_satisfiable: the range begins after the end of the file"))
	header := func(description string) *spec.Header {
		return spec.ResponseHeader().Typed("string", "").WithDescription(description)
	}
	for status, description := range map[int]string{http.StatusOK: "the file", http.StatusPartialContent: "the range of the file"} {
		response := spec.NewResponse().WithSchema(&spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"file"}}}).WithDescription(description)
		response.AddHeader("ETag", header("identifies the bytes of the file"))
		response.AddHeader("Content-Disposition", header("inline or attachment, and the name of the file"))
		if status == http.StatusPartialContent {
			response.AddHeader("Content-Range", header("the range, and the size of the file"))
		}
		op.RespondsWith(status, response)
	}
}

// linkTo completes the operation that creates a link to a file.
func (j joiner) linkTo(op *spec.Operation, f fileRow) {
	op.Summary = "Create a link to the " + f.words()
	if f.List {
		op.Summary = "Create a link to one of the " + f.words()
	}
	op.Description = "The link needs no credential, such as in the src of an img, until it expires, or until the file is replaced or deleted."
	seconds := spec.FormDataParam("expiresIn").WithDescription("seconds until the link expires").Typed("integer", "").AsOptional()
	op.AddParam(seconds.WithMinimum(1, false).WithMaximum(3600, false).WithDefault(300))
	j.Definitions[linkDefinition] = *new(spec.Schema).Typed("object", "").
		SetProperty("url", *spec.StringProperty().WithDescription("the absolute URL").WithExample("https://api.example.com/products/65f0c1d2e3a4b5c6d7e8f901/cover?expires=1772323200&signature=Zk3n0cXGk2")).
		SetProperty("expiresAt", *spec.StrFmtProperty("date-time").WithExample("2026-01-02T15:04:05.678Z"))
	op.RespondsWith(http.StatusCreated, spec.NewResponse().WithSchema(spec.RefProperty("#/definitions/"+linkDefinition)).WithDescription("Created"))
}

// fileParts adds the files of a record to the form of an operation that creates or changes the record.
func fileParts(op *spec.Operation, r row) {
	if !r.Files {
		return
	}
	for _, f := range r.List.Files {
		part := spec.FileParam(f.Name).WithDescription(f.rules()).AsOptional()
		about := f.about()
		about["list"] = f.List
		part.AddExtension(fileMark, about)
		op.AddParam(part)
	}
}

// fileProperties describes the files in the definition of a record. File is the definition of an item of a list; a single file has
// no id, and can be null.
func (j joiner) fileProperties(record *spec.Schema, fields []file) {
	for _, f := range fields {
		property, has := record.Properties[f.Name]
		if !has {
			continue
		}
		if !f.List {
			one := j.Definitions[fileDefinition]
			one.Properties = maps.Clone(one.Properties)
			delete(one.Properties, "id")
			for _, name := range []string{"width", "height"} {
				if size, has := one.Properties[name]; has && f.Image {
					size.Extensions = nil // always present
					one.Properties[name] = size
				}
			}
			one.Extensions = spec.Extensions{"x-nullable": true}
			one.Description = property.Description
			property = one
		}
		property.AddExtension(fileMark, f.about())
		record.Properties[f.Name] = property
	}
}

// uploadBody lets the body of an upload also be the file itself.
func uploadBody(op *openapi3.Operation) {
	if op.Extensions[transferMark] == true && op.RequestBody != nil {
		binary := openapi3.NewStringSchema().WithFormat("binary")
		op.RequestBody.Value.Content[binaryType] = openapi3.NewMediaType().WithSchema(binary)
	}
}

// takeFiles removes the files from the schema of a form, and returns them as the properties of a multipart form. Only multipart forms
// have files; in JSON, null deletes the files of an update.
func takeFiles(schema *openapi3.Schema, isUpdate bool) openapi3.Schemas {
	parts := openapi3.Schemas{}
	for name, property := range schema.Properties {
		about, isFile := property.Value.Extensions[fileMark].(map[string]any)
		if !isFile {
			continue
		}
		delete(schema.Properties, name)
		isList := about["list"] == true
		binary := openapi3.NewStringSchema().WithFormat("binary")
		binary.Description = property.Value.Description
		either := openapi3.NewObjectSchema().WithAnyAdditionalProperties()
		if isList {
			items := openapi3.NewArraySchema().WithItems(openapi3.NewStringSchema().WithFormat("binary"))
			items.Description, binary = binary.Description, items
			either = openapi3.NewArraySchema().WithItems(openapi3.NewObjectSchema().WithAnyAdditionalProperties())
		}
		parts[name] = binary.NewRef()
		if isUpdate {
			either.Nullable, either.Description = true, "null deletes the file; an object of a response is ignored"
			if isList {
				either.Description = "null deletes the files; objects of a response are ignored"
			}
			schema.Properties[name] = either.NewRef()
		}
	}
	return parts
}
