package server

import (
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// The defaults of GOGC and GOMEMLIMIT. A service has a small heap, which Go's default of 100 % collects often: with 300 %, a list
// takes 15 % less CPU (docs/performance.md), but large responses that clients do not read then take up to 190 MiB.
const (
	gcPercent   = 150
	memoryShare = 0.8 // of the container's memory limit; the rest is for the memory of SQLite, stacks and the kernel
)

// tuneMemory configures garbage collection, except what the environment variables GOGC and GOMEMLIMIT configure. limit
// returns the container's memory limit.
func tuneMemory(limit memlimit.Provider) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	_, _ = memlimit.Set(memlimit.WithProvider(limit), memlimit.WithRatio(memoryShare)) // fails where there are no cgroups
}
