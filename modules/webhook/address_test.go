package webhook

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// TestAddresses checks which addresses are public, including IPv4 addresses in IPv6 addresses.
func TestAddresses(t *testing.T) {
	t.Parallel()
	a := addresses{prefixes("10.1.0.0/16", "fd00:1::/32")}
	for text, allowed := range map[string]bool{
		"93.184.215.14": true, "2606:4700::1111": true, "::ffff:93.184.215.14": true, "64:ff9b::93.184.215.14": true,
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "64:ff9b::10.1.2.3": true, "fd00:1::1": true,

		"10.2.0.1": false, "127.0.0.1": false, "0.0.0.0": false, "169.254.169.254": false, "172.31.0.1": false, "192.168.0.1": false,
		"100.64.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "192.0.2.1": false, "198.51.100.1": false, "203.0.113.1": false, "198.18.0.1": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fd00:2::1": false, "ff02::1": false, "2001:db8::1": false, "3fff::1": false,
		"::ffff:127.0.0.1": false, "::127.0.0.1": false, "64:ff9b::127.0.0.1": false, "64:ff9b:1::127.0.0.1": false, "2002:7f00:1::": false, "2001:0:1::1": false,
		"100::1": false, "fec0::1": false,
	} {
		if got := a.isAllowed(netip.MustParseAddr(text)); got != allowed {
			t.Errorf("%s: allowed is %t", text, got)
		}
	}
	if a.inNetworks(netip.MustParseAddr("93.184.215.14")) || !a.inNetworks(netip.MustParseAddr("10.1.0.1")) {
		t.Error("inNetworks")
	}
}

// TestCheckURL checks the URLs that a webhook can have.
func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		url             string
		without, within bool // whether the URL is valid without and with WEBHOOK_NETWORKS
	}{
		{"https://example.com/hooks?a=b", true, true},
		{"https://93.184.215.14:8443/", true, true},
		{"https://example.com/#part", false, false},
		{"https://[::ffff:169.254.169.254]/", false, false},
		{"https://10.1.0.5/", false, true},
		{"http://10.1.0.5/", false, true},
		{"http://10.2.0.5/", false, false},
		{"http://93.184.215.14/", false, false},
		{"http://receiver.internal/", false, true}, // checked when the connection is made
	} {
		for _, networks := range [][]netip.Prefix{nil, prefixes("10.1.0.0/16")} {
			want := test.without
			if networks != nil {
				want = test.within
			}
			if reason := newSender("test", networks).checkURL(test.url); (reason == "") != want {
				t.Errorf("%s with %v: %q", test.url, networks, reason)
			}
		}
	}
}

// resolver returns a resolver that returns the addresses for any name, one address per lookup.
func resolver(addresses ...string) *net.Resolver {
	next := make(chan string, len(addresses))
	for _, a := range addresses {
		next <- a
	}
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			var length [2]byte // of a message over a stream
			if _, err := io.ReadFull(server, length[:]); err != nil {
				return
			}
			query := make([]byte, binary.BigEndian.Uint16(length[:]))
			if _, err := io.ReadFull(server, query); err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(query) != nil {
				return
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.AResource{A: netip.MustParseAddr(<-next).As4()},
				}}
			}
			response, err := m.Pack()
			if err != nil {
				return
			}
			_, _ = server.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(response))), response...))
		}()
		return client, nil
	}}
}

// TestResolution checks that the address is checked when the connection is made, for a name with a private address, and for a
// name that changes from a public to a private address.
func TestResolution(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the receiver was called") }))
	t.Cleanup(receiver.Close)
	_, port, _ := net.SplitHostPort(receiver.Listener.Addr().String())
	dialer := newDialer(addresses{}.isAllowed)
	dialer.Resolver = resolver("93.184.215.14", "127.0.0.1")
	if found, err := dialer.Resolver.LookupHost(t.Context(), "receiver.test"); err != nil || found[0] != "93.184.215.14" {
		t.Fatalf("%v, %v", found, err)
	}
	s := &sender{public: newClient(dialer)}
	_, err := s.send(t.Context(), "https://receiver.test:"+port, "1", "{}", time.Now(), nil)
	if !errors.Is(err, errAddress) {
		t.Errorf("%v", err)
	}
	if got := reason(0, err); got != "The address of the host is not public, and WEBHOOK_NETWORKS does not allow it." {
		t.Error(got)
	}
}

// TestRedirect checks that redirects are not followed, and that the proxy in the environment is not used.
func TestRedirect(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	t.Cleanup(target.Close)
	receiver := httptest.NewServer(http.RedirectHandler(target.URL, http.StatusTemporaryRedirect))
	t.Cleanup(receiver.Close)
	s := newSender("test", prefixes("127.0.0.0/8"))
	status, err := s.send(t.Context(), receiver.URL, "1", "{}", time.Now(), nil)
	if err != nil || status != http.StatusTemporaryRedirect || reason(status, err) != "The response has the status 307." {
		t.Errorf("%d, %v", status, err)
	}
	if s.public.Transport.(*http.Transport).Proxy != nil || s.private.Transport.(*http.Transport).Proxy != nil {
		t.Error("a proxy is used")
	}
}

// TestHTTPS sends to a receiver with TLS.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(receiver.Close)
	s := newSender("test", prefixes("127.0.0.0/8"))
	if _, err := s.send(t.Context(), receiver.URL, "1", "{}", time.Now(), nil); err == nil {
		t.Error("an unknown certificate was accepted")
	}
	s.public.Transport.(*http.Transport).TLSClientConfig = receiver.Client().Transport.(*http.Transport).TLSClientConfig
	if status, err := s.send(t.Context(), receiver.URL, "1", "{}", time.Now(), nil); err != nil || status != http.StatusNoContent {
		t.Errorf("%d, %v", status, err)
	}
}
