package server

import (
	"errors"
	"net"
	"time"
)

// clientListener is a listener that cuts off clients that do not read their responses, which would otherwise stay in
// memory and delay a shutdown.
type clientListener struct {
	net.Listener
	timeout time.Duration // for a client to read writeChunk bytes
}

const (
	writeChunk = 64 << 10
	// writeBuffer is the size in bytes of the system's buffer for a response; Linux doubles it. By default it grows to
	// several MiB. Linux signals space only when a third is free, so a client must read that much within the timeout.
	writeBuffer = 128 << 10
)

// Accept implements net.Listener.
func (l clientListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(writeBuffer) // fails if it was closed
	}
	return clientConn{conn, l.timeout}, nil
}

type clientConn struct {
	net.Conn
	timeout time.Duration
}

// Write writes in chunks, each with the whole timeout.
func (c clientConn) Write(p []byte) (written int, err error) {
	for err == nil && written < len(p) {
		_ = c.SetWriteDeadline(time.Now().Add(c.timeout)) // the write reports the error
		var n int
		n, err = c.Conn.Write(p[written:min(len(p), written+writeChunk)])
		written += n
	}
	return written, err
}

// CloseWrite closes the sending half. net/http uses it after a response to a request whose body it did not read.
func (c clientConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
