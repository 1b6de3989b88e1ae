package migrate_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"example.com/ginseng/kit/migrate"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/sqlite"
)

// The server runs the migrations of all modules at startup. Normally, each migration runs once on a database.
func Example() {
	type before struct {
		store.Meta `bson:",inline"`
		State      string `json:"state"`
	}
	type after struct {
		store.Meta `bson:",inline"`
		Status     string `json:"status"`
		Beds       int64  `json:"beds"`
	}
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(ctx, filepath.Join(dir, "clinic.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	old := store.Open[before](db, store.Spec{Name: "rooms"})
	rooms := store.Open[after](db, store.Spec{Name: "rooms"})
	runner := migrate.New(db, time.Now, migrate.Migration{
		Name: "rooms-1", Collection: rooms.Engine(),
		Steps: []migrate.Step{migrate.Rename("state", "status"), migrate.Default[int64]("beds", "1")},
	})
	if err := db.Prepare(ctx); err != nil {
		log.Fatal(err)
	}
	room := before{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), State: "open"}
	if err := old.Insert(ctx, room); err != nil {
		log.Fatal(err)
	}
	pending, err := runner.Pending(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pending)
	if err := runner.Run(ctx, pending); err != nil {
		log.Fatal(err)
	}
	migrated, err := rooms.Get(ctx, room.ID)
	fmt.Println(migrated.Status, migrated.Beds, err)
	// Output:
	// [rename state to status; set beds to "1" where it is missing]
	// open 1 <nil>
}
