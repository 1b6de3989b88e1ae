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
)

// report has the results of a run.
type report struct {
	Machine string   `json:"machine"`
	Run     string   `json:"run"` // when and how the rows were measured
	Servers []server `json:"servers"`
	Rows    []line   `json:"rows"`
}

// line has the figures of a row: those of each server, and then those of the bare handler.
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
	text, _ := os.ReadFile("/proc/loadavg") // empty if there is none
	load, _, _ := strings.Cut(string(text), " ")
	client := "the client of bench"
	if o.wrk {
		client = "wrk"
	}
	return &report{
		Machine: fmt.Sprintf("%s, %d processors, %s/%s, %s", cpuModel(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version()),
		Run: fmt.Sprintf("%s; %d connections of %s, %d rounds of %g s; load average before: %s", time.Now().Format("2 January 2006"),
			connections, client, rounds, o.seconds.Seconds()/rounds, load),
		Servers: servers,
	}
}

// print writes the servers and the table as Markdown.
func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "%s. %s.\n\n", r.Machine, r.Run)
	names := make([]string, len(r.Servers), len(r.Servers)+1)
	for i, s := range r.Servers {
		names[i] = s.Name
		fmt.Fprintf(out, "- %s: %s, %s articles", s.Name, s.Version, thousands(s.Articles))
		if s.Size > 0 {
			fmt.Fprintf(out, ", %s MiB (%s bytes per article), starts in %s ms", mebibytes(s.Size), thousands(int(s.Size)/s.Articles), milliseconds(s.StartUp))
		}
		fmt.Fprintln(out)
	}
	names = append(names, bareName)
	fmt.Fprintf(out, "\nCPU, p99 and peak memory: %s.\n\n", strings.Join(names, " / "))
	names[0] += " req/s"
	head := append(append([]string{"work"}, names...), "CPU µs per request", "p99 ms", "peak MiB")
	table := tabwriter.NewWriter(out, 0, 0, 1, ' ', tabwriter.Debug)
	write := func(cells []string) { fmt.Fprintln(table, "| "+strings.Join(cells, "\t ")+"\t") }
	write(head)
	write(append([]string{":--"}, slices.Repeat([]string{"--:"}, len(head)-1)...))
	for _, l := range r.Rows {
		write(l.cells())
	}
	table.Flush()
}

// cells returns the rates, each with the ratio of the first one to it, and the other figures of all servers.
func (l line) cells() []string {
	cells := []string{l.Name}
	for i, f := range l.Figures {
		cell := f.rate()
		if i > 0 && f.PerSecond > 0 {
			cell += fmt.Sprintf(" (%.2f×)", l.Figures[0].PerSecond/f.PerSecond)
		}
		cells = append(cells, cell)
	}
	for _, value := range []func(figures) string{
		func(f figures) string { return fmt.Sprint(f.CPU.Microseconds()) },
		func(f figures) string { return milliseconds(f.P99) },
		func(f figures) string { return mebibytes(f.Peak) },
	} {
		var values []string
		for _, f := range l.Figures {
			if f.PerSecond == 0 {
				values = append(values, "–")
				continue
			}
			values = append(values, value(f))
		}
		cells = append(cells, strings.Join(values, " / "))
	}
	return cells
}

// rate is the number of responses per second, and that of responses with an unexpected status.
func (f figures) rate() string {
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
