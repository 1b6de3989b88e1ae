package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
)

// report has the results of a run.
type report struct {
	Articles int           `json:"articles"`
	Peer     int           `json:"peer,omitempty"` // number of PocketBase's articles
	Seconds  float64       `json:"seconds"`
	Machine  string        `json:"machine"`
	Load     string        `json:"load"` // load average before the run, over 1, 5 and 15 minutes
	StartUp  []startUpTime `json:"startUp"`
	Rows     []line        `json:"rows"`
}

// startUpTime is the time from the start of the process to the first response.
type startUpTime struct {
	Articles int           `json:"articles"`
	Took     time.Duration `json:"took"`
}

// line has the figures of a row; nil was not measured.
type line struct {
	Name  string   `json:"name"`
	Main  *figures `json:"main"`
	Bare  *figures `json:"bare"`
	Small *figures `json:"small,omitempty"`
	Equal *figures `json:"equal,omitempty"` // with as many articles as the peer
	Peer  *figures `json:"peer,omitempty"`
}

func newReport(o options, p *peer) *report {
	text, _ := os.ReadFile("/proc/loadavg") // empty if there is none
	average := strings.Fields(string(text))
	r := &report{
		Articles: o.articles, Seconds: o.seconds.Seconds(),
		Machine: fmt.Sprintf("%d processors, %s, %s/%s", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH),
		Load:    strings.Join(average[:min(3, len(average))], " "),
	}
	if p != nil {
		r.Peer = p.articles
	}
	return r
}

// print writes the table as Markdown with aligned columns.
func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "%s; load before: %s; %d connections, %g s for each row\n", r.Machine, r.Load, connections, r.Seconds)
	for _, s := range r.StartUp {
		fmt.Fprintf(out, "start to the first response, %s articles: %s\n", thousands(s.Articles), milliseconds(s.Took))
	}
	fmt.Fprintln(out)
	head := []string{
		thousands(r.Articles) + " articles", "req/s", "p50 ms", "p99 ms", "CPU µs", "MiB", "peak", "bare req/s", "of it",
	}
	if r.Articles > small {
		head = append(head, thousands(small)+": req/s")
	}
	if r.Peer > 0 {
		at := thousands(r.Peer) + ": "
		head = append(head, at+"req/s", "p99 ms", "peak", "PocketBase req/s", "p99 ms", "CPU µs", "peak", "ratio")
	}
	table := tabwriter.NewWriter(out, 0, 0, 1, ' ', tabwriter.AlignRight|tabwriter.Debug)
	write := func(cells []string) { fmt.Fprintln(table, "|"+strings.Join(cells, "\t")+"\t") }
	write(head)
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = "--:"
	}
	rule[0] = ":--"
	write(rule)
	for _, l := range r.Rows {
		write(r.cells(l))
	}
	table.Flush()
}

func (r *report) cells(l line) []string {
	cells := []string{
		l.Name, l.Main.rate(), milliseconds(l.Main.P50), milliseconds(l.Main.P99),
		fmt.Sprint(l.Main.CPU.Microseconds()),
		mebibytes(l.Main.Memory), mebibytes(l.Main.Peak), l.Bare.rate(), percent(l.Main, l.Bare),
	}
	if r.Articles > small {
		cells = append(cells, l.Small.rate())
	}
	if r.Peer > 0 {
		cells = append(cells, l.Equal.rate(), milliseconds(l.Equal.P99), mebibytes(l.Equal.Peak),
			l.Peer.rate(), milliseconds(l.Peer.P99), fmt.Sprint(l.Peer.CPU.Microseconds()), mebibytes(l.Peer.Peak),
			fmt.Sprintf("%.1f×", l.Equal.PerSecond/l.Peer.PerSecond))
	}
	return cells
}

// rate is the number of responses per second, and that of responses with an unexpected status.
func (f *figures) rate() string {
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

func percent(f, of *figures) string { return fmt.Sprintf("%.0f %%", 100*f.PerSecond/of.PerSecond) }

func (r *report) save(file string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o600)
}
