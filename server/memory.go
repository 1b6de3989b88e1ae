package server

import (
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// The defaults of GOGC and GOMEMLIMIT. With Go's default GOGC of 100, the garbage collector would often collect the small heap of
// a service. A higher GOGC takes less CPU but more memory: with 300, large responses that clients do not read take up to 190 MiB
// (docs/performance.md).
const (
	gcPercent   = 150
	memoryShare = 0.8 // of the container's memory limit; the rest is for the memory of SQLite, stacks and the kernel
)

// tuneMemory sets the parameters GOGC and GOMEMLIMIT of the garbage collector, unless the environment sets them. limit returns
// the container's memory limit.
func tuneMemory(limit memlimit.Provider) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	_, _ = memlimit.Set(memlimit.WithProvider(limit), memlimit.WithRatio(memoryShare)) // fails where there are no cgroups
}
