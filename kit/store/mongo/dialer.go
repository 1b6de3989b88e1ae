package mongo

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
)

// dialer opens the driver's connections and closes dead connections. If a router or firewall fails, connections stay open but
// receive nothing. The driver does not close these connections after a failed heartbeat. It would use them for operations, and
// each operation would wait until its deadline.
type dialer struct {
	net.Dialer
	open sync.Map // keys are of type *connection
}

type connection struct {
	net.Conn
	dialer  *dialer
	address string
	// lastReceived is the Unix time in nanoseconds when the connection last received data, or was opened.
	lastReceived atomic.Int64
}

// DialContext opens a connection.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	opened, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: opened, dialer: d, address: address}
	c.lastReceived.Store(time.Now().UnixNano())
	d.open.Store(c, nil)
	return c, nil
}

// If a heartbeat times out, heartbeatFailed closes the connections to the server that have received nothing since the heartbeat
// was sent. The driver then retries the operations of these connections on other connections. heartbeatFailed ignores other
// errors of a heartbeat.
func (d *dialer) heartbeatFailed(e *event.ServerHeartbeatFailedEvent) {
	number := strings.LastIndex(e.ConnectionID, "[") // the driver appends "[NUMBER]" to the address
	if !driver.IsTimeout(e.Failure) || number < 0 {
		return
	}
	address := e.ConnectionID[:number]
	sent := time.Now().Add(-e.Duration).UnixNano()
	for open := range d.open.Range {
		if c := open.(*connection); c.address == address && c.lastReceived.Load() < sent {
			_ = c.Close() // the connection is dead
		}
	}
}

// Read reads data and records when it was received.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.lastReceived.Store(time.Now().UnixNano())
	}
	return n, err
}

// Close closes the connection and removes it from the open connections of the dialer.
func (c *connection) Close() error {
	c.dialer.open.Delete(c)
	return c.Conn.Close()
}
