package mongo

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
)

// TestHeartbeatFailed checks that only connections that received nothing since the heartbeat are closed.
func TestHeartbeatFailed(t *testing.T) {
	t.Parallel()
	const here = "db.example.com:27017"
	before, since := time.Now().Add(-time.Hour), time.Now().Add(time.Hour) // parallel tests can start late
	for name, test := range map[string]struct {
		asked, address string
		last           time.Time
		failure        error
		closed         bool
	}{
		"silent":           {here, here, before, context.DeadlineExceeded, true},
		"silent, by IPv6":  {"[::1]:27017", "[::1]:27017", before, context.DeadlineExceeded, true},
		"alive":            {here, here, since, context.DeadlineExceeded, false},
		"another server's": {here, "other.example.com:27017", before, context.DeadlineExceeded, false},
		"heartbeat closed": {here, here, before, io.EOF, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := new(dialer)
			end, _ := net.Pipe()
			t.Cleanup(func() { _ = end.Close() })
			c := &connection{Conn: end, dialer: d, address: test.address}
			c.lastReceived.Store(test.last.UnixNano())
			d.open.Store(c, nil)
			d.heartbeatFailed(&event.ServerHeartbeatFailedEvent{Duration: 4 * time.Second, Failure: test.failure, ConnectionID: test.asked + "[-7]"})
			if _, open := d.open.Load(c); open == test.closed {
				t.Errorf("open: %v", open)
			}
		})
	}
}
