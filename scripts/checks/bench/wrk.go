package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// wrkScript sends the requests in turn. Each thread begins with another request. The last line of the output has the results.
const wrkScript = `
local threads = 0
function setup(thread) thread:set("current", threads * math.floor(#requests / 2)); threads = threads + 1 end
function request() current = current % #requests + 1; return requests[current] end
function done(summary, latency)
	local e = summary.errors
	io.write(string.format("%d %d %d %d %d", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
		e.connect + e.read + e.write + e.timeout + e.status))
end
requests = {
`

// loadWrk is like load, but sends the requests with the program wrk, for whole seconds. If there is no response, all figures are
// 0.
func loadWrk(ctx context.Context, work, addr string, pid int, requests [][]byte, seconds time.Duration) (f figures, err error) {
	script := strings.Builder{}
	script.WriteString(wrkScript)
	for _, request := range requests {
		fmt.Fprintf(&script, "%q,\n", request)
	}
	script.WriteString("}\n")
	file := filepath.Join(work, "wrk.lua")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		return f, err
	}
	whole := max(1, int(math.Round(seconds.Seconds())))
	resetPeak(pid)
	used := cpuTime(pid)
	wrk := exec.CommandContext(ctx, "wrk", "-t2", fmt.Sprintf("-c%d", connections), fmt.Sprintf("-d%ds", whole),
		fmt.Sprintf("--timeout=%ds", int(responseTimeout.Seconds())), "-s", file, "http://"+addr)
	wrk.Stderr = os.Stderr
	out, err := wrk.Output()
	if err != nil {
		return f, fmt.Errorf("wrk: %w", err)
	}
	used = cpuTime(pid) - used
	f.Peak = peakMemory(pid)
	lines := strings.Split(string(out), "\n")
	var n, took, p50, p99 int64 // µs
	if _, err := fmt.Sscan(lines[len(lines)-1], &n, &took, &p50, &p99, &f.Failed); err != nil {
		return f, fmt.Errorf("wrk printed %q: %w", out, err)
	}
	if n == 0 {
		return f, nil
	}
	f.PerSecond = float64(n) / (time.Duration(took) * time.Microsecond).Seconds()
	f.P50, f.P99 = time.Duration(p50)*time.Microsecond, time.Duration(p99)*time.Microsecond
	f.CPU = used / time.Duration(n)
	return f, nil
}
