package resilience_test

import (
	"net/url"
	"testing"
	"time"

	"example.com/ginseng/kit/testkit/proxy"
)

// TestNetwork breaks the network between one service and its database in every way, one after the other.
func TestNetwork(t *testing.T) {
	heavy(t)
	address, err := url.Parse(server(t))
	must(t, err)
	network := through(t, address.Host)
	uri, err := network.In(named(t, server(t)))
	must(t, err)
	p := start(t, settings(uri))
	load := clients(t, p.URL, 8)
	await(t, load, 100)
	before := atRest(load, p)
	for _, f := range []struct {
		name   string
		breaks func(*proxy.Proxy)
		lasts  time.Duration
		felt   time.Duration // how long the slowest request takes at least, if none fails
	}{
		{"50 ms more each way, for 3 s", func(p *proxy.Proxy) { p.Delay(50 * time.Millisecond) }, 3 * time.Second, 200 * time.Millisecond},
		{"16 KiB/s for each connection, for 3 s", func(p *proxy.Proxy) { p.Throttle(16 << 10) }, 3 * time.Second, 200 * time.Millisecond},
		{"connections are cut, also new ones, for 3 s", (*proxy.Proxy).Cut, 3 * time.Second, time.Second},
		{"connections are refused, for 3 s", (*proxy.Proxy).Refuse, 3 * time.Second, time.Second},
		{"silence for 3 s, then all that was kept back", (*proxy.Proxy).Silence, 3 * time.Second, time.Second},
		{"silence for 12 s, then all that was kept back", (*proxy.Proxy).Silence, 12 * time.Second, 10 * time.Second},
		{"silence for 3 s, and for good on open connections", (*proxy.Proxy).Lose, 3 * time.Second, time.Second},
		{"silence for good on open connections, others work", func(p *proxy.Proxy) { p.Lose(); must(t, p.Heal()) }, 0, time.Second},
	} {
		load.Start()
		await(t, load, 50)
		load.Take()
		load.Mark() // for the one that is for good
		f.breaks(network)
		if f.lasts > 0 {
			time.Sleep(f.lasts)
			must(t, network.Heal())
			load.Mark()
		}
		await(t, load, 100)
		v := judge(t, load)
		samples := load.Take()
		if failures(samples) == 0 && slowest(samples) < f.felt {
			t.Errorf("%s: the slowest request took %v: the test shows nothing", f.name, slowest(samples))
		}
		report(t, f.name, samples, v)
	}
	settled(t, load, p, before)
}
