// Package progress shows how far something is, how fast it goes and how much time is left: as a bar on a terminal, as a
// line now and then elsewhere.
package progress

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// clearLine is what a terminal takes to begin its line anew.
const clearLine = "\r\x1b[K"

// Bar is the progress of one thing.
type Bar struct {
	out         io.Writer
	what, unit  string
	total, from int64
	done        atomic.Int64
	begun       time.Time
	terminal    bool
	stop        chan struct{}
	stopped     chan struct{}
}

// Start shows the progress of what is to be done, in a unit ("documents"), until Stop is called. Some of the total may
// have been done before. Where the unit is "", nothing is known but the time.
func Start(out io.Writer, what, unit string, total, before int64) *Bar {
	b := &Bar{
		out: out, what: what, unit: unit, total: total, from: before, begun: time.Now(), terminal: IsTerminal(out),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	b.done.Store(before)
	every := 10 * time.Second
	if b.terminal {
		every = 200 * time.Millisecond
	}
	go b.run(every)
	return b
}

// Add says that n more are done.
func (b *Bar) Add(n int64) { b.done.Add(n) }

// Stop writes a last line, of what was done in all and in which time.
func (b *Bar) Stop() {
	close(b.stop)
	<-b.stopped
	done, took := b.done.Load()-b.from, time.Since(b.begun)
	if b.terminal {
		_, _ = io.WriteString(b.out, clearLine)
	}
	if b.unit == "" {
		_, _ = fmt.Fprintf(b.out, "%s: %s\n", b.what, shortly(took))
		return
	}
	_, _ = fmt.Fprintf(b.out, "%[1]s: %[2]s %[4]s in %[3]s, %[5]s %[4]s/s\n",
		b.what, Thousands(done), shortly(took), b.unit, Thousands(rate(done, took)))
}

func (b *Bar) run(every time.Duration) {
	defer close(b.stopped)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-ticker.C:
			line := b.line(time.Since(b.begun))
			if b.terminal {
				line = clearLine + line
			} else {
				line += "\n"
			}
			_, _ = io.WriteString(b.out, line)
		}
	}
}

// line is the progress after a time.
func (b *Bar) line(after time.Duration) string {
	if b.unit == "" {
		return b.what + " …, " + shortly(after)
	}
	const width = 20
	done := b.done.Load()
	total := max(b.total, done, 1) // more may have come meanwhile
	perSecond := rate(done-b.from, after)
	left := "?"
	if perSecond > 0 {
		left = shortly(time.Duration(float64(total-done) / float64(perSecond) * float64(time.Second)))
	}
	filled := int(done * width / total)
	return fmt.Sprintf("%s [%s%s] %d %%, %s %s/s, %s left",
		b.what, strings.Repeat("=", filled), strings.Repeat(" ", width-filled), done*100/total, Thousands(perSecond), b.unit, left)
}

func rate(done int64, took time.Duration) int64 {
	return int64(float64(done) / max(took.Seconds(), 1e-3))
}

func shortly(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// Thousands writes a number with commas.
func Thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// IsTerminal reports whether what is written to out is shown on a terminal.
func IsTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
