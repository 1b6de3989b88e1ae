package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
)

// Limits of a batch. maxErrors and maxPath limit the memory for error messages.
const (
	maxOperations = 100
	maxErrors     = 100     // maximum number of errors that are reported for the references in one body
	maxPath       = 1 << 10 // approximate maximum size in bytes of the path of a value in an error
)

// Input is the body of a batch.
type Input struct {
	Operations Operations `json:"operations" validate:"required,max=100"`
} //	@name	BatchInput

// Operations are the operations of a batch, in order.
type Operations []Operation

// Operation is one write.
type Operation struct {
	Name    Name   `json:"name" swaggertype:"string" example:"first"` // name with which later operations can refer to the response
	Method  string `json:"method" validate:"required,oneof=POST PUT PATCH DELETE" example:"POST"`
	Path    string `json:"path" validate:"required,max=1000" example:"/articles"` // path of a resource, relative to the base address of the API
	Body    Object `json:"body" swaggertype:"object" extensions:"x-json=object"`  // the parameters of the operation
	IfMatch string `json:"ifMatch" validate:"max=1000"`                           // the value of the header If-Match
} //	@name	BatchOperation

// Name is the name of an operation.
type Name string

// Object is a JSON object.
type Object json.RawMessage

var _, _, _ rest.Parser = (*Operations)(nil), (*Name)(nil), (*Object)(nil)

// ParseInput implements rest.Parser. An empty name is an error, because no operation can refer to it.
func (n *Name) ParseInput(name string, value json.RawMessage) []apperr.Field {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return []apperr.Field{{Param: name, Code: apperr.Type, Message: "Must be a string."}}
	}
	if !namePattern.MatchString(text) {
		return []apperr.Field{{
			Param: name, Code: apperr.Format, Message: "Must begin with a lower-case letter and have at most 30 letters and digits. Omit a name that no operation refers to.",
		}}
	}
	*n = Name(text)
	return nil
}

// ParseInput implements rest.Parser.
func (o *Object) ParseInput(name string, value json.RawMessage) []apperr.Field {
	if len(value) == 0 || value[0] != '{' {
		return []apperr.Field{{Param: name, Code: apperr.Type, Message: "Must be a JSON object."}}
	}
	*o = Object(value)
	return nil
}

// ParseInput implements rest.Parser. It omits the checks that need the routes or the responses to operations.
func (o *Operations) ParseInput(name string, value json.RawMessage) []apperr.Field {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		return []apperr.Field{{Param: name, Code: apperr.Type, Message: "Must be a list of operations."}}
	}
	switch {
	case len(items) == 0:
		return []apperr.Field{{Param: name, Code: apperr.Required, Message: "Must have at least one operation."}}
	case len(items) > maxOperations: // checked first, because checking the operations is expensive
		return []apperr.Field{{
			Param: name, Code: apperr.MaxLength, Message: fmt.Sprintf("Must have at most %d items.", maxOperations), Expected: maxOperations,
		}}
	}
	var fieldErrs []apperr.Field
	names := map[string]bool{}
	for i, item := range items {
		var op Operation
		decoded := apperr.Invalid(rest.DecodeObject(item, &op)...)
		all := apperr.JoinInvalid(decoded, apperr.Invalid(op.check(names)...)).(*apperr.Error)
		fieldErrs = append(fieldErrs, prefixed(i, all.Fields)...)
		if op.Name != "" {
			names[string(op.Name)] = true
		}
		*o = append(*o, op)
	}
	return fieldErrs
}

// prefixed returns the errors of operation i, with the prefix operations[i] in the names of parameters. An error without a
// parameter name concerns the whole operation.
func prefixed(i int, fieldErrs []apperr.Field) []apperr.Field {
	out := slices.Clone(fieldErrs)
	for n := range out {
		out[n].In, out[n].Param = "body", strings.TrimSuffix(fmt.Sprintf("operations[%d].%s", i, out[n].Param), ".")
	}
	return out
}

var (
	namePattern      = regexp.MustCompile(`^[a-z][a-zA-Z0-9]{0,29}$`)
	segmentPattern   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)
	referencePattern = regexp.MustCompile(`^\$([a-z][a-zA-Z0-9]{0,29})\.([A-Za-z0-9_]{1,100})$`)
)

