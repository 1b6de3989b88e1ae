// Package engines opens the database that an address names.
package engines

import (
	"context"
	"fmt"
	"strings"

	"example.com/ginseng/internal/store"
	"example.com/ginseng/internal/store/mongo"
	"example.com/ginseng/internal/store/sqlite"
)

// Open opens mongodb://…, mongodb+srv://… or sqlite:PATH. It does not wait for a server that is away: Ping tells.
func Open(ctx context.Context, url string) (store.DB, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme {
	case "mongodb", "mongodb+srv":
		return mongo.Open(ctx, url, mongo.Options{})
	case "sqlite":
		return sqlite.Open(ctx, strings.TrimPrefix(rest, "//"), sqlite.Options{})
	}
	return nil, fmt.Errorf("engines: no engine for addresses that begin with %q", scheme)
}
