package resilience_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"example.com/ginseng/testkit/testdb"
)

// TestKill kills the service with SIGKILL under load several times and starts it again.
func TestKill(t *testing.T) {
	t.Parallel()
	env := settings(database(t))
	p := start(t, env)
	load := clients(t, p.URL, 16)
	var samples []Sample
	var recovery time.Duration
	rounds := testdb.Size(5, 2)
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		await(t, load, 100)
		_ = p.Signal(os.Kill)
		p.Wait()
		p = start(t, env)
		load.SetURL(p.URL)
		load.Mark()
		await(t, load, 150)
		recovery = max(recovery, load.Recovery())
		samples = append(samples, load.Take()...)
	}
	v := verify(t, load)
	if v.Recovery = recovery; recovery > maxRecovery {
		t.Errorf("a request failed %v after the new start", recovery)
	}
	if failures(samples) == 0 {
		t.Error("no request was cut off: the test is void")
	}
	stop(t, p)
	report(t, fmt.Sprintf("kill -9 under load, %d times", rounds), samples, v)
}
