package mongo

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// proxy stands between the driver and the server, and misbehaves when told to.
type proxy struct {
	server string
	uri    string // by which the server is found through the proxy

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	away  bool // connections end at once

	// answer, if it returns a document, keeps the request from the server and answers with that.
	answer func(request []byte) bson.D
}

func newProxy(t *testing.T, uri string, answer func(request []byte) bson.D) *proxy {
	t.Helper()
	if answer == nil {
		answer = func([]byte) bson.D { return nil }
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{server: u.Host, conns: make(map[net.Conn]struct{}), answer: answer}
	u.Host = l.Addr().String()
	query := u.Query()
	query.Set("directConnection", "true") // a replica set would lead the driver past the proxy
	u.RawQuery = query.Encode()
	p.uri = u.String()
	var done sync.WaitGroup
	done.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			done.Go(func() { p.relay(client) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.take()
		done.Wait()
	})
	return p
}

// take ends all connections, and new ones, until giveBack.
func (p *proxy) take() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = true
	for conn := range p.conns {
		conn.Close()
	}
}

func (p *proxy) giveBack() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = false
}

// admit keeps account of an open connection; it closes it if the server is away.
func (p *proxy) admit(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[conn] = struct{}{}
	if p.away {
		conn.Close()
	}
}

func (p *proxy) dismiss(conn net.Conn) {
	conn.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

func (p *proxy) relay(client net.Conn) {
	p.admit(client)
	defer p.dismiss(client)
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	p.admit(server)
	defer p.dismiss(server)
	go func() {
		io.Copy(client, server)
		client.Close()
	}()
	for {
		head := make([]byte, 16)
		if _, err := io.ReadFull(client, head); err != nil {
			return
		}
		request := append(head, make([]byte, binary.LittleEndian.Uint32(head)-16)...)
		if _, err := io.ReadFull(client, request[16:]); err != nil {
			return
		}
		if answer := p.answer(request); answer == nil {
			_, err = server.Write(request)
		} else {
			_, err = client.Write(message(answer, binary.LittleEndian.Uint32(request[4:])))
		}
		if err != nil {
			return
		}
	}
}

// message frames the document as an OP_MSG in answer to a request.
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
