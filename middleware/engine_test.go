package middleware

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// TestSeverity checks that clients cannot fill the log with errors.
func TestSeverity(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want slog.Level
	}{
		{store.Unavailable(context.Canceled), slog.LevelInfo},
		{store.Busy(context.Canceled), slog.LevelInfo},
		{store.Busy(context.DeadlineExceeded), slog.LevelWarn},
		{apperr.New(apperr.Unavailable, "Too much.").AsOverload(), slog.LevelWarn},
		{store.Unavailable(context.DeadlineExceeded), slog.LevelError},
		{store.Unavailable(errors.New("gone")), slog.LevelError},
	} {
		if got := Severity(fmt.Errorf("wrapped: %w", test.err)); got != test.want {
			t.Errorf("%v: %v, want %v", test.err, got, test.want)
		}
	}
}
