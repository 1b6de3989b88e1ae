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
	upward func(client, server net.Conn) error // see New

	mu       sync.Mutex
	server   string
	listener net.Listener // nil while connections are refused
	addr     string       // address of the proxy
	links    map[*link]struct{}
	failure  failure
	changed  chan struct{} // closed at the next change of failure
	running  sync.WaitGroup
}

// link is a client's connection and the proxy's connection to the server.
type link struct {
	client, server net.Conn
	lost           bool            // Lose was called: nothing is forwarded
	ctx            context.Context // ends when the client or the server has closed its connection
}

// failure is a network failure. The zero value means no failure.
type failure struct {
	cut    bool          // connections are closed
	silent bool          // nothing is forwarded
	delay  time.Duration // delay of forwarded data
	rate   int           // bytes per second in each direction of a connection; 0 means no limit
}

// chunk is the number of bytes forwarded at a time.
const chunk = 16 << 10

// New starts a proxy on a free local port. The proxy forwards to server, host:port. If upward is not nil, the proxy calls it for
// each connection to forward the client's data to the server; upward can withhold data or respond to the client. When upward
// returns, the connection ends.
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

// Addr returns the address of the proxy, host:port.
func (p *Proxy) Addr() string { return p.addr }

// Cut closes all connections, and each new connection when it is accepted.
func (p *Proxy) Cut() {
	p.set(failure{cut: true})
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
func (p *Proxy) Silence() { p.set(failure{silent: true}) }

// Lose is like Silence, but Heal does not restore connections that were open at the call of Lose, as if a router had lost its
// state.
func (p *Proxy) Lose() {
	p.mu.Lock()
	for l := range p.links {
		l.lost = true
	}
	p.mu.Unlock()
	p.Silence()
}

// Delay delays all forwarded data by d.
func (p *Proxy) Delay(d time.Duration) { p.set(failure{delay: d}) }

// Throttle limits the bytes per second in each direction of a connection.
func (p *Proxy) Throttle(bytesPerSecond int) { p.set(failure{rate: bytesPerSecond}) }

// Heal ends the failure. It fails if the proxy cannot listen on its address again.
func (p *Proxy) Heal() error {
	p.set(failure{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		return nil
	}
	return p.listen()
}

// Close closes all connections, and waits until the proxy has stopped.
func (p *Proxy) Close() {
	p.Refuse()
	p.running.Wait()
}

func (p *Proxy) set(f failure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failure = f
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
	if p.failure.cut {
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

// carry forwards data in one direction until one of the connections is closed.
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

// wait waits until the current failure allows n bytes to be forwarded. It returns false if the bytes must not be forwarded.
func (p *Proxy) wait(l *link, n int) bool {
	for {
		p.mu.Lock()
		f, lost, changed := p.failure, l.lost, p.changed
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
