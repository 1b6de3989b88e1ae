package server

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/ginseng/kit/settings"
	"example.com/ginseng/testkit/process"
)

// TestLogDelay checks that lines are written together after logDelay, or earlier if there are many lines, or by flush.
func TestLogDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out process.Buffer
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
