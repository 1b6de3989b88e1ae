package mongo

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"example.com/ginseng/kit/store/mongo/mongotest"
	"example.com/ginseng/testkit/proxy"
)

// newProxy returns a proxy for the server, and the address of a new database through the proxy; see mongotest.New. If response is
// set and returns a document, the proxy responds with the document and does not forward the request.
func newProxy(t *testing.T, response func(request []byte) bson.D, opts ...string) (*proxy.Proxy, *url.URL) {
	t.Helper()
	address := mongotest.New(t, append(opts, "directConnection=true")...) // with a replica set, the driver would bypass the proxy
	var upward func(client, server net.Conn) error
	if response != nil {
		upward = func(client, server net.Conn) error { return relay(client, server, response) }
	}
	p, err := proxy.New(address.Host, upward)
	must(t, err)
	t.Cleanup(p.Close)
	address.Host = p.Addr()
	return p, address
}

// relay forwards requests, or responds with the document that response returns.
func relay(client, server net.Conn, response func(request []byte) bson.D) error {
	for {
		head := make([]byte, 16)
		if _, err := io.ReadFull(client, head); err != nil {
			return err
		}
		request := append(head, make([]byte, binary.LittleEndian.Uint32(head)-16)...)
		if _, err := io.ReadFull(client, request[16:]); err != nil {
			return err
		}
		to, what := server, request
		if doc := response(request); doc != nil {
			to, what = client, message(doc, binary.LittleEndian.Uint32(request[4:]))
		}
		if _, err := to.Write(what); err != nil {
			return err
		}
	}
}

// message returns the document as an OP_MSG that responds to a request.
func message(doc bson.D, request uint32) []byte {
	body, err := bson.Marshal(doc)
	if err != nil {
		panic(err)
	}
	head := make([]byte, 0, 21+len(body))
	for _, n := range []uint32{21 + uint32(len(body)), 0, request, 2013, 0} {
		head = binary.LittleEndian.AppendUint32(head, n)
	}
	return append(append(head, 0), body...)
}
