package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/prometheus/procfs"
)

// report has the results of a run.
type report struct {
	Machine string   `json:"machine"`
	Run     string   `json:"run"` // when and how the rows were measured
	Servers []server `json:"servers"`
	Rows    []line   `json:"rows"`
}

// line has the figures of a row: the figures of each server, and then of the bare handler.
type line struct {
	Name    string    `json:"name"`
	Figures []figures `json:"figures"`
}

// Names of the servers in the report.
const (
	peerName = "PocketBase"
	bareName = "bare handler"
)

func newReport(o options, servers []server) *report {
	client := "the client of bench"
	if o.wrk {
		client = "wrk"
	}
	processor, load := "unknown processor", 0.0
	if proc, err := procfs.NewDefaultFS(); err == nil {
		if processors, err := proc.CPUInfo(); err == nil && len(processors) > 0 {
			processor = processors[0].ModelName
		}
		if average, err := proc.LoadAvg(); err == nil {
			load = average.Load1
		}
	}
	return &report{
		Machine: fmt.Sprintf("%s, %d processors, %s/%s, %s", processor, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version()),
		Run: fmt.Sprintf("%s; %d connections of %s, %d rounds of %g s; load average before: %.2f", time.Now().Format("2 January 2006"),
			connections, client, rounds, o.seconds.Seconds()/rounds, load),
		Servers: servers,
	}
}

// names returns the names of the servers and of the bare handler.
func (r *report) names() (names []string) {
	for _, s := range r.Servers {
		names = append(names, s.Name)
	}
	return append(names, bareName)
}

// print writes the servers and the table as Markdown.
func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "%s. %s.\n\n", r.Machine, r.Run)
	for _, s := range r.Servers {
		fmt.Fprintf(out, "- %s: %s, %s articles", s.Name, s.Version, thousands(s.Articles))
		if s.Size > 0 {
			fmt.Fprintf(out, ", %s MiB (%s bytes per article), starts in %s ms", mebibytes(s.Size), thousands(int(s.Size)/s.Articles), milliseconds(s.StartUp))
		}
		fmt.Fprintln(out)
	}
	names := r.names()
	fmt.Fprintf(out, "\nCPU, p99 and peak memory: %s.\n\n", strings.Join(names, " / "))
	names[0] += " req/s"
	table := tabwriter.NewWriter(out, 0, 0, 1, ' ', tabwriter.Debug)
	write := func(cells ...string) { fmt.Fprintln(table, "| "+strings.Join(cells, "\t ")+"\t") }
	write(slices.Concat([]string{"work"}, names, []string{"CPU µs per request", "p99 ms", "peak MiB"})...)
	write(append([]string{":--"}, slices.Repeat([]string{"--:"}, len(names)+3)...)...)
	for _, l := range r.Rows {
		write(l.cells()...)
	}
	table.Flush()
}

// cells returns the rates and the other figures of all servers. After each rate but the first, the cell has the first rate
// divided by this rate. The rate of the bare handler also has its spread over the rounds. The work of the bare handler is always
// the same, so the spread is the noise of the machine.
func (l line) cells() []string {
	cells := []string{l.Name}
	var cpu, p99, peak []string
	for i, f := range l.Figures {
		cell := f.rate()
		if i == len(l.Figures)-1 && f.Spread > 0 {
			cell += fmt.Sprintf(" ±%.0f %%", 100*f.Spread)
		}
		if f.PerSecond == 0 {
			cells, cpu, p99, peak = append(cells, cell), append(cpu, "–"), append(p99, "–"), append(peak, "–")
			continue
		}
		if i > 0 {
			cell += fmt.Sprintf(" (%.2f×)", l.Figures[0].PerSecond/f.PerSecond)
		}
		cells, cpu = append(cells, cell), append(cpu, fmt.Sprint(f.CPU.Microseconds()))
		p99, peak = append(p99, milliseconds(f.P99)), append(peak, mebibytes(f.Peak))
	}
	return append(cells, strings.Join(cpu, " / "), strings.Join(p99, " / "), strings.Join(peak, " / "))
}

// rate returns the number of responses per second and, if not 0, the number of responses with an unexpected status.
func (f figures) rate() string {
	if f.Absent {
		return "–"
	}
	if f.PerSecond == 0 {
		return "did not finish"
	}
	text := thousands(int(f.PerSecond))
	if f.Failed > 0 {
		text += fmt.Sprintf(" (%s FAILED)", thousands(f.Failed))
	}
	return text
}

// thousands formats a number with commas.
func thousands(n int) string { return humanize.Comma(int64(n)) }

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond))
}

func mebibytes(n int64) string { return fmt.Sprint(n >> 20) }

func (r *report) save(file string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o600)
}
