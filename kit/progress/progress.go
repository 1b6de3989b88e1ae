// Package progress shows the progress of a long task. On a terminal, it shows a bar. Otherwise, it writes a line at most
// every ten seconds.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// lineInterval is the minimum time between two lines if the output is not a terminal.
const lineInterval = 10 * time.Second

// Bar is the progress of one task.
type Bar struct {
	out        io.Writer
	task, unit string
	total      int64
	started    time.Time
	bar        *progressbar.ProgressBar // nil if out is not a terminal

	mu      sync.Mutex
	done    int64
	printed time.Time // when the last line was written
}

// Start shows the progress of a task until Stop is called. The task has total units of work; unit is their name in the plural,
// such as "documents". If total is -1, the amount of work is unknown: a terminal shows a spinner, and Stop writes only the
// elapsed time.
func Start(out io.Writer, task, unit string, total int64) *Bar {
	now := time.Now()
	b := &Bar{out: out, task: task, unit: unit, total: total, started: now, printed: now}
	if IsTerminal(out) {
		b.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetDescription(task),
			progressbar.OptionSetItsString(unit),
			progressbar.OptionShowIts(),
			progressbar.OptionSetWidth(20),
			progressbar.OptionThrottle(200*time.Millisecond),
			progressbar.OptionSetRenderBlankState(true),
			progressbar.OptionClearOnFinish(),
		)
	}
	return b
}

// Add reports that n more units are done.
func (b *Bar) Add(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += n
	if b.bar != nil {
		_ = b.bar.Add64(n)
		return
	}
	if b.total < 0 || time.Since(b.printed) < lineInterval {
		return
	}
	b.printed = time.Now()
	left := ""
	if b.done > 0 && b.done <= b.total { // the work can grow meanwhile
		rate := float64(b.done) / time.Since(b.started).Seconds()
		remaining := time.Duration(float64(b.total-b.done) / rate * float64(time.Second))
		left = fmt.Sprintf(", %v left", remaining.Round(time.Second))
	}
	_, _ = fmt.Fprintf(b.out, "%s: %s of %s %s%s\n", b.task, humanize.Comma(b.done), humanize.Comma(b.total), b.unit, left)
}

// Stop removes the bar and writes a line with the number of completed units and the elapsed time.
func (b *Bar) Stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bar != nil {
		_ = b.bar.Finish()
	}
	work := ""
	if b.total >= 0 {
		work = fmt.Sprintf("%s %s in ", humanize.Comma(b.done), b.unit)
	}
	_, _ = fmt.Fprintf(b.out, "%s: %s%v\n", b.task, work, time.Since(b.started).Round(100*time.Millisecond))
}

// IsTerminal reports whether out is a terminal.
func IsTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
