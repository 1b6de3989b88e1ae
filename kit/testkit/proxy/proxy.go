// Package proxy stands between a client and a server in tests, and misbehaves when told to: it is the network that
// fails.
package proxy

import (
	"net"
	"net/url"
	"sync"
	"time"
)

// Proxy relays TCP connections to a server.
type Proxy struct {
	upward func(client, server net.Conn) error

	mu       sync.Mutex
	server   string
	listener net.Listener // nil while it refuses
	addr     string
	links    map[*link]struct{}
	fault    fault
	changed  chan struct{} // closed at the next change of fault
	running  sync.WaitGroup
}

// link is one client's connection, and the proxy's own to the server.
type link struct {
	client, server net.Conn
	lost           bool          // whatever happens, nothing is passed on any more
	ended          chan struct{} // closed when either end has closed it
}

// fault is what is wrong. The zero value is a good network.
type fault struct {
	cut    bool
	silent bool
	delay  time.Duration
	rate   int // bytes a second; 0 is no bound
}

// chunk is how much is passed on at once.
const chunk = 16 << 10

// New listens on a free port of this machine for a server at an address. upward, if not nil, carries what clients send
// instead of the proxy, until it returns: it may keep something back, or answer by itself.
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

// Addr is where it listens.
func (p *Proxy) Addr() string { return p.addr }

// In is a URL of the server with the proxy's address in place of the server's.
func (p *Proxy) In(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	u.Host = p.addr
	return u.String(), nil
}

// Cut ends all connections, and new ones as soon as they are there.
func (p *Proxy) Cut() {
	p.set(fault{cut: true})
	p.drop()
}

// Refuse ends all connections and listens no longer.
func (p *Proxy) Refuse() {
	p.Cut()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
}

// Silence takes connections and what they bring, and passes nothing on, nor the end of a connection. Heal passes on what
// was kept back, as TCP does after a broken line.
func (p *Proxy) Silence() { p.set(fault{silent: true}) }

// Lose is Silence for good for the connections that are open: a router between has forgotten them.
func (p *Proxy) Lose() {
	p.mu.Lock()
	for l := range p.links {
		l.lost = true
	}
	p.mu.Unlock()
	p.Silence()
}

// Delay passes everything on that much later.
func (p *Proxy) Delay(d time.Duration) { p.set(fault{delay: d}) }

// Throttle passes on so many bytes a second in each direction of a connection.
func (p *Proxy) Throttle(bytesPerSecond int) { p.set(fault{rate: bytesPerSecond}) }

// Heal ends the fault.
func (p *Proxy) Heal() error {
	p.set(fault{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		return nil
	}
	return p.listen()
}

// Close ends all connections and stops.
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

func (p *Proxy) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

func (l *link) close() {
	for _, conn := range []net.Conn{l.client, l.server} {
		_ = conn.(*net.TCPConn).SetLinger(0) // what was not sent yet is lost
		_ = conn.Close()
	}
}

func (p *Proxy) relay(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	l := &link{client: client, server: server, ended: make(chan struct{})}
	defer func() { _ = server.Close() }()
	if !p.admit(l) {
		return
	}
	defer p.dismiss(l)
	var once sync.Once
	end := func() {
		once.Do(func() { close(l.ended) })
		_ = client.Close()
		_ = server.Close()
	}
	var downward sync.WaitGroup
	downward.Go(func() {
		defer end()
		p.carry(l, client, server)
	})
	if p.upward != nil {
		_ = p.upward(client, server) // that the connection has ended is no failure
	} else {
		p.carry(l, server, client)
	}
	end()
	downward.Wait()
}

// admit keeps account of an open connection, unless connections are cut.
func (p *Proxy) admit(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault.cut {
		l.close()
		return false
	}
	p.links[l] = struct{}{}
	return true
}

func (p *Proxy) dismiss(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// carry passes on what comes, until one end closes the connection.
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

// wait is what the fault does to n bytes. False: they are never passed on.
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
		case <-l.ended:
			return false
		}
	}
}
