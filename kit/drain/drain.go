// Package drain keeps clients who do not take their answers from holding up the end of a server.
package drain

import (
	"errors"
	"net"
	"sync"
	"time"
)

// Listener is a listener whose connections can be hurried.
type Listener struct {
	net.Listener
	patience time.Duration

	mu    sync.Mutex
	conns map[*conn]struct{}
	hurry bool
}

// NewListener wraps a listener. patience is how long a hurried client may take nothing.
func NewListener(l net.Listener, patience time.Duration) *Listener {
	return &Listener{Listener: l, patience: patience, conns: make(map[*conn]struct{})}
}

// Accept waits for the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = struct{}{}
	return c, nil
}

// Hurry has writes fail from now on when there is no room for more of them for as long as the Listener's patience. A client
// who takes little by little is served to the end, unless the answer is longer than the system's buffers: Linux tells of
// room only when a third of its own is free, which may be 1 MiB and more.
func (l *Listener) Hurry() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hurry = true
	for c := range l.conns {
		_ = c.SetWriteDeadline(time.Now().Add(l.patience)) // it may have been closed
	}
}

func (l *Listener) hurried() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hurry
}

type conn struct {
	net.Conn
	listener *Listener
}

// chunk is what a hurried client must take within the patience.
const chunk = 64 << 10

// Write writes chunk by chunk, so that a long text can be hurried in the middle.
func (c *conn) Write(p []byte) (written int, err error) {
	for err == nil && written < len(p) {
		if c.listener.hurried() {
			_ = c.SetWriteDeadline(time.Now().Add(c.listener.patience)) // the write tells
		}
		var n int
		n, err = c.Conn.Write(p[written:min(len(p), written+chunk)])
		written += n
	}
	return written, err
}

// CloseWrite ends what the client gets, and leaves open what it sends: net/http does so after an answer to a body that it
// did not read to the end.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close closes the connection.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.conns, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
