package resilience_test

import (
	"testing"
	"time"

	"example.com/ginseng/testkit/proxy"
)

// TestNetwork interrupts the network between the service and its database in several ways, one after the other.
func TestNetwork(t *testing.T) {
	long(t)
	address := mongoDB(t)
	network := through(t, address.Host)
	address.Host = network.Addr()
	p := start(t, settings(address.String()))
	load := clients(t, p.URL, 8)
	await(t, load, 100)
	before := measureIdle(load, p)
	for _, f := range []struct {
		name   string
		breaks func(*proxy.Proxy)
		lasts  time.Duration
		felt   time.Duration // minimum duration of the slowest request, if no request fails
	}{
		{"50 ms more each way, for 3 s", func(p *proxy.Proxy) { p.Delay(50 * time.Millisecond) }, 3 * time.Second, 200 * time.Millisecond},
		{"16 KiB/s for each connection, for 3 s", func(p *proxy.Proxy) { p.Throttle(16 << 10) }, 3 * time.Second, 200 * time.Millisecond},
		{"open and new connections are closed, for 3 s", (*proxy.Proxy).Cut, 3 * time.Second, time.Second},
		{"new connections fail, for 3 s", (*proxy.Proxy).Refuse, 3 * time.Second, time.Second},
		{"no data for 3 s, then all delayed data", (*proxy.Proxy).Silence, 3 * time.Second, time.Second},
		{"no data for 12 s, then all delayed data", (*proxy.Proxy).Silence, 12 * time.Second, 10 * time.Second},
		{"no data for 3 s, and never again on open connections", (*proxy.Proxy).Lose, 3 * time.Second, time.Second},
		{"no data on open connections, new ones work", func(p *proxy.Proxy) { p.Lose(); must(t, p.Heal()) }, 0, time.Second},
	} {
		load.Start()
		await(t, load, 50)
		load.Take()
		load.Mark() // for the failure that does not end
		f.breaks(network)
		if f.lasts > 0 {
			time.Sleep(f.lasts)
			must(t, network.Heal())
			load.Mark()
		}
		await(t, load, 100)
		v := verify(t, load)
		samples := load.Take()
		if failures(samples) == 0 && slowest(samples) < f.felt {
			t.Errorf("%s: the slowest request took %v: the test is void", f.name, slowest(samples))
		}
		report(t, f.name, samples, v)
	}
	checkIdle(t, load, p, before)
}
