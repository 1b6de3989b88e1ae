package server

import (
	"errors"
	"net"
	"sync"
	"time"
)

// drainListener is a listener that prevents clients that do not read their responses from delaying a shutdown.
type drainListener struct {
	net.Listener
	timeout time.Duration // of a write after StartDraining

	mu       sync.Mutex
	conns    map[*drainConn]struct{}
	draining bool
}

func newDrainListener(l net.Listener, timeout time.Duration) *drainListener {
	return &drainListener{Listener: l, timeout: timeout, conns: make(map[*drainConn]struct{})}
}

// Accept implements net.Listener.
func (l *drainListener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &drainConn{Conn: accepted, listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = struct{}{}
	return c, nil
}

// StartDraining makes writes to stalled clients fail after the timeout. A slow client that reads continuously gets its
// whole response, unless that exceeds the buffers of the system: Linux signals space only when a third of the buffer,
// which can be 1 MiB or more, is free.
func (l *drainListener) StartDraining() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.draining = true
	for c := range l.conns {
		_ = c.SetWriteDeadline(time.Now().Add(l.timeout)) // fails if it was closed
	}
}

func (l *drainListener) isDraining() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.draining
}

type drainConn struct {
	net.Conn
	listener *drainListener
}

// drainChunk is the number of bytes that a client must read within the timeout.
const drainChunk = 64 << 10

// Write writes in chunks, so that StartDraining applies to a long write in progress.
func (c *drainConn) Write(p []byte) (written int, err error) {
	for err == nil && written < len(p) {
		if c.listener.isDraining() {
			_ = c.SetWriteDeadline(time.Now().Add(c.listener.timeout)) // the write reports the error
		}
		var n int
		n, err = c.Conn.Write(p[written:min(len(p), written+drainChunk)])
		written += n
	}
	return written, err
}

// CloseWrite closes the sending half. net/http uses it after a response to a request whose body it did not read.
func (c *drainConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close implements net.Conn.
func (c *drainConn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.conns, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
