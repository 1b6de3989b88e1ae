package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/ginseng/kit/store"
)

// stock is the number of documents in the benchmarks of reads.
const stock = 10_000

// article is the document of the benchmarks: about 400 bytes of JSON, like a typical resource of the service.
type article struct {
	store.Meta `bson:",inline"`
	Title      string   `json:"title"`
	Content    string   `json:"content"`
	UserID     store.ID `json:"userId"`
}

// articleIndexes are the indexes for each order and filter of a list of articles.
var articleIndexes = []store.Index{
	{Fields: []string{"createdAt"}},
	{Fields: []string{"updatedAt"}},
	{Fields: []string{"title"}},
	{Fields: []string{"userId", "createdAt"}},
}

// BenchmarkStore measures the methods of a collection on every engine. Inserts and updates run in 32 concurrent goroutines. The
// lists read 30 of 10,000 documents, newest first.
func BenchmarkStore(b *testing.B) {
	for name, open := range engineOpeners(b) {
		b.Run(name, func(b *testing.B) { benchmarkEngine(b, open(b)) })
	}
}

func benchmarkEngine(b *testing.B, db store.DB) {
	collection := func(spec store.Spec) *store.Collection[article] {
		spec.Name = "bench_" + store.NewID().Hex()
		c := store.Open[article](db, spec)
		must(b, db.Prepare(b.Context()))
		return c
	}
	searched := store.Spec{Search: []string{"title", "content"}, Indexes: articleIndexes}
	plain := store.Spec{Indexes: articleIndexes[:1]}

	full := collection(searched)
	articles := make([]article, stock)
	for i := range articles {
		articles[i] = newArticle(store.At(time.Now().Add(time.Duration(i-stock) * time.Second)))
	}
	articles[stock/2].Title += " zyzzyva"
	var group errgroup.Group
	for chunk := range slices.Chunk(articles, stock/32+1) {
		group.Go(func() error {
			for _, d := range chunk {
				if err := full.Insert(b.Context(), d); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(b, group.Wait())

	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			_, err := full.Get(b.Context(), articles[i*7919%stock].ID)
			must(b, err)
		}
	})
	middle := articles[stock/2]
	newest := []store.Order{{Field: "createdAt", Desc: true}}
	for _, bench := range []struct {
		name  string
		q     store.Query
		count bool
	}{
		{"list30", store.Query{Sort: newest, Limit: 30}, false},
		{"list30+count", store.Query{Sort: newest, Limit: 30}, true},
		{"list30-after", store.Query{Sort: newest, Limit: 30, After: []any{middle.CreatedAt, middle.ID}}, false},
		{"list30-fields", store.Query{Sort: newest, Limit: 30, Fields: []string{"title", "createdAt"}}, false},
		{"search-common+count", store.Query{Sort: newest, Limit: 30, Filter: store.Search(word(0))}, true},
		{"search-rare+count", store.Query{Sort: newest, Limit: 1, Filter: store.Search("zyzzyv")}, true},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var rows []article
				var err error
				if bench.count {
					rows, _, err = full.Page(b.Context(), bench.q)
				} else {
					rows, err = full.List(b.Context(), bench.q)
				}
				must(b, err)
				if len(rows) != bench.q.Limit {
					b.Fatalf("%d rows", len(rows))
				}
			}
		})
	}

	b.Run("update", func(b *testing.B) {
		parallel(b, func() error {
			d := articles[rand.IntN(stock)]
			_, err := full.Update(b.Context(), store.Eq("id", d.ID),
				store.Set("title", text(5)), store.Set("updatedAt", store.At(time.Now())))
			return err
		})
	})
	logged := plain
	logged.Changes, logged.Scope = true, []string{"userId"}
	for name, spec := range map[string]store.Spec{"insert": plain, "insert-logged": logged, "insert-searched": searched} {
		b.Run(name, func(b *testing.B) {
			c := collection(spec)
			parallel(b, func() error { return c.Insert(b.Context(), newArticle(store.At(time.Now()))) })
		})
	}
	for name, spec := range map[string]store.Spec{"update-plain": plain, "update-logged": logged} {
		b.Run(name, func(b *testing.B) {
			c := collection(spec)
			for _, d := range articles[:100] {
				must(b, c.Insert(b.Context(), d))
			}
			parallel(b, func() error {
				_, err := c.Update(b.Context(), store.Eq("id", articles[rand.IntN(100)].ID), store.Set("title", "x"), store.Set("updatedAt", store.At(time.Now())))
				return err
			})
		})
	}
	b.Run("insert-checked", func(b *testing.B) { // like the creation of a record with a reference
		c := collection(plain)
		parallel(b, func() error {
			return db.Atomic(b.Context(), func(ctx context.Context) error {
				q := store.Query{Filter: store.In("id", articles[rand.IntN(stock)].ID), Fields: []string{"id"}}
				if found, err := full.List(ctx, q); err != nil || len(found) != 1 {
					return fmt.Errorf("%d articles: %w", len(found), err)
				}
				return c.Insert(ctx, newArticle(store.At(time.Now())))
			})
		})
	})
}

