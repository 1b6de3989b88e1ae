package server

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestTuneMemory changes global settings of the runtime, so it does not run in parallel with other tests.
func TestTuneMemory(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	defer func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) }()
	const container = 1 << 30
	for _, test := range []struct {
		name, gogc, gomemlimit string
		percent                int
		limit                  int64
	}{
		{"environment", "50", "2GiB", 100, limit}, // as Go's runtime has set them
		{"defaults", "", "", gcPercent, container * 8 / 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("GOGC", test.gogc)
			t.Setenv("GOMEMLIMIT", test.gomemlimit)
			if test.gomemlimit == "" {
				_ = os.Unsetenv("GOMEMLIMIT") // t.Setenv restores it
			}
			tuneMemory(func() (uint64, error) { return container, nil })
			if got := debug.SetGCPercent(100); got != test.percent {
				t.Errorf("%d %%, want %d", got, test.percent)
			}
			if got := debug.SetMemoryLimit(-1); got != test.limit {
				t.Errorf("limit %d, want %d", got, test.limit)
			}
		})
	}
}
