package mongo

import (
	"context"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
)

// dialer opens the driver's connections and closes dead ones. If a router or firewall fails, connections stay open
// but get no response. A failed heartbeat does not make the driver close them: it would use one after the other, and each
// caller would wait until its deadline.
type dialer struct {
	net.Dialer

	mu   sync.Mutex
	open map[*connection]struct{}
}

type connection struct {
	net.Conn
	dialer  *dialer
	address string
	// lastReceived is the Unix time in nanoseconds when the connection last received data, or was opened.
	lastReceived atomic.Int64
}

func newDialer() *dialer { return &dialer{open: make(map[*connection]struct{})} }

// DialContext opens a connection.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	opened, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: opened, dialer: d, address: address}
	c.lastReceived.Store(time.Now().UnixNano())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[c] = struct{}{}
	return c, nil
}

// heartbeatFailed closes the connections to a server that have received nothing since a heartbeat that timed out was
// sent. The driver then retries their operations on other connections. A heartbeat whose connection was closed says
// nothing about the others.
func (d *dialer) heartbeatFailed(e *event.ServerHeartbeatFailedEvent) {
	number := strings.LastIndex(e.ConnectionID, "[") // the driver appends "[NUMBER]" to the address
	if !driver.IsTimeout(e.Failure) || number < 0 {
		return
	}
	address := e.ConnectionID[:number]
	sent := time.Now().Add(-e.Duration).UnixNano()
	d.mu.Lock()
	open := slices.Collect(maps.Keys(d.open))
	d.mu.Unlock()
	for _, c := range open {
		if c.address == address && c.lastReceived.Load() < sent {
			_ = c.Close() // the connection is dead
		}
	}
}

// Read records the time of received data.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.lastReceived.Store(time.Now().UnixNano())
	}
	return n, err
}

// Close closes the connection.
func (c *connection) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.open, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}
