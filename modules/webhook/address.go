package webhook

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

// errAddress is returned for a connection to an address that is not allowed.
var errAddress = errors.New("webhook: the address is not public")

// addresses decides which IP addresses can receive requests.
type addresses struct{ networks []netip.Prefix } // value of WEBHOOK_NETWORKS

// special lists the IPv4 networks, and the IPv6 networks in globalUnicast, that are not public. Sources:
// https://www.iana.org/assignments/iana-ipv4-special-registry and
// https://www.iana.org/assignments/iana-ipv6-special-registry.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
	"192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

var (
	globalUnicast = netip.MustParsePrefix("2000::/3")     // all public IPv6 addresses
	nat64         = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052: the last 4 bytes are an IPv4 address
)

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// embedded returns the IPv4 address that the IPv6 address a contains. It returns other addresses without their zone.
func embedded(a netip.Addr) netip.Addr {
	a = a.WithZone("").Unmap()
	if nat64.Contains(a) {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

func containedIn(networks []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a) })
}

// inNetworks reports whether the address is in WEBHOOK_NETWORKS.
func (s addresses) inNetworks(a netip.Addr) bool { return containedIn(s.networks, embedded(a)) }

// isAllowed reports whether the address is public or in WEBHOOK_NETWORKS.
func (s addresses) isAllowed(a netip.Addr) bool {
	a = embedded(a)
	return containedIn(s.networks, a) || !containedIn(special, a) && (a.Is4() || globalUnicast.Contains(a))
}

// control returns a function for net.Dialer.Control that rejects addresses that are not allowed. The function runs after name
// resolution, so that a name cannot resolve to another address between the check and the connection.
func control(allow func(netip.Addr) bool) func(network, address string, c syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil || !allow(a.Addr()) {
			return errAddress
		}
		return nil
	}
}

const (
	dialTimeout       = 10 * time.Second
	idleTimeout       = 30 * time.Second
	maxResponseHeader = 64 << 10 // bytes
)

// newSender returns a sender. networks is the value of WEBHOOK_NETWORKS.
func newSender(userAgent string, networks []netip.Prefix) *sender {
	a := addresses{networks}
	return &sender{userAgent: userAgent, allowed: a, public: newClient(newDialer(a.isAllowed)), private: newClient(newDialer(a.inNetworks))}
}

func newDialer(allow func(netip.Addr) bool) *net.Dialer {
	return &net.Dialer{Timeout: dialTimeout, Control: control(allow)}
}

// newClient returns a client that uses no proxy and follows no redirects.
func newClient(dialer *net.Dialer) *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:         dialer.DialContext,
			TLSHandshakeTimeout: dialTimeout, IdleConnTimeout: idleTimeout, MaxIdleConns: maxWebhooks, MaxResponseHeaderBytes: maxResponseHeader,
		},
	}
}

// checkURL returns the reason why requests cannot be sent to a URL, or "" if the URL is valid. It does not resolve names.
func (s *sender) checkURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "Must be a URL."
	}
	if u.Fragment != "" {
		return "Must have no fragment."
	}
	a, err := netip.ParseAddr(u.Hostname())
	isLiteral := err == nil
	switch {
	case isLiteral && !s.allowed.isAllowed(a):
		return "Must have a public address. WEBHOOK_NETWORKS can allow other addresses."
	case u.Scheme == "http" && (len(s.allowed.networks) == 0 || isLiteral && !s.allowed.inNetworks(a)):
		return "Must begin with https://. http:// is only for addresses in WEBHOOK_NETWORKS."
	}
	return ""
}
