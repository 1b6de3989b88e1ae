package server

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/ginseng/kit/settings"
)

// TestLogDelay checks that lines appear together after logDelay, early if there are many, and at the latest with flush.
func TestLogDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		logger, flush := newLogger(Settings{Env: settings.Production, LogLevel: "info"}, &out)
		lines := func(want int, when string) {
			t.Helper()
			synctest.Wait()
			if n := strings.Count(out.String(), "\n"); n != want {
				t.Errorf("%s: %d lines, want %d", when, n, want)
			}
		}
		logger.Info("a")
		logger.Info("b")
		lines(0, "at once")
		time.Sleep(logDelay)
		lines(2, "after the delay")
		logger.Info(strings.Repeat("c", logBuffered))
		lines(3, "a full buffer")
		logger.Info("d")
		flush()
		lines(4, "after flush")
	})
}

// lockedBuffer is a bytes.Buffer for concurrent use.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
