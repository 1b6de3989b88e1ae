// Package engines opens the database that an address names.
package engines

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/ginseng/internal/store"
	"example.com/ginseng/internal/store/mongo"
	"example.com/ginseng/internal/store/sqlite"
)

// ErrAddress is the error of an address that cannot be that of a database.
var ErrAddress = errors.New("not the address of a database")

// Open opens mongodb://…, mongodb+srv://… or sqlite:PATH. It does not wait for a server that is away: Ping tells.
func Open(ctx context.Context, url string) (store.DB, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme {
	case "mongodb", "mongodb+srv":
		db, err := mongo.Open(ctx, url, mongo.Options{})
		if err != nil { // it has not connected yet
			return nil, fmt.Errorf("%w: %w", ErrAddress, err)
		}
		return db, nil
	case "sqlite":
		return sqlite.Open(ctx, strings.TrimPrefix(rest, "//"), sqlite.Options{})
	}
	return nil, fmt.Errorf("%w: no engine for addresses that begin with %q", ErrAddress, scheme)
}
