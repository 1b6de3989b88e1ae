package store_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/shopspring/decimal"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/sqlite"
)

// Plant is a document.
type Plant struct {
	store.Meta `bson:",inline"`
	Name       string `json:"name"`
	Stock      int64  `json:"stock"`
}

// A module opens its collections when it is created. The server prepares the database afterwards.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(ctx, filepath.Join(dir, "shop.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	plants := store.Open[Plant](db, store.Spec{
		Name:    "plants",
		Indexes: []store.Index{{Fields: []string{"name"}, Unique: true}},
	})
	if err := db.Prepare(ctx); err != nil {
		log.Fatal(err)
	}

	now := store.At(time.Now())
	for name, stock := range map[string]int64{"Ginseng": 3, "Mallow": 0, "Sage": 12} {
		if err := plants.Insert(ctx, Plant{Meta: store.NewMeta(store.NewID(), now), Name: name, Stock: stock}); err != nil {
			log.Fatal(err)
		}
	}
	err = plants.Insert(ctx, Plant{Meta: store.NewMeta(store.NewID(), now), Name: "Sage"})
	fmt.Println(apperr.CodeOf(err))

	// Two buyers want the last piece. The filter is part of the update, so only one buyer succeeds.
	sage, err := plants.Update(ctx, store.And(store.Eq("name", "Sage"), store.Gte("stock", 10)), store.Inc("stock", -10))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sage.Name, sage.Stock)
	_, err = plants.Update(ctx, store.And(store.Eq("name", "Sage"), store.Gte("stock", 10)), store.Inc("stock", -10))
	fmt.Println(apperr.CodeOf(err))

	available, err := plants.List(ctx, store.Query{
		Filter: store.Gt("stock", 0), Sort: []store.Order{{Field: "stock", Desc: true}}, Limit: 10,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range available {
		fmt.Println(p.Name, p.Stock)
	}
	// Output:
	// conflict
	// Sage 2
	// not_found
	// Ginseng 3
	// Sage 2
}

type account struct {
	store.Meta `bson:",inline"`
	Balance    int64 `json:"balance"` // cents
}

var errBalance = errors.New("the balance is too low")

// transfer moves an amount from one account to another account.
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

// The price of a rental is a rate times a part of an hour, rounded to cents.
func ExampleDecimal_Big() {
	rate, err := store.ParseDecimal("19.90")
	if err != nil {
		log.Fatal(err)
	}
	hours := decimal.NewFromInt(50).DivRound(decimal.NewFromInt(60), 6)
	price, err := store.NewDecimal(rate.Big().Mul(hours).Round(2))
	if err != nil {
		log.Fatal(err) // the price has more digits than a Decimal
	}
	fmt.Println(price, price < rate)
	// Output: 16.58 true
}