// cpuTime returns the processor time that the process has used.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// parallel measures f, called from 32 goroutines.
func parallel(b *testing.B, f func() error) {
	b.ReportAllocs()
	before := cpuTime(b)
	defer func() { b.ReportMetric(float64(cpuTime(b)-before)/1000/float64(b.N), "cpu-µs/op") }()
	b.SetParallelism((32 + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := f(); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
}

func newArticle(now store.Time) article {
	return article{
		Meta: store.NewMeta(store.NewID(), now), Title: text(5), Content: text(25),
		UserID: store.ID{11: byte(rand.IntN(100))},
	}
}

// text returns n words, some of which are far more frequent than others, as in natural languages.
func text(n int) string {
	var b strings.Builder
	for range n {
		r := rand.Float64()
		b.WriteString(word(int(r * r * r * 4096)))
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// word returns the i-th of 4,096 words.
func word(i int) string {
	syllables := strings.Fields("ba ce di fo gu ha je ki lo mu na pe ri so tu va")
	return syllables[i%16] + syllables[i/16%16] + syllables[i/256%16]
}

// BenchmarkLog inserts documents into a collection with a log of changes, in 32 concurrent goroutines, and waits until the log has
// all entries. "moved/s" is the rate until then, "written/s" the rate of the inserts.
func BenchmarkLog(b *testing.B) {
	for name, open := range engineOpeners(b) {
		b.Run(name, func(b *testing.B) { benchmarkLog(b, open(b)) })
	}
}

func benchmarkLog(b *testing.B, db store.DB) {
	const writers = 32
	spec := store.Spec{Name: "bench_" + store.NewID().Hex(), Indexes: articleIndexes[:1], Changes: true}
	c := store.Open[article](db, spec)
	must(b, db.Prepare(b.Context()))
	after, err := db.Log().Last(b.Context())
	must(b, err)
	begun := time.Now()
	b.ResetTimer()
	var next atomic.Int64
	var group errgroup.Group
	for range writers {
		group.Go(func() error {
			for next.Add(1) <= int64(b.N) {
				if err := c.Insert(b.Context(), newArticle(store.At(time.Now()))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(b, group.Wait())
	b.ReportMetric(float64(b.N)/time.Since(begun).Seconds(), "written/s")
	for n := 0; n < b.N; {
		entries, position, err := db.Log().Read(b.Context(), store.LogQuery{Collection: spec.Name, After: after, Limit: 1000})
		must(b, err)
		n, after = n+len(entries), position
		if len(entries) == 0 {
			must(b, db.Log().Wait(b.Context(), spec.Name, after))
		}
	}
	b.ReportMetric(float64(b.N)/time.Since(begun).Seconds(), "moved/s")
}
