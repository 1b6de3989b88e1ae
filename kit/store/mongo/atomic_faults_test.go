package mongo

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/mongo/mongotest"
)

const opMsg = 2013 // opcode of the messages with commands

// faultyServer listens on the returned address and forwards each request to the server. change gets the command and a function
// that forwards it, and returns the response; nil closes the connection.
func faultyServer(t *testing.T, server string, change func(command bson.Raw, forward func() []byte) []byte) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	serve := func(client, backend net.Conn) {
		defer func() { _, _ = client.Close(), backend.Close() }()
		for {
			request, err := readMessage(client)
			if err != nil {
				return
			}
			forward := func() []byte {
				_, _ = backend.Write(request)
				response, _ := readMessage(backend)
				return response
			}
			var command bson.Raw // nil for the first message of a connection, an OP_QUERY
			if binary.LittleEndian.Uint32(request[12:]) == opMsg {
				command = bson.Raw(request[21 : 21+binary.LittleEndian.Uint32(request[21:])])
			}
			response := slices.Clone(change(command, forward))
			if len(response) == 0 {
				return
			}
			binary.LittleEndian.PutUint32(response[8:], binary.LittleEndian.Uint32(request[4:]))
			if _, err := client.Write(response); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			backend, err := net.Dial("tcp", server)
			if err != nil {
				_ = client.Close()
				continue
			}
			go serve(client, backend)
		}
	}()
	return l.Addr().String()
}

// readMessage reads a message of MongoDB's protocol.
func readMessage(r io.Reader) ([]byte, error) {
	m := make([]byte, 16)
	if _, err := io.ReadFull(r, m); err != nil {
		return nil, err
	}
	m = append(m, make([]byte, binary.LittleEndian.Uint32(m)-16)...)
	_, err := io.ReadFull(r, m[16:])
	return m, err
}

// labeled returns the response to a command that fails in a transaction.
func labeled(code int, label string) []byte {
	return message(append(failure(code, "a fault"), bson.E{Key: "errorLabels", Value: bson.A{label}}), 0)
}

// TestAtomicFaults injects faults into transactions, in the form that MongoDB's specification of transactions gives them. FerretDB
// 1 rejects writes of a transaction; there, the test answers these commands.
func TestAtomicFaults(t *testing.T) {
	t.Parallel()
	conflict := labeled(112, "TransientTransactionError") // WriteConflict
	for name, test := range map[string]struct {
		command  string // the command that fails
		response []byte // nil: the connection is closed after the server has executed the command
		times    int64  // number of faults; 1<<30: always
		calls    int64  // number of calls of the function
		code     apperr.Code
	}{
		"conflict":                 {"insert", conflict, 3, 4, ""},
		"aborted by the server":    {"find", labeled(251, "TransientTransactionError"), 1, 2, ""}, // NoSuchTransaction
		"conflict at the end":      {"commitTransaction", conflict, 2, 3, ""},
		"unknown result":           {"commitTransaction", labeled(64, "UnknownTransactionCommitResult"), 2, 1, ""}, // WriteConcernTimeout
		"unknown result, always":   {"commitTransaction", labeled(64, "UnknownTransactionCommitResult"), 1 << 30, 1, apperr.Unavailable},
		"lost response":            {"commitTransaction", nil, 1, 1, ""},
		"lost response to a write": {"insert", nil, 1, 2, ""},
		"conflicts without end":    {"insert", conflict, 1 << 30, 0, apperr.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var left atomic.Int64
			var simulated atomic.Bool
			address := mongotest.New(t, "directConnection=true", "timeoutMS=3000")
			address.Host = faultyServer(t, address.Host, func(command bson.Raw, forward func() []byte) []byte {
				first, err := command.IndexErr(0)
				if err != nil {
					return forward()
				}
				_, err = command.LookupErr("autocommit") // only in a transaction
				fault := err == nil && first.Key() == test.command && left.Add(-1) >= 0
				switch {
				case fault && test.response != nil:
					return test.response
				case fault:
					forward()
					return nil
				case err == nil && simulated.Load() && first.Key() != "find" && first.Key() != "aggregate":
					return message(bson.D{{Key: "ok", Value: 1}, {Key: "n", Value: 1}}, 0)
				}
				return forward()
			})
			db := open(t, address, nil)
			c := store.Open[counter](db, store.Spec{Name: "counters"})
			must(t, db.Prepare(t.Context()))
			must(t, c.Insert(t.Context(), counter{Meta: store.NewMeta(store.NewID(), store.Time{})})) // creates the collection
			simulated.Store(!db.transactions.Swap(true))
			left.Store(test.times)
			calls, committed := int64(0), 0
			err := db.Atomic(t.Context(), func(ctx context.Context) error {
				calls++
				store.AfterCommit(ctx, func() { committed++ })
				if _, err := c.Count(ctx, store.Eq("count", 1)); err != nil {
					return err
				}
				if _, err := c.List(ctx, store.Query{}); err != nil {
					return err
				}
				return c.Insert(ctx, counter{Meta: store.NewMeta(store.NewID(), store.Time{})})
			})
			wantCommits := 1
			if test.code != "" {
				wantCommits = 0
			}
			if apperr.CodeOf(err) != test.code || test.calls > 0 && calls != test.calls || committed != wantCommits {
				t.Errorf("%v after %d calls and %d commits, want %q after %d calls and %d commits", err, calls, committed, test.code, test.calls, wantCommits)
			}
			left.Store(0)
			n, err := c.Count(t.Context(), nil)
			must(t, err)
			if test.code == "" && !simulated.Load() && n != 2 {
				t.Errorf("%d documents are stored, want 2", n)
			}
		})
	}
}
