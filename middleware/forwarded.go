package middleware

import (
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
)

// Forwarded returns middleware that removes ports and brackets from the addresses in X-Forwarded-For, which some proxies add and
// Gin cannot read: without it, all clients of such a proxy would have the address of the proxy. It changes the header only if the
// request comes from one of the networks of trusted proxies. It logs a warning once if a trusted proxy sends an address that it
// cannot read. An error means that trusted contains an invalid network.
func Forwarded(log *slog.Logger, trusted []string) (gin.HandlerFunc, error) {
	networks := make([]*net.IPNet, len(trusted))
	for i, network := range trusted {
		var err error
		if _, networks[i], err = net.ParseCIDR(network); err != nil {
			return nil, err
		}
	}
	trusts := func(a netip.Addr) bool {
		ip := net.IP(a.AsSlice())
		return slices.ContainsFunc(networks, func(n *net.IPNet) bool { return n.Contains(ip) })
	}
	var warn sync.Once
	return func(g *gin.Context) {
		headers := g.Request.Header["X-Forwarded-For"]
		if len(headers) == 0 {
			return
		}
		if sender, ok := parseHop(g.Request.RemoteAddr); !ok || !trusts(sender) {
			return
		}
		hops := strings.Split(strings.Join(headers, ","), ",")
		for i, text := range slices.Backward(hops) {
			hop, ok := parseHop(strings.TrimSpace(text))
			if !ok {
				warn.Do(func() {
					log.Warn("X-Forwarded-For of a trusted proxy has a value that is not an IP address, so the proxy counts as the client; configure the proxy to append the address of the client",
						"value", text[:min(len(text), 100)])
				})
				break
			}
			hops[i] = hop.String()
			if !trusts(hop) {
				break // the client; it can send the addresses to the left
			}
		}
		g.Request.Header["X-Forwarded-For"] = []string{strings.Join(hops, ",")}
	}, nil
}

// parseHop parses an IP address, with or without a port, and an IPv6 address with or without brackets.
func parseHop(text string) (netip.Addr, bool) {
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return withPort.Addr().WithZone(""), true
	}
	inner, bracketed := strings.CutPrefix(text, "[")
	if bracketed {
		if inner, bracketed = strings.CutSuffix(inner, "]"); !bracketed {
			return netip.Addr{}, false
		}
	}
	a, err := netip.ParseAddr(inner)
	return a.WithZone(""), err == nil && (!bracketed || a.Is6())
}
