package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
)

// gate is a proxy that sends one command at a time to the server and waits for its response. FerretDB updates a document in
// two steps, read and write; through the gate an update is atomic, as in MongoDB.
type gate struct {
	backend string // address of the server
	mu      sync.Mutex
}

// serve relays the connections of l until ctx ends. It then closes the connections and l, and returns nil.
func (g *gate) serve(ctx context.Context, l net.Listener) error {
	defer context.AfterFunc(ctx, func() { l.Close() })()
	var relays sync.WaitGroup
	defer relays.Wait()
	for {
		client, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		relays.Go(func() { g.relay(ctx, client) })
	}
}

// relay sends the commands of one client to the server over a separate connection, and returns the responses.
func (g *gate) relay(ctx context.Context, client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", g.backend)
	if err != nil {
		return
	}
	defer server.Close()
	defer context.AfterFunc(ctx, func() {
		client.Close()
		server.Close()
	})()
	for {
		request, err := readMessage(client)
		if err != nil {
			return
		}
		response, err := g.exchange(server, request)
		if err != nil {
			return
		}
		if _, err := client.Write(response); err != nil {
			return
		}
	}
}

// exchange sends the request and returns the response, which is empty if the request expects none.
func (g *gate) exchange(server net.Conn, request []byte) ([]byte, error) {
	if !isHello(request) { // a hello checks whether the server is alive, and must not wait for other commands
		g.mu.Lock()
		defer g.mu.Unlock()
	}
	if _, err := server.Write(request); err != nil || expectsNoResponse(request) {
		return nil, err
	}
	return readMessage(server)
}

// The frame of MongoDB's wire protocol: four little-endian 32-bit integers, which are the length of the message, its ID, the
// ID of the request that it responds to, and the opcode. In an OP_MSG, the flags follow.
const (
	headerSize = 16
	maxMessage = 48_000_000 // bytes
	opMsg      = 2013       // opcode
	moreToCome = 1 << 1     // flag: the sender expects no response
)

// readMessage reads one message with its header.
func readMessage(r io.Reader) ([]byte, error) {
	message := make([]byte, headerSize)
	if _, err := io.ReadFull(r, message); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(message)
	if size < headerSize || size > maxMessage {
		return nil, fmt.Errorf("message of %d bytes", size)
	}
	message = append(message, make([]byte, size-headerSize)...)
	_, err := io.ReadFull(r, message[headerSize:])
	return message, err
}

// expectsNoResponse reports whether the message is an OP_MSG with the flag moreToCome.
func expectsNoResponse(message []byte) bool {
	return len(message) >= headerSize+4 &&
		binary.LittleEndian.Uint32(message[12:]) == opMsg &&
		binary.LittleEndian.Uint32(message[headerSize:])&moreToCome != 0
}

// isHello reports whether the message is the command hello or isMaster: an OP_MSG whose first section is a document that
// starts with the command's name.
func isHello(message []byte) bool {
	const name = headerSize + 4 + 1 + 4 + 1 // after the flags, the kind of the section, the document's size, the first type
	return len(message) > name && binary.LittleEndian.Uint32(message[12:]) == opMsg &&
		(bytes.HasPrefix(message[name:], []byte("hello\x00")) || bytes.HasPrefix(message[name:], []byte("isMaster\x00")))
}
