package server

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

const (
	stallTimeout = time.Second
	longResponse = 16 << 20 // more than the buffers of the operating system
)

// pair returns both ends of a connection that the listener has accepted.
func pair(t *testing.T) (served, client net.Conn) {
	t.Helper()
	opened, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := clientListener{opened, stallTimeout}
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
	})
	return served, client
}

// TestStalledClient checks that a response is aborted if the client has small buffers and does not read.
func TestStalledClient(t *testing.T) {
	t.Parallel()
	served, client := pair(t)
	if err := client.(*net.TCPConn).SetReadBuffer(writeBuffer); err != nil {
		t.Fatal(err)
	}
	if n, err := served.Write(make([]byte, longResponse)); !errors.Is(err, os.ErrDeadlineExceeded) || n > 8*writeBuffer {
		t.Errorf("%d bytes: %v", n, err)
	}
}

// TestCloseWrite closes only the sending half.
func TestCloseWrite(t *testing.T) {
	t.Parallel()
	served, client := pair(t)
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

// TestSlowClient checks that the response to a slow client is completed, even if it takes longer than the timeout.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	served, client := pair(t)
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
		time.Sleep(stallTimeout / 50)
	}
	if err := <-done; err != nil {
		t.Errorf("a slow client: %v", err)
	}
	if took := time.Since(begun); took < stallTimeout {
		t.Errorf("it took %v: the test proves nothing", took)
	}
}

// rated is a connection to a client that reads at a rate, in bytes per second.
type rated struct {
	net.Conn
	rate     int
	deadline time.Time
}

func (c *rated) SetWriteDeadline(t time.Time) error {
	c.deadline = t
	return nil
}

func (c *rated) Write(p []byte) (int, error) {
	takes, left := time.Duration(len(p))*time.Second/time.Duration(c.rate), time.Until(c.deadline)
	time.Sleep(min(takes, left))
	if takes > left {
		return max(0, int(left.Seconds()*float64(c.rate))), os.ErrDeadlineExceeded
	}
	return len(p), nil
}

// TestMinRate checks that a response is aborted if the client reads slowly, even if it reads each chunk in time.
func TestMinRate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rate, write int           // bytes per second, and of a write
		pause       time.Duration // between two writes
		want        int           // seconds until the response is aborted; 0: it is completed
	}{
		"at the rate":         {minRate, 4 << 20, 0, 0},
		"slower":              {minRate * 3 / 4, 4 << 20, 0, 21},
		"slower, small parts": {minRate * 3 / 4, 4 << 10, 0, 20},
		"slower, with pauses": {minRate * 3 / 4, 64 << 10, time.Second, 0},
		"stalled":             {1, 4 << 20, 0, 7},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, conn := time.Now(), &clientConn{Conn: &rated{rate: test.rate}, timeout: slowClientTimeout}
				var err error
				for written := 0; written < 4<<20 && err == nil; written += test.write {
					_, err = conn.Write(make([]byte, test.write))
					time.Sleep(test.pause)
				}
				if took := time.Since(begun).Round(time.Second).Seconds(); (err == nil) != (test.want == 0) || err != nil && took != float64(test.want) {
					t.Errorf("after %v s: %v", took, err)
				}
			})
		})
	}
}

// TestHandlerDeadlines checks that a client is not too slow if the handler sets the deadlines, until it sets none.
func TestHandlerDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn := &clientConn{Conn: &rated{rate: minRate / 4}, timeout: slowClientTimeout}
		_ = conn.SetWriteDeadline(time.Now().Add(time.Hour))
		if _, err := conn.Write(make([]byte, 4<<20)); err != nil {
			t.Errorf("before the deadline: %v", err)
		}
		_ = conn.SetWriteDeadline(time.Time{})
		if _, err := conn.Write(make([]byte, 4<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("without a deadline: %v", err)
		}
	})
}
