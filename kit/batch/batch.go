// Package batch provides POST /batch, which writes several records in one request. Either all writes are stored or none. The
// operations of a batch call the same handlers as separate requests of the caller would.
//
// Use it when a client must write several records together; a module's own code uses DB.Atomic of package store instead. To load
// many records from a file, use package records.
package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

const (
	maxResponse = 1 << 20 // maximum total size of the responses to the operations of a batch, in bytes
	maxValues   = 1 << 20 // maximum total size of the values that replace the references of a batch, in bytes
)

// Module has POST /batch.
type Module struct {
	DB    store.DB
	Table *route.Table
	// Authenticate verifies the credential of a batch again, in the transaction of ctx, because the access of the caller may have ended
	// since the request began. It returns the caller.
	Authenticate func(ctx context.Context, g *gin.Context) (access.Principal, error)
	// Keep stores the response to a batch, in the transaction of ctx, if the request has an Idempotency-Key.
	Keep func(ctx context.Context, g *gin.Context, status int, body []byte) error
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts { return kit.Parts{} }

// Routes implements kit.Module. Limits and Idempotency-Key apply to the batch as a whole, before its transaction begins.
func (m *Module) Routes(r *route.Router) {
	r.POST("/batch", route.User, m.run, route.JSONOnly, route.LargeBody, route.AllowAPIKey, route.Idempotent, route.Alone)
}

// Output is the response to a batch.
type Output struct {
	Results []Result `json:"results"`
} //	@name	Batch

// Result is the response to one operation.
type Result struct {
	Status   int             `json:"status" example:"201"`
	Location string          `json:"location,omitempty" extensions:"x-omitempty" example:"/articles/65f0c1d2e3a4b5c6d7e8f902"`
	ETag     string          `json:"etag,omitempty" extensions:"x-omitempty"`
	Body     json.RawMessage `json:"body,omitempty" swaggertype:"object" extensions:"x-omitempty,x-json=object"`
} //	@name	BatchResult

// run runs a batch.
//
//	@Summary		Write several records in one transaction
//	@Description	Runs 1 to 100 operations in order, as the caller. Either all operations take effect or none. An operation is a POST, PUT, PATCH or DELETE of a resource. $NAME.FIELD, as a segment of a path or as a whole string in a body, is replaced by a field of the response to the earlier operation with this name. To send a string that begins with $, double the $.
//	@Description	If an operation fails, nothing is stored. The response then has the status and the problem of this operation, with the index of the operation in the field operation. The total size of the responses to the operations must not exceed 1 MiB. If the MongoDB server has no transactions, the response is 501.
//	@Tags			batch
//	@Accept			json
//	@Param			input			body		Input	true	"the operations"
//	@Param			Idempotency-Key	header		string	false	"a unique key that the client chooses; repeated requests with the same key run the batch only once"
//	@Success		200				{object}	Output
//	@Failure		403				{object}	rest.Problem	"forbidden: the caller may not execute an operation; insufficient_scope: the API key lacks a scope that an operation requires"
//	@Failure		404				{object}	rest.Problem	"not_found: the record of an operation does not exist"
//	@Failure		409				{object}	rest.Problem	"conflict: an operation conflicts with another record, or the operations would change or delete more than 1,000 records that refer to deleted ones"
//	@Failure		412				{object}	rest.Problem	"precondition_failed: the record of an operation does not have the version in ifMatch"
//	@Failure		501				{object}	rest.Problem	"not_supported: the database has no transactions"
//	@Router			/batch [post]
func (m *Module) run(g *gin.Context) error {
	in, err := rest.Bind[Input](g)
	if err := apperr.JoinInvalid(err, m.checkRoutes(in.Operations)); err != nil {
		return err
	}
	var body bytes.Buffer
	err = m.DB.Atomic(g.Request.Context(), func(ctx context.Context) error {
		caller, err := m.Authenticate(ctx, g)
		if err != nil {
			return err
		}
		results, err := m.operate(resource.ShareLimit(ctx), caller.ForRequest(), in.Operations)
		if err != nil {
			return err
		}
		body.Reset() // Atomic on MongoDB can repeat this function
		if err := store.EncodeJSON(&body, Output{results}); err != nil {
			return err
		}
		body.WriteByte('\n') // as rest.OK does
		return m.Keep(ctx, g, http.StatusOK, body.Bytes())
	})
	if err != nil {
		return err
	}
	g.Data(http.StatusOK, rest.ContentType, body.Bytes()) // not rest.OK, which could fail after the batch is stored
	return nil
}

// checkRoutes fails with ValidationFailed unless every operation calls a route of a resource that writes records and whose body is JSON.
// It ignores operations with another method, which Bind rejects.
func (m *Module) checkRoutes(operations Operations) error {
	var fieldErrs []apperr.Field
	for i, op := range operations {
		row := m.Table.Match(op.Method, m.Table.Root()+op.Path)
		if rest.Valid(op.Method, "oneof=POST PUT PATCH DELETE") && (row == nil || row.Resource == "" || row.Raw > 0) {
			fieldErrs = append(fieldErrs, apperr.Field{
				In: "body", Param: fmt.Sprintf("operations[%d].path", i), Code: apperr.NotAllowed,
				Message: "A batch can only call methods and paths that write records of a resource.", Expected: m.Table.Resources(),
			})
		}
	}
	if fieldErrs == nil {
		return nil
	}
	return apperr.Invalid(fieldErrs...)
}

// operate runs the operations in the transaction of ctx and returns their results. It stops at the first operation that fails, also
// because the values of the references are larger than maxValues: the error is then a *rest.OperationError. PayloadTooLarge: the
// responses are larger than maxResponse. Unavailable: other responses are using the memory for large responses (see rest.Reserve).
func (m *Module) operate(ctx context.Context, caller access.Principal, operations Operations) ([]Result, error) {
	results := make([]Result, 0, len(operations))
	size, replaced := 0, 0
	earlier := responses{}
	values := func(reference string) (jsontext.Value, string) {
		value, missing := earlier.field(reference)
		if replaced += len(value); replaced > maxValues {
			return nil, "Is too large." // replaced below
		}
		return value, missing
	}
	for i, op := range operations {
		request, err := op.request(values)
		if replaced > maxValues {
			err = apperr.New(apperr.PayloadTooLarge,
				"The values of the references are larger than %d bytes in total, so nothing was stored. Use fewer references.", maxValues)
		}
		if err != nil {
			return nil, operationError(i, err)
		}
		response, err := m.Table.Call(ctx, caller, request)
		if err != nil {
			return nil, operationError(i, inBatch(err))
		}
		if size += len(response.Body); size > maxResponse {
			return nil, apperr.New(apperr.PayloadTooLarge, "The response would be larger than %d bytes, so nothing was stored. Send fewer operations.", maxResponse)
		}
		if size > rest.LargeResponse {
			if err := rest.Reserve(ctx, int64(size)); err != nil {
				return nil, err
			}
		}
		result := Result{
			Status: response.Status, Location: response.Header.Get("Location"), ETag: response.Header.Get("ETag"), Body: bytes.TrimSpace(response.Body),
		}
		earlier.add(string(op.Name), result)
		results = append(results, result)
	}
	return results, nil
}

// inBatch returns the error of a handler with the names of parameters relative to the operation: path, body or body.NAME.
func inBatch(err error) error {
	var e *apperr.Error
	if !errors.As(err, &e) || e.Fields == nil {
		return err
	}
	renamed := *e
	renamed.Fields = slices.Clone(e.Fields)
	for i := range renamed.Fields {
		f := &renamed.Fields[i]
		if f.In == "path" || f.In == "query" {
			f.Param = "path"
		} else {
			f.Param = strings.TrimSuffix("body."+f.Param, ".")
		}
	}
	return &renamed
}

// operationError returns a *rest.OperationError for operation i. The names of parameters in err become relative to the batch.
func operationError(i int, err error) error {
	var e *apperr.Error
	if errors.As(err, &e) && e.Fields != nil {
		renamed := *e
		renamed.Fields = prefixed(i, e.Fields)
		err = &renamed
	}
	return &rest.OperationError{Index: i, Err: err}
}

// request returns the request of the operation.
func (op Operation) request(values lookup) (route.Request, error) {
	path, invalid := op.pathWith(values)
	body, more := replaceReferences(op.Body, values)
	if invalid = append(invalid, more...); invalid != nil {
		return route.Request{}, apperr.Invalid(invalid...)
	}
	return route.Request{Method: op.Method, Path: path, Body: body, IfMatch: op.IfMatch}, nil
}

// responses maps the name of each completed operation to the fields of its response, by field name.
type responses map[string]map[string]jsontext.Value

func (r responses) add(name string, result Result) {
	var fields map[string]jsontext.Value
	if name != "" && json.Unmarshal(result.Body, &fields) == nil { // fails for a response without a body
		r[name] = fields
	}
}

// field is a lookup that returns values from the responses.
func (r responses) field(reference string) (value jsontext.Value, missing string) {
	parts := referencePattern.FindStringSubmatch(reference)
	if value, ok := r[parts[1]][parts[2]]; ok {
		return value, ""
	}
	return nil, fmt.Sprintf("The response to %s has no field %s.", parts[1], parts[2])
}
