package mcp

import (
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
)

// Message is a request or a notification of a client (JSON-RPC 2.0).
type Message struct {
	JSONRPC string `json:"jsonrpc" validate:"required,oneof=2.0" example:"2.0"`
	ID      ID     `json:"id" swaggertype:"string" maxLength:"100" example:"1"` // a string or an integer; absent in a notification
	Method  string `json:"method" validate:"required,max=100" example:"tools/list"`
	Params  Object `json:"params" swaggertype:"object" extensions:"x-json=object"`
} //	@name	MCPMessage

// Reply is the response to a request.
type Reply struct {
	JSONRPC string `json:"jsonrpc" example:"2.0"`
	ID      ID     `json:"id" swaggertype:"string" example:"1"`
	Result  Object `json:"result" swaggertype:"object" extensions:"x-omitempty,x-json=object"`
	Error   Object `json:"error" swaggertype:"object" extensions:"x-omitempty,x-json=object"` // error of the protocol; the error of a tool is in result
} //	@name	MCPReply

// ID is the ID of a request: a JSON string or integer.
type ID json.RawMessage

// Object is a JSON object.
type Object json.RawMessage

var _, _ rest.Parser = (*ID)(nil), (*Object)(nil)

// quoted returns the ID as a JSON string.
func (id ID) quoted() ID {
	if len(id) == 0 || id[0] == '"' {
		return id
	}
	return ID(`"` + string(id) + `"`)
}

// ParseInput implements rest.Parser.
func (id *ID) ParseInput(name string, value json.RawMessage) []apperr.Field {
	var text string
	var number int64
	isString := json.Unmarshal(value, &text) == nil
	if !isString && json.Unmarshal(value, &number) != nil || len(text) > 100 || rest.CheckString(text) != nil {
		return []apperr.Field{{Param: name, Code: apperr.Type, Message: "Must be a string of at most 100 bytes or an integer."}}
	}
	*id = ID(value)
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

// The arguments of the tools. The jsonschema tags are the descriptions that agents read.

type listArguments struct {
	After string `json:"after,omitempty" validate:"max=100" jsonschema:"value of next in the previous result; omit it for the first part"`
}

type resourceArgument struct {
	Resource string `json:"resource" validate:"required,max=100" jsonschema:"name of a resource, from list_resources"`
}

type collectionArguments struct {
	resourceArgument
	Parent []string `json:"parent,omitempty" validate:"max=5" jsonschema:"IDs of the parent records, outermost first; only for resources for which describe_resource returns parent"`
}

type recordArguments struct {
	collectionArguments
	ID string `json:"id" validate:"required,max=100" jsonschema:"ID of the record"`
}

type searchArguments struct {
	collectionArguments
	Q      string   `json:"q,omitempty" validate:"max=1000" jsonschema:"words, or beginnings of words, that records must contain; only for resources for which describe_resource returns search.q"`
	Filter Object   `json:"filter,omitempty" jsonschema:"object with filters as keys and the values to compare with, such as {\"userId\": \"65f0c1d2e3a4b5c6d7e8f901\", \"createdAt[gte]\": \"2026-01-01T00:00:00Z\"}. describe_resource returns the filters and their operators. The operator [in] takes an array"`
	Sort   []string `json:"sort,omitempty" validate:"max=20" jsonschema:"fields to sort by; - before a name for descending order"`
	Fields []string `json:"fields,omitempty" validate:"max=100" jsonschema:"fields to include; omit this argument to include all fields. id is always included"`
	Limit  int64    `json:"limit,omitempty" validate:"min=1,max=100" jsonschema:"maximum number of records, 1 to 100; 30 by default"`
	After  string   `json:"after,omitempty" validate:"max=10000" jsonschema:"value of next in the previous result, with the same q, filter and sort; omit it for the first page"`
}

type createArguments struct {
	collectionArguments
	Data           Object `json:"data" validate:"required" jsonschema:"fields of the record; describe_resource returns the possible fields"`
	IdempotencyKey string `json:"idempotencyKey,omitempty" validate:"max=255" jsonschema:"a new random string; repeated calls with the same string create only one record"`
}

type updateArguments struct {
	recordArguments
	Data    Object `json:"data" validate:"required" jsonschema:"the fields to change; describe_resource returns the possible fields. Other fields keep their values"`
	IfMatch string `json:"ifMatch,omitempty" validate:"max=1000" jsonschema:"etag of the record that you have read; if it has changed since, nothing is written and the error is precondition_failed"`
}

type deleteArguments struct {
	recordArguments
	IfMatch string `json:"ifMatch,omitempty" validate:"max=1000" jsonschema:"etag of the record that you have read; if it has changed since, nothing is deleted and the error is precondition_failed"`
}

// schemaOf returns the JSON Schema of a tool whose arguments have the type T. Each type in it is a string: Gemini rejects lists of
// types, which jsonschema.For writes for slices.
func schemaOf[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](&jsonschema.ForOptions{
		TypeSchemas: map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[Object]():   {Type: "object"},
			reflect.TypeFor[[]string](): {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
		},
	})
	if err != nil {
		panic(err) // unreachable: T is one of the types above
	}
	return schema
}
