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

// gate stands before the server and lets one command through at a time, until its answer is there. FerretDB reads a
// document and writes it back as two steps; behind the gate, an update is atomic, as MongoDB's is.
type gate struct {
	backend string // address of the server
	mu      sync.Mutex
}

// serve relays the connections of l until ctx ends, and closes them and l.
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

// relay carries one client's commands to the server, over a connection of its own, and the answers back.
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
		answer, err := g.exchange(server, request)
		if err != nil {
			return
		}
		if _, err := client.Write(answer); err != nil {
			return
		}
	}
}

// exchange sends the request and returns the answer, which is empty if the request wants none.
func (g *gate) exchange(server net.Conn, request []byte) ([]byte, error) {
	if !isGreeting(request) { // which asks whether the server lives, and shall not wait for what others ask
		g.mu.Lock()
		defer g.mu.Unlock()
	}
	if _, err := server.Write(request); err != nil || wantsNoAnswer(request) {
		return nil, err
	}
	return readMessage(server)
}

// Of MongoDB's wire protocol the gate knows the frame alone: four little-endian integers of 32 bits, which are the
// length of the whole message, its number, the number of the request it answers, and the kind; after these, in a
// message of kind OP_MSG, come the flags.
const (
	headerSize = 16
	maxMessage = 48_000_000
	opMsg      = 2013
	moreToCome = 1 << 1
)

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

// wantsNoAnswer reports whether the message is an OP_MSG with the flag moreToCome.
func wantsNoAnswer(message []byte) bool {
	return len(message) >= headerSize+4 &&
		binary.LittleEndian.Uint32(message[12:]) == opMsg &&
		binary.LittleEndian.Uint32(message[headerSize:])&moreToCome != 0
}

// isGreeting reports whether the message is a hello: an OP_MSG whose first section is a document that begins with it.
func isGreeting(message []byte) bool {
	const name = headerSize + 4 + 1 + 4 + 1 // after the flags, the kind of the section, the document's size, the first type
	return len(message) > name && binary.LittleEndian.Uint32(message[12:]) == opMsg &&
		(bytes.HasPrefix(message[name:], []byte("hello\x00")) || bytes.HasPrefix(message[name:], []byte("isMaster\x00")))
}
