package mongo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"slices"
	"testing"

	driver "go.mongodb.org/mongo-driver/v2/mongo"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

func TestTranslate(t *testing.T) {
	t.Parallel()
	command := func(code int32) error { return driver.CommandError{Code: code, Message: "failed"} }
	write := func(code int) error {
		return driver.WriteException{WriteErrors: driver.WriteErrors{{Code: code, Message: "failed"}}}
	}
	for _, test := range []struct {
		name string
		err  error
		want apperr.Code
	}{
		{"none", nil, ""},
		{"no document", driver.ErrNoDocuments, apperr.NotFound},
		{"duplicate", write(11000), apperr.Conflict},
		{"canceled", fmt.Errorf("selecting: %w", context.Canceled), apperr.Unavailable},
		{"late", context.DeadlineExceeded, apperr.Unavailable},
		{"closed", driver.ErrClientDisconnected, apperr.Unavailable},
		{"refused", &net.OpError{Op: "dial", Err: errors.New("refused")}, apperr.Unavailable},
		{"cut off", fmt.Errorf("handshake: %w", io.EOF), apperr.Unavailable},
		{"lost", driver.CommandError{Labels: []string{"NetworkError"}}, apperr.Unavailable},
		{"pool cleared", driver.CommandError{Labels: []string{"TransientTransactionError"}}, apperr.Unavailable},
		{"retryable", driver.WriteException{Labels: []string{"RetryableWriteError"}}, apperr.Unavailable},
		{"not the primary", command(10107), apperr.Unavailable},
		{"not the primary, in a write", write(10107), apperr.Unavailable},
		{"shutting down", command(11600), apperr.Unavailable},
		{"disk full", write(14031), apperr.Unavailable},
		{"too slow", command(50), apperr.Unavailable},
		{"no majority in time", driver.WriteException{WriteConcernError: &driver.WriteConcernError{Code: 64}},
			apperr.Unavailable},
		{"a deadlock of PostgreSQL", driver.CommandError{Code: 1, Message: "deadlock detected"}, apperr.Unavailable},
		{"bad command", command(2), apperr.Internal},
		{"not allowed", command(13), apperr.Internal},
		{"immutable field", write(66), apperr.Internal},
		{"our own", errors.New("mongo: cannot"), apperr.Internal},
	} {
		got := translate(test.err, nil)
		if code := apperr.CodeOf(got); code != test.want {
			t.Errorf("%s: %v has the code %q, want %q", test.name, got, code, test.want)
		}
		if cause := errors.Unwrap(got); test.want != apperr.NotFound && !reflect.DeepEqual(cause, test.err) {
			t.Errorf("%s: the cause is %v", test.name, cause)
		}
	}
}

func TestDuplicateFields(t *testing.T) {
	t.Parallel()
	indexes := newSchema(store.Spec{Indexes: userIndexes}).indexes
	const (
		mongodb    = "E11000 duplicate key error collection: app.users index: "
		ferretdb   = "constraint failed: UNIQUE constraint failed: index 'users_e60c2c52_"
		documentdb = "Duplicate key violation on the requested collection: "
	)
	for _, test := range []struct {
		name string
		err  error
		want []string
	}{
		{"one field", insertError(mongodb + `store:unique:email dup key: { email: "a" }`), []string{"email"}},
		{"two fields", insertError(mongodb + `store:unique:namespace,name dup key: { namespace: "a", name: "b" }`),
			[]string{"namespace", "name"}},
		{"the id", insertError(mongodb + `_id_ dup key: { _id: 1 }`), []string{"id"}},
		{"a value like an index",
			insertError(mongodb + `store:unique:email dup key: { email: "index: store:unique:namespace,name dup key" }`),
			[]string{"email"}},
		{"an update", updateError(11000, "Plan executor error during findAndModify :: caused by :: "+mongodb+
			`store:unique:email dup key: { email: "a" }`), []string{"email"}},
		{"an index of somebody else", insertError(mongodb + `mine dup key: { a: 1 }`), nil},
		{"no index", insertError("E11000 duplicate key error collection: app.users"), nil},
		{"FerretDB, an update", updateError(1, ferretdb+`store:unique:namespace,name' (2067)`),
			[]string{"namespace", "name"}},
		{"DocumentDB", insertError(documentdb + "Index 'store:unique:namespace,name'"), []string{"namespace", "name"}},
		{"DocumentDB, the id", insertError(documentdb + "Index '_id_'"), []string{"id"}},
		{"DocumentDB, an index of somebody else", insertError(documentdb + "Index 'mine'"), nil},
		{"DocumentDB, an update",
			updateError(1, `conflicting key value violates exclusion constraint "documents_rum_constraint_12_4"`), nil},
	} {
		err := translate(test.err, indexes)
		var conflict *apperr.Error
		if !errors.As(err, &conflict) || conflict.Code != apperr.Conflict {
			t.Errorf("%s: %v is no Conflict", test.name, err)
			continue
		}
		var got []string
		for _, f := range conflict.Fields {
			got = append(got, f.Param)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: the Conflict names %q, want %q", test.name, got, test.want)
		}
	}
}

func insertError(message string) error {
	return driver.WriteException{WriteErrors: driver.WriteErrors{{Code: 11000, Message: message}}}
}

func updateError(code int32, message string) error {
	return driver.CommandError{Code: code, Message: message}
}