// check returns the errors of the operation that DecodeObject does not find. names has the names of the earlier operations.
func (op Operation) check(names map[string]bool) (fieldErrs []apperr.Field) {
	add := func(param string, code apperr.FieldCode, message string) {
		fieldErrs = append(fieldErrs, apperr.Field{In: "body", Param: param, Code: code, Message: message})
	}
	if names[string(op.Name)] {
		add("name", apperr.FieldConflict, "Is the name of an earlier operation.")
	}
	known := func(reference string) (jsontext.Value, string) {
		if name := referencePattern.FindStringSubmatch(reference)[1]; !names[name] {
			return nil, fmt.Sprintf("No earlier operation has the name %s.", name)
		}
		return jsontext.Value("null"), ""
	}
	for segment := range strings.SplitSeq(strings.TrimPrefix(op.Path, "/"), "/") {
		isReference := referencePattern.MatchString(segment)
		if op.Path != "" && (op.Path[0] != '/' || !isReference && !segmentPattern.MatchString(segment)) {
			add("path", apperr.Format, "Must be a path such as /articles or /articles/$article.id, without a query string.")
			break
		}
		if isReference {
			if _, missing := known(segment); missing != "" {
				add("path", apperr.UnknownReference, missing)
			}
		}
	}
	_, found := replaceReferences(op.Body, known)
	return append(fieldErrs, found...)
}

// lookup returns the value of a reference. If the reference has no value, missing is the reason, as a sentence for the client.
type lookup func(reference string) (value jsontext.Value, missing string)

// pathWith returns the path with each reference replaced by its value, which must be a string.
func (op Operation) pathWith(values lookup) (string, []apperr.Field) {
	segments := strings.Split(op.Path, "/")
	for i, segment := range segments {
		if !strings.HasPrefix(segment, "$") {
			continue
		}
		value, missing := values(segment)
		if missing == "" && (json.Unmarshal(value, &segments[i]) != nil || !segmentPattern.MatchString(segments[i])) {
			missing = "The value of " + segment + " cannot be a part of a path."
		}
		if missing != "" {
			return "", []apperr.Field{{In: "body", Param: "path", Code: apperr.UnknownReference, Message: missing}}
		}
	}
	return strings.Join(segments, "/"), nil
}

// replaceReferences returns body with each reference replaced by its value, and with $$ at the beginning of a string replaced
// by $. It returns at most maxErrors errors.
func replaceReferences(body Object, values lookup) ([]byte, []apperr.Field) {
	var out bytes.Buffer
	options := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)} // as in the bodies of other requests
	decoder, encoder := jsontext.NewDecoder(bytes.NewReader(body), options...), jsontext.NewEncoder(&out, options...)
	var fieldErrs []apperr.Field
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) || len(fieldErrs) == maxErrors {
			return bytes.TrimSpace(out.Bytes()), fieldErrs
		}
		if err != nil {
			return nil, []apperr.Field{{In: "body", Param: "body", Code: apperr.Type, Message: "Must be a JSON object."}}
		}
		text := ""
		if parent, length := decoder.StackIndex(decoder.StackDepth()); token.Kind() == '"' && (parent != '{' || length%2 == 0) { // not a field name
			text = token.String()
		}
		switch {
		case strings.HasPrefix(text, "$$"):
			token = jsontext.String(text[1:])
		case referencePattern.MatchString(text):
			value, missing := values(text)
			if missing == "" {
				_ = encoder.WriteValue(value) // cannot fail: value is part of a response
				continue
			}
			fieldErrs = append(fieldErrs, apperr.Field{In: "body", Param: "body" + path(decoder), Code: apperr.UnknownReference, Message: missing})
		case strings.HasPrefix(text, "$"):
			fieldErrs = append(fieldErrs, apperr.Field{
				In: "body", Param: "body" + path(decoder), Code: apperr.Format,
				Message: "Must be a reference such as $order.id. Write $$ for a string that begins with $.",
			})
		}
		_ = encoder.WriteToken(token) // cannot fail: the token was read from valid JSON
	}
}

// path returns the path of the last token that the decoder has read, such as .lines[0].product. A path is truncated after about
// maxPath bytes.
func path(decoder *jsontext.Decoder) string {
	var out strings.Builder
	depth := 0
	for token := range decoder.StackPointer().Tokens() {
		if depth++; out.Len() > maxPath {
			break
		}
		token = token[:min(len(token), maxPath)]
		if kind, _ := decoder.StackIndex(depth); kind == '[' {
			out.WriteString("[" + token + "]")
		} else {
			out.WriteString("." + token)
		}
	}
	return out.String()
}
