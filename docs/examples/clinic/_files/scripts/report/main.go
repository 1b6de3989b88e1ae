// Command report prints the booked minutes of each practitioner. The database adds them up.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

func main() {
	rows, err := minutes(context.Background(), os.Getenv("DATABASE_URL"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
	for _, r := range rows {
		fmt.Println(r.Practitioner, r.Minutes)
	}
}

// Row is a row of the report.
type Row struct {
	Practitioner string // hexadecimal ID
	Minutes      int64
}

// minutes reads from the database at an address as in DATABASE_URL.
func minutes(ctx context.Context, address string) ([]Row, error) {
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		return fromSQLite(ctx, path)
	}
	return fromMongo(ctx, address)
}

func fromMongo(ctx context.Context, address string) (rows []Row, err error) {
	parsed, err := connstring.Parse(address)
	if err != nil {
		return nil, err
	}
	client, err := mongo.Connect(options.Client().ApplyURI(address))
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Disconnect(context.WithoutCancel(ctx)) }()
	found, err := client.Database(parsed.Database).Collection("appointments").Aggregate(ctx, bson.A{
		bson.D{{Key: "$match", Value: bson.D{{Key: "state", Value: "booked"}}}},
		bson.D{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: "$practitioner"},
			{Key: "minutes", Value: bson.D{{Key: "$sum", Value: "$minutes"}}},
		}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	})
	if err != nil {
		return nil, err
	}
	var groups []struct {
		ID      bson.ObjectID `bson:"_id"`
		Minutes int64         `bson:"minutes"`
	}
	if err := found.All(ctx, &groups); err != nil {
		return nil, err
	}
	for _, g := range groups {
		rows = append(rows, Row{g.ID.Hex(), g.Minutes})
	}
	return rows, nil
}

func fromSQLite(ctx context.Context, path string) (rows []Row, err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	found, err := db.QueryContext(ctx, `SELECT doc->>'practitioner', sum(doc->>'minutes') FROM appointments
		WHERE doc->>'state' = 'booked' GROUP BY 1 ORDER BY 1`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		var r Row
		if err := found.Scan(&r.Practitioner, &r.Minutes); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, found.Err()
}
