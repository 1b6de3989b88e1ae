package ratelimit_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store/sqlite"
)

// A rule limits attempts per account and network. The counters are in the database, so that all instances share them.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(ctx, filepath.Join(dir, "limits.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	limiter := ratelimit.New(db, time.Now)
	if err := db.Prepare(ctx); err != nil {
		log.Fatal(err)
	}
	invitations := ratelimit.Rule{Name: "invitations", Max: 2, Window: time.Hour}
	for range 3 {
		states, err := limiter.Take(ctx, invitations.Of("ann@example.com"), invitations.Of(ratelimit.Network("192.0.2.7")))
		fmt.Println(states[0].Left, err)
	}
	// Output:
	// 1 <nil>
	// 0 <nil>
	// -1 too_many_requests: Too many attempts. Wait for the time in Retry-After, then try again.
}
