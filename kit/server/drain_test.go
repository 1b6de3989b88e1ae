package server

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

const (
	stallTimeout = 200 * time.Millisecond
	longResponse = 16 << 20 // more than the system's buffers take
)

// pair is both ends of a connection that the Listener has accepted.
func pair(t *testing.T) (l *drainListener, served, client net.Conn) {
	t.Helper()
	opened, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l = newDrainListener(opened, stallTimeout)
	client, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	served, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		_ = served.Close()
		_ = l.Close()
		if len(l.conns) > 0 {
			t.Error("a closed connection is remembered")
		}
	})
	return l, served, client
}

// TestDrainStalledClient aborts responses to a client that does not read, in progress and new.
func TestDrainStalledClient(t *testing.T) {
	t.Parallel()
	l, served, client := pair(t)
	done := make(chan error)
	go func() {
		_, err := served.Write(make([]byte, longResponse))
		done <- err
	}()
	if _, err := io.ReadFull(client, make([]byte, 1)); err != nil { // it has begun
		t.Fatal(err)
	}
	select {
	case err := <-done:
		t.Fatalf("not draining, the write ends: %v", err)
	case <-time.After(2 * stallTimeout):
	}
	l.StartDraining()
	if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("draining: %v", err)
	}
	if _, err := served.Write(make([]byte, longResponse)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a later write: %v", err)
	}
}

// TestCloseWrite closes only the sending half.
func TestCloseWrite(t *testing.T) {
	t.Parallel()
	_, served, client := pair(t)
	half, ok := served.(interface{ CloseWrite() error })
	if !ok {
		t.Fatal("net/http cannot close the sending half")
	}
	if err := half.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the client reads: %v", err)
	}
	if _, err := client.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := served.Read(make([]byte, 1)); err != nil {
		t.Errorf("the server reads: %v", err)
	}
}

// TestDrainSlowClient completes the response to a slow client, although that takes longer than the timeout.
func TestDrainSlowClient(t *testing.T) {
	t.Parallel()
	l, served, client := pair(t)
	l.StartDraining()
	done := make(chan error)
	begun := time.Now()
	go func() {
		_, err := served.Write(make([]byte, longResponse))
		done <- errors.Join(err, served.Close())
	}()
	const steps = 64
	for range steps {
		if _, err := io.ReadFull(client, make([]byte, longResponse/steps)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(stallTimeout / 20)
	}
	if err := <-done; err != nil {
		t.Errorf("a slow client: %v", err)
	}
	if took := time.Since(begun); took < stallTimeout {
		t.Errorf("it took %v: the test shows nothing", took)
	}
}
