// Package proxy simulates network failures between a client and a server in tests.
package proxy

import (
	"context"
	"net"
	"sync"
	"time"
)

// Proxy relays TCP connections to a server.
type Proxy struct {
	upward func(client, server net.Conn) error

	mu       sync.Mutex
	server   string
	listener net.Listener // nil while connections are refused
	addr     string
	links    map[*link]struct{}
	fault    fault
	changed  chan struct{} // closed at the next change of fault
	running  sync.WaitGroup
}

// link is a client's connection and the proxy's connection to the server.
type link struct {
	client, server net.Conn
	lost           bool            // nothing is forwarded any more
	ctx            context.Context // ends when either end has closed the connection
}

// fault is a network failure. The zero value is none.
type fault struct {
	cut    bool
	silent bool
	delay  time.Duration
	rate   int // bytes per second; 0 is unlimited
}

// chunk is the number of bytes forwarded at a time.
const chunk = 16 << 10

// New listens on a free local port and forwards to a server. upward, if not nil, forwards the data of clients instead of
// the proxy until it returns, so it can withhold data, or respond.
func New(server string, upward func(client, server net.Conn) error) (*Proxy, error) {
	p := &Proxy{server: server, addr: "127.0.0.1:0", links: make(map[*link]struct{}), changed: make(chan struct{}), upward: upward}
	return p, p.listen()
}

func (p *Proxy) listen() error {
	listener, err := net.Listen("tcp", p.addr)
	if err != nil {
		return err
	}
	p.listener, p.addr = listener, listener.Addr().String()
	p.running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.relay(client) })
		}
	})
	return nil
}

// Addr returns the address of the proxy.
func (p *Proxy) Addr() string { return p.addr }

// Cut closes all connections, and new ones immediately.
func (p *Proxy) Cut() {
	p.set(fault{cut: true})
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// Refuse closes all connections and stops listening.
func (p *Proxy) Refuse() {
	p.Cut()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
}

// Silence accepts connections and data, but forwards nothing, not even the end of a connection. Heal forwards the withheld
// data, as TCP does after an interruption.
func (p *Proxy) Silence() { p.set(fault{silent: true}) }

// Lose is a permanent Silence for the open connections, as if a router had lost its state.
func (p *Proxy) Lose() {
	p.mu.Lock()
	for l := range p.links {
		l.lost = true
	}
	p.mu.Unlock()
	p.Silence()
}

// Delay delays all data.
func (p *Proxy) Delay(d time.Duration) { p.set(fault{delay: d}) }

// Throttle limits the bytes per second in each direction of a connection.
func (p *Proxy) Throttle(bytesPerSecond int) { p.set(fault{rate: bytesPerSecond}) }

// Heal ends the failure.
func (p *Proxy) Heal() error {
	p.set(fault{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		return nil
	}
	return p.listen()
}

// Close closes all connections and stops the proxy.
func (p *Proxy) Close() {
	p.Refuse()
	p.running.Wait()
}

func (p *Proxy) set(f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
	close(p.changed)
	p.changed = make(chan struct{})
}

func (l *link) close() {
	for _, conn := range []net.Conn{l.client, l.server} {
		_ = conn.(*net.TCPConn).SetLinger(0) // unsent data is lost
		_ = conn.Close()
	}
}

func (p *Proxy) relay(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	ctx, end := context.WithCancel(context.Background())
	l := &link{client: client, server: server, ctx: ctx}
	p.mu.Lock()
	if p.fault.cut {
		l.close()
	}
	p.links[l] = struct{}{}
	p.mu.Unlock()
	var directions sync.WaitGroup
	directions.Go(func() {
		defer end()
		p.carry(l, client, server)
	})
	directions.Go(func() {
		defer end()
		if p.upward != nil {
			_ = p.upward(client, server) // fails when the connection ends
		} else {
			p.carry(l, server, client)
		}
	})
	<-ctx.Done()
	_ = client.Close()
	_ = server.Close()
	directions.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// carry forwards data until one end closes the connection.
func (p *Proxy) carry(l *link, to, from net.Conn) {
	buf := make([]byte, chunk)
	for {
		n, err := from.Read(buf)
		if !p.wait(l, n) {
			return
		}
		if _, writeErr := to.Write(buf[:n]); err != nil || writeErr != nil {
			return
		}
	}
}

// wait applies the failure to n bytes. It returns false if they are never forwarded.
func (p *Proxy) wait(l *link, n int) bool {
	for {
		p.mu.Lock()
		f, lost, changed := p.fault, l.lost, p.changed
		p.mu.Unlock()
		if f.cut {
			return false
		}
		if !f.silent && !lost {
			d := f.delay
			if f.rate > 0 {
				d += time.Duration(n) * time.Second / time.Duration(f.rate)
			}
			time.Sleep(d)
			return true
		}
		select {
		case <-changed:
		case <-l.ctx.Done():
			return false
		}
	}
}
