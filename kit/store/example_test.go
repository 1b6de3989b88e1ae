package store_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/sqlite"
)

type account struct {
	store.Meta `bson:",inline"`
	Balance    int64 `json:"balance"` // cents
}

var errBalance = errors.New("the balance is too low")

// transfer moves an amount from one account to another one.
func transfer(ctx context.Context, db store.DB, accounts *store.Collection[account], from, to store.ID, amount int64) error {
	return db.Atomic(ctx, func(ctx context.Context) error {
		if _, err := accounts.Update(ctx, store.Eq("id", to), store.Inc("balance", amount)); err != nil {
			return err
		}
		paid, err := accounts.Update(ctx, store.Eq("id", from), store.Inc("balance", -amount))
		if err == nil && paid.Balance < 0 {
			return errBalance // the first update is not stored either
		}
		return err
	})
}

func ExampleDB_atomic() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(ctx, filepath.Join(dir, "bank.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	accounts := store.Open[account](db, store.Spec{Name: "accounts"})
	if err := db.Prepare(ctx); err != nil {
		log.Fatal(err)
	}
	ann, bob := store.NewID(), store.NewID()
	for _, id := range []store.ID{ann, bob} {
		if err := accounts.Insert(ctx, account{Meta: store.NewMeta(id, store.At(time.Now())), Balance: 100}); err != nil {
			log.Fatal(err)
		}
	}
	for range 2 {
		err := transfer(ctx, db, accounts, ann, bob, 70)
		a, _ := accounts.Get(ctx, ann)
		b, _ := accounts.Get(ctx, bob)
		fmt.Println(a.Balance, b.Balance, err)
	}
	// Output:
	// 30 170 <nil>
	// 30 170 the balance is too low
}
