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
	for want, err := range map[slog.Level]error{
		slog.LevelInfo:  store.Unavailable(context.Canceled),
		slog.LevelWarn:  apperr.New(apperr.Unavailable, "Too much.").AsOverload(),
		slog.LevelError: store.Unavailable(errors.New("gone")),
	} {
		if got := severity(fmt.Errorf("wrapped: %w", err)); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}
