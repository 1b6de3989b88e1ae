//go:build unix

package mongo

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/mongo/mongotest"
)

// The benchmarks compare the engine with a program that uses only the driver for the same commands and the same documents:
//
//	go -C scripts/mongod run . -- go test -run '^$' -bench . ./kit/store/mongo
//
// cpu-µs/op is the CPU time of this process. It does not include the CPU time of the server.

// article is a document of the engine with about 400 bytes.
type article struct {
	store.Meta `bson:",inline"`
	Title      string   `json:"title"`
	Content    string   `json:"content"`
	UserID     store.ID `json:"userId"`
}

// plainArticle is the same document with the tags and types of the driver.
type plainArticle struct {
	ID        bson.ObjectID `bson:"_id"`
	Version   int64         `bson:"version"`
	CreatedAt time.Time     `bson:"createdAt"`
	UpdatedAt time.Time     `bson:"updatedAt"`
	Title     string        `bson:"title"`
	Content   string        `bson:"content"`
	UserID    bson.ObjectID `bson:"userId"`
}

// stock is the number of documents. Some servers read all documents for each sorted query.
const stock = 40

const page = 30

func BenchmarkFindOne(b *testing.B) {
	engine, plain := benchmarked(b)
	rows, err := engine.List(b.Context(), store.Query{Limit: 1})
	must(b, err)
	id := rows[0].ID
	measure(b, "driver", func() {
		var a plainArticle
		must(b, plain.FindOne(b.Context(), bson.D{{Key: "_id", Value: id}}).Decode(&a))
	})
	measure(b, "engine", func() {
		_, err := engine.Get(b.Context(), id)
		must(b, err)
	})
}

func BenchmarkFindSorted(b *testing.B) {
	engine, plain := benchmarked(b)
	full := func(b *testing.B, rows int) {
		if rows != page {
			b.Fatalf("%d rows", rows)
		}
	}
	measure(b, "driver", func() {
		order := bson.D{{Key: "createdAt", Value: -1}, {Key: "_id", Value: -1}}
		cursor, err := plain.Find(b.Context(), bson.D{}, options.Find().SetSort(order).SetLimit(page).SetBatchSize(page+1))
		must(b, err)
		var rows []plainArticle
		must(b, cursor.All(b.Context(), &rows))
		full(b, len(rows))
	})
	measure(b, "engine", func() {
		rows, err := engine.List(b.Context(), store.Query{Sort: []store.Order{{Field: "createdAt", Desc: true}}, Limit: page})
		must(b, err)
		full(b, len(rows))
	})
}

func BenchmarkInsert(b *testing.B) {
	engine, plain := benchmarked(b)
	now := store.At(time.Now())
	measure(b, "driver", func() {
		_, err := plain.InsertOne(b.Context(), plainArticle{
			ID: bson.NewObjectID(), Version: 1, CreatedAt: now.Time, UpdatedAt: now.Time, Title: "A title", Content: content, UserID: bson.NewObjectID(),
		})
		must(b, err)
	})
	measure(b, "engine", func() { must(b, engine.Insert(b.Context(), newArticle(now))) })
}

var content = strings.Repeat("a root worth waiting for ", 10)

func newArticle(at store.Time) article {
	return article{Meta: store.NewMeta(store.NewID(), at), Title: "A title", Content: content, UserID: store.NewID()}
}

// benchmarked returns a collection with articles, and a collection of the driver with the same articles.
func benchmarked(b *testing.B) (*store.Collection[article], *driver.Collection) {
	b.Helper()
	address := mongotest.New(b)
	db := open(b, address, nil)
	engine := store.Open[article](db, store.Spec{Name: "articles", Indexes: []store.Index{{Fields: []string{"createdAt"}}}})
	must(b, db.Prepare(b.Context()))
	for i := range stock {
		must(b, engine.Insert(b.Context(), newArticle(store.At(time.Now().Add(time.Duration(i)*time.Second)))))
	}
	client, err := driver.Connect(options.Client().ApplyURI(address.String()))
	must(b, err)
	b.Cleanup(func() {
		if err := client.Disconnect(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return engine, client.Database(db.db.Name()).Collection("articles")
}

// measure runs f and reports the CPU time of this process.
func measure(b *testing.B, name string, f func()) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		var begun time.Duration
		for i := 0; b.Loop(); i++ {
			if i == 0 {
				begun = cpuTime(b)
			}
			f()
		}
		b.ReportMetric(float64((cpuTime(b)-begun).Nanoseconds())/1e3/float64(b.N), "cpu-µs/op")
	})
}

func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
