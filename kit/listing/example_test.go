package listing_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/sqlite"
)

// Room is a stored record.
type Room struct {
	store.Meta `bson:",inline"`
	Name       string `json:"name"`
	Beds       int64  `json:"beds"`
}

// RoomView is a row of the list.
type RoomView struct {
	Name string `json:"name"`
	Beds int64  `json:"beds"`
}

// A Spec declares what clients can search, sort and filter by. It also declares the indexes of the collection.
func Example() {
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

	spec := listing.Spec{
		Name: "rooms", Search: []string{"name"}, Sort: []string{"beds"},
		Filter: []listing.Filter{{Field: "beds", Type: listing.Int}}, View: RoomView{},
	}
	rooms := store.Open[Room](db, spec.Store())
	if err := db.Prepare(ctx); err != nil {
		log.Fatal(err)
	}
	for beds, name := range []string{"Broom closet", "North", "South", "East wing"} {
		room := Room{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), Name: name, Beds: int64(beds)}
		if err := rooms.Insert(ctx, room); err != nil {
			log.Fatal(err)
		}
	}
	lister := listing.NewLister(spec, listing.NewCursors("a secret of the service"))
	for _, text := range []string{"beds[gte]=1&sort=-beds&limit=2&count=true", "q=nor&fields=name", "beds=many"} {
		query, err := url.ParseQuery(text)
		if err != nil {
			log.Fatal(err)
		}
		parsed, err := lister.Parse(query)
		if err != nil {
			var invalid *apperr.Error
			if errors.As(err, &invalid) {
				fmt.Println(invalid.Fields[0].Param, invalid.Fields[0].Message)
			}
			continue
		}
		page, err := listing.Run(ctx, rooms, parsed, func(r Room) RoomView { return RoomView{r.Name, r.Beds} })
		if err != nil {
			log.Fatal(err)
		}
		page.Next = "" // opaque
		body, err := json.Marshal(page.JSON())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(body))
	}
	// Output:
	// {"count":3,"rows":[{"name":"East wing","beds":3},{"name":"South","beds":2}]}
	// {"count":1,"rows":[{"name":"North"}]}
	// beds Must be an integer between -9007199254740991 and 9007199254740991.
}
