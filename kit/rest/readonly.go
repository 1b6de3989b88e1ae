package rest

import (
	"bytes"
	"reflect"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// CheckReadOnly returns ValidationFailed with the code read_only if the request body has a field of T with another value than
// current. Only code of the service sets the fields of T, but a client can send back the record that it received. current has the
// values of the stored record or, if the request creates a record, the values of the new record. As in Bind, null and an empty
// value are the default or, without a default, the zero value. CheckReadOnly also returns the errors of Body.
func CheckReadOnly[T any](g *gin.Context, current T) error {
	params, err := Body(g)
	if err != nil {
		return err
	}
	var sent T
	store.SetDefaults(&sent)
	var fieldErrs []apperr.Field
	for _, f := range fieldsOf(reflect.TypeFor[T]()) {
		value := reflect.ValueOf(&sent).Elem().FieldByIndex(f.index)
		given, _, invalid := params.decodeField(&f, value)
		if given && (invalid != nil || !sameJSON(value, reflect.ValueOf(current).FieldByIndex(f.index))) {
			fieldErrs = append(fieldErrs, f.bodyErrors(&apperr.Field{
				Code: apperr.ReadOnly, Message: "Is set by the service. Omit it, or send its current value.",
			})...)
		}
	}
	if fieldErrs != nil {
		return apperr.Invalid(fieldErrs...)
	}
	return nil
}

// sameJSON reports whether a response represents both values in the same way.
func sameJSON(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	var first, second bytes.Buffer
	err := store.EncodeJSON(&first, a.Interface())
	if err == nil {
		err = store.EncodeJSON(&second, b.Interface())
	}
	return err == nil && bytes.Equal(first.Bytes(), second.Bytes())
}
