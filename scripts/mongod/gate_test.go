package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestGateOneAtATime sends commands from many clients to a server that notices when it has two at once.
func TestGateOneAtATime(t *testing.T) {
	var busy, together atomic.Int32
	door := listenGate(t, func(server net.Conn) {
		for {
			request, err := readMessage(server)
			if err != nil {
				return
			}
			if busy.Add(1) > 1 {
				together.Add(1)
			}
			runtime.Gosched()
			busy.Add(-1)
			if _, err := server.Write(request); err != nil {
				return
			}
		}
	})
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			client, err := net.Dial("tcp", door)
			if err != nil {
				t.Error(err)
				return
			}
			defer client.Close()
			for n := range 100 {
				request := frame(opMsg, 0, byte(i), byte(n))
				if _, err := client.Write(request); err != nil {
					t.Error(err)
					return
				}
				if response, err := readMessage(client); err != nil || !bytes.Equal(response, request) {
					t.Errorf("the response to %x is %x, %v", request, response, err)
					return
				}
			}
		})
	}
	clients.Wait()
	if n := together.Load(); n > 0 {
		t.Errorf("%d commands came while another was under way", n)
	}
}

// TestGateUnansweredCommand sends a command that expects no response before one that does.
func TestGateUnansweredCommand(t *testing.T) {
	door := listenGate(t, func(server net.Conn) {
		for {
			request, err := readMessage(server)
			if err != nil {
				return
			}
			if request[headerSize+4] == 'b' {
				server.Write(request)
			}
		}
	})
	client, err := net.Dial("tcp", door)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	want := frame(opMsg, 0, 'b')
	if _, err := client.Write(append(frame(opMsg, moreToCome, 'a'), want...)); err != nil {
		t.Fatal(err)
	}
	if response, err := readMessage(client); err != nil || !bytes.Equal(response, want) {
		t.Errorf("the response is %x, %v; want %x", response, err, want)
	}
}

func TestReadMessageErrors(t *testing.T) {
	for name, message := range map[string][]byte{
		"too short": binary.LittleEndian.AppendUint32(nil, headerSize-1),
		"too long":  binary.LittleEndian.AppendUint32(nil, maxMessage+1),
		"negative":  {0xff, 0xff, 0xff, 0xff},
		"cut off":   frame(opMsg, 0, 'a')[:headerSize+1],
	} {
		if len(message) < headerSize {
			message = append(message, make([]byte, headerSize)...)
		}
		if got, err := readMessage(bytes.NewReader(message)); err == nil {
			t.Errorf("%s: read %x", name, got)
		}
	}
}

// listenGate starts a gate in front of a server that runs serve on each connection, and returns the address of the gate.
func listenGate(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	backend, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			conn, err := backend.Accept()
			if err != nil {
				return
			}
			done.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	front := gate{backend: backend.Addr().String()}
	stop := start(context.Background(), func(ctx context.Context) error { return front.serve(ctx, door) })
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
		backend.Close()
		done.Wait()
	})
	return door.Addr().String()
}

// frame is a message of the wire protocol.
func frame(kind, flags uint32, body ...byte) []byte {
	var message []byte
	for _, n := range []uint32{uint32(headerSize + 4 + len(body)), 0, 0, kind, flags} {
		message = binary.LittleEndian.AppendUint32(message, n)
	}
	return append(message, body...)
}

// TestGateHello sends a hello while a command is running.
func TestGateHello(t *testing.T) {
	begun, held := make(chan struct{}), make(chan struct{})
	door := listenGate(t, func(server net.Conn) {
		request, err := readMessage(server)
		if err != nil {
			return
		}
		if !isHello(request) {
			close(begun)
			<-held
		}
		_, _ = server.Write(request)
	})
	send := func(request []byte) net.Conn {
		client, err := net.Dial("tcp", door)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Write(request); err != nil {
			t.Fatal(err)
		}
		return client
	}
	command := send(frame(opMsg, 0, 1))
	defer command.Close()
	<-begun
	for _, name := range []string{"hello", "isMaster"} {
		greeting := send(frame(opMsg, 0, append([]byte{0, 0, 0, 0, 0, 16}, name+"\x00"...)...))
		if _, err := readMessage(greeting); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		greeting.Close()
	}
	close(held)
	if _, err := readMessage(command); err != nil {
		t.Error(err)
	}
}
