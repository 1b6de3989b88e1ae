package main

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

// progress shows how far something is, how fast, and how much time is left: a bar on a terminal, a line now and then
// elsewhere.
type progress struct {
	out   io.Writer
	what  string
	total int
	begun time.Time
	shown time.Time
	every time.Duration
	end   string
}

func newProgress(out io.Writer, what string, total int) *progress {
	now := time.Now()
	p := &progress{out: out, what: what, total: total, begun: now, shown: now, every: 10 * time.Second, end: "\n"}
	if isTerminal(out) {
		p.every, p.end = 200*time.Millisecond, ""
		p.what = clearLine + what
	}
	return p
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (p *progress) print(done int64) {
	if time.Since(p.shown) < p.every {
		return
	}
	p.shown = time.Now()
	const width = 30
	filled := int(done) * width / max(1, p.total)
	rate := float64(done) / time.Since(p.begun).Seconds()
	left := time.Duration(float64(p.total-int(done)) / max(rate, 1) * float64(time.Second))
	fmt.Fprintf(p.out, "%s [%s%s] %d %%, %s/s, %s left%s",
		p.what, strings.Repeat("=", filled), strings.Repeat(" ", width-filled),
		int(done)*100/max(1, p.total), thousands(int(rate)), left.Round(time.Second), p.end)
}

// wait shows the progress until something ends, and returns its error.
func (p *progress) wait(ended <-chan error, done *atomic.Int64) error {
	ticker := time.NewTicker(p.every)
	defer ticker.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-ticker.C:
			p.print(done.Load())
		}
	}
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
