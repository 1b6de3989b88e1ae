package mongo

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/mongo/mongotest"
)

// open opens the database at an address of mongotest.New, and closes it when the test ends.
func open(t testing.TB, address *url.URL, monitor *event.CommandMonitor) *DB {
	t.Helper()
	db, err := Open(address.String(), monitor)
	must(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// monitored reports each command to started.
func monitored(started func(*event.CommandStartedEvent)) *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) { started(e) }}
}

// TestOneCommandEach checks that each method sends one command.
func TestOneCommandEach(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var commands []string
	db := open(t, mongotest.New(t), monitored(func(e *event.CommandStartedEvent) {
		mu.Lock()
		defer mu.Unlock()
		commands = append(commands, e.CommandName)
	}))
	c := store.Open[note](db, store.Spec{
		Name: "notes", Search: []string{"title"}, Indexes: []store.Index{{Fields: []string{"title"}}},
	})
	must(t, db.Prepare(t.Context()))
	const many = 250 // more than the default batch of the server
	var ids []store.ID
	for range many {
		n := note{Meta: store.NewMeta(store.NewID(), noon), Title: "a title"}
		ids = append(ids, n.ID)
		must(t, c.Insert(t.Context(), n))
	}
	// The first Update finds out which features the server lacks.
	if _, err := c.Update(t.Context(), store.Eq("id", ids[0]), store.Inc("size", 1)); err != nil {
		t.Fatal(err)
	}
	byTitle := []store.Order{{Field: "title"}}
	counting := "aggregate"
	if db.hasExactCount.Load() {
		counting = "count"
	}
	for _, test := range []struct {
		name string
		call func(context.Context) error
		want string
	}{
		{"Insert", func(ctx context.Context) error {
			return c.Insert(ctx, note{Meta: store.NewMeta(store.NewID(), noon)})
		}, "insert"},
		{"Get", func(ctx context.Context) error { _, err := c.Get(ctx, ids[0]); return err }, "find"},
		{"First", func(ctx context.Context) error {
			_, err := c.First(ctx, store.Eq("title", "a title"))
			return err
		}, "find"},
		{"List", func(ctx context.Context) error {
			got, err := c.List(ctx, store.Query{Sort: byTitle, Limit: many, Fields: []string{"title"}})
			if len(got) != many {
				t.Errorf("List has %d documents, want %d", len(got), many)
			}
			return err
		}, "find"},
		{"List of a search", func(ctx context.Context) error {
			_, err := c.List(ctx, store.Query{Filter: store.Search("ti a"), Skip: 3, Limit: 30})
			return err
		}, "find"},
		{"List after", func(ctx context.Context) error {
			_, err := c.List(ctx, store.Query{Sort: byTitle, After: []any{"a title", ids[9]}, Limit: 30})
			return err
		}, "find"},
		{"Count of all", func(ctx context.Context) error { _, err := c.Count(ctx, nil); return err }, counting},
		{"Count", func(ctx context.Context) error {
			_, err := c.Count(ctx, store.Eq("size", 0))
			return err
		}, "aggregate"},
		{"Update", func(ctx context.Context) error {
			_, err := c.Update(ctx, store.Eq("id", ids[0]), store.Set("title", "b"), store.Inc("size", 1))
			return err
		}, "findAndModify"},
		{"Delete of one", func(ctx context.Context) error {
			_, err := c.Delete(ctx, store.Eq("id", ids[0]))
			return err
		}, "delete"},
		{"Delete of many", func(ctx context.Context) error {
			_, err := c.Delete(ctx, store.Eq("size", 0))
			return err
		}, "delete"},
		{"Ping", db.Ping, "ping"},
	} {
		commands = nil
		if err := test.call(t.Context()); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if !slices.Equal(commands, []string{test.want}) {
			t.Errorf("%s took the commands %q, want one %s", test.name, commands, test.want)
		}
	}
}

// TestFind checks the find commands: a lookup by id has no sort, all other queries have a sort.
func TestFind(t *testing.T) {
	t.Parallel()
	var sent bson.D
	db := open(t, mongotest.New(t), monitored(func(e *event.CommandStartedEvent) {
		sent = nil
		for _, key := range []string{"find", "filter", "sort", "projection", "skip", "limit", "batchSize"} {
			if v, err := e.Command.LookupErr(key); err == nil {
				sent = append(sent, bson.E{Key: key, Value: v})
			}
		}
	}))
	c := store.Open[note](db, store.Spec{
		Name: "notes", Search: []string{"title"}, Indexes: []store.Index{{Fields: []string{"size", "title"}}},
	})
	if _, err := c.Get(t.Context(), someID); !apperr.Is(err, apperr.NotFound) {
		t.Fatal(err)
	}
	wantJSON(t, sent, `{"find":"notes","filter":{"_id":`+jsonID+`},"projection":{"_words":0},"limit":1,"batchSize":2}`)

	if _, err := c.List(t.Context(), store.Query{
		Filter: store.Eq("size", 5), Sort: []store.Order{{Field: "title", Desc: true}},
		Skip: 20, Limit: 10, Fields: []string{"title"},
	}); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, sent, `{"find":"notes","filter":{"size":{"$eq":5}},"sort":{"title":-1,"_id":-1},`+
		`"projection":{"_id":1,"title":1},"skip":20,"limit":10,"batchSize":11}`)

	if _, err := c.List(t.Context(), store.Query{}); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, sent, `{"find":"notes","filter":{},"sort":{"_id":1},"projection":{"_words":0}}`)
}

// TestForgotten makes the network drop all packets of open connections, but keeps the connections open. Calls must succeed on
// other connections long before the deadline of the calls.
func TestForgotten(t *testing.T) {
	t.Parallel()
	p, address := newProxy(t, nil, "heartbeatFrequencyMS=500", "connectTimeoutMS=1000")
	db := open(t, address, nil)
	notes := db.Open(store.Spec{Name: "notes"})
	const callers = 20 // also the number of connections
	count := func() (failed int) {
		results := make(chan error, callers)
		for range callers {
			go func() {
				_, err := notes.List(t.Context(), store.Query{MaxCount: store.CountAll}, nil)
				results <- err
			}()
		}
		for range callers {
			if <-results != nil {
				failed++
			}
		}
		return failed
	}
	if failed := count(); failed > 0 {
		t.Fatalf("%d of %d callers are not served", failed, callers)
	}
	p.Lose()
	must(t, p.Heal())
	begun := time.Now()
	for range 3 { // the driver retries calls of a dead connection on another connection
		if failed := count(); failed > 0 {
			t.Errorf("%d of %d callers are not served", failed, callers)
		}
	}
	if took := time.Since(begun); took > operationTimeout/2 {
		t.Errorf("it took %v to find out", took)
	}
}

// TestSilence checks that calls end with their context if the server does not respond.
func TestSilence(t *testing.T) {
	t.Parallel()
	var silent atomic.Bool
	speak := make(chan struct{})
	_, address := newProxy(t, func([]byte) bson.D {
		if silent.Load() {
			<-speak
		}
		return nil
	})
	db := open(t, address, nil)
	must(t, db.Ping(t.Context()))
	silent.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := db.Open(store.Spec{Name: "notes"}).List(ctx, store.Query{MaxCount: 1}, nil)
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("it took %v to give up", took)
	}
	if !apperr.Is(err, apperr.Unavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("silence is %v, want Unavailable by the deadline", err)
	}
	silent.Store(false)
	close(speak)
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("after the silence: %v", err)
	}
}

// TestPrepareKeepsOthersIndexes changes the declaration of a collection several times, and checks its indexes.
func TestPrepareKeepsOthersIndexes(t *testing.T) {
	t.Parallel()
	db := open(t, mongotest.New(t), nil)
	c := db.db.Collection("notes")
	if _, err := c.Indexes().CreateOne(t.Context(), driver.IndexModel{
		Keys: bson.D{{Key: "mine", Value: 1}}, Options: options.Index().SetName("mine"),
	}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		spec store.Spec
		want []string
	}{
		{store.Spec{
			Indexes: []store.Index{{Fields: []string{"title"}}, {Fields: []string{"size"}, Unique: true}},
			Search:  []string{"title"},
		}, []string{"_id_", "mine", "store:title", "store:unique:size", "store:words:title"}},
		{store.Spec{Indexes: []store.Index{{Fields: []string{"size"}}, {Fields: []string{"title"}}}},
			[]string{"_id_", "mine", "store:size", "store:title"}},
		{store.Spec{}, []string{"_id_", "mine"}},
	} {
		test.spec.Name = "notes"
		db.Open(test.spec)
		must(t, db.Prepare(t.Context()))
		specs, err := c.Indexes().ListSpecifications(t.Context())
		must(t, err)
		var got []string
		for _, s := range specs {
			got = append(got, s.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("the indexes are %q, want %q", got, test.want)
		}
	}
}

// TestWordsFollowTheDeclaration searches documents that were written while the field was not declared as searched, or by
// another program.
func TestWordsFollowTheDeclaration(t *testing.T) {
	t.Parallel()
	db := open(t, mongotest.New(t), nil)
	declare := func(search ...string) *store.Collection[note] {
		c := store.Open[note](db, store.Spec{Name: "notes", Search: search})
		must(t, db.Prepare(t.Context()))
		return c
	}
	n := note{Meta: store.NewMeta(store.NewID(), noon), Title: "first", Place: &place{City: "Oslo"}}
	c := declare("title", "place.city")
	must(t, c.Insert(t.Context(), n))
	c = declare()
	changes := []store.Change{store.Set("title", "second"), store.Set("place.city", "Rome")}
	if _, err := c.Update(t.Context(), store.Eq("id", n.ID), changes...); err != nil {
		t.Fatal(err)
	}
	const many = 120 // more than one batch of a cursor
	var imported []bson.D
	for i := range many {
		imported = append(imported, bson.D{{Key: "title", Value: fmt.Sprintf("imported n%03d", i)}})
	}
	if _, err := db.db.Collection("notes").InsertMany(t.Context(), imported); err != nil {
		t.Fatal(err)
	}
	c = declare("title", "place.city")
	for word, want := range map[string]int64{
		"first": 0, "second": 1, "imported": many, "n000": 1, "n042": 1, "n119": 1, "oslo": 0, "rome": 1,
	} {
		if got, err := c.Count(t.Context(), store.Search(word)); err != nil || got != want {
			t.Errorf("%d documents have %q (%v), want %d", got, word, err, want)
		}
	}
}

// TestMapKeys stores map keys that have a meaning in MongoDB. They must be unchanged after an update of another field.
func TestMapKeys(t *testing.T) {
	t.Parallel()
	db := open(t, mongotest.New(t), nil)
	c := store.Open[note](db, store.Spec{Name: "notes"})
	labels := map[string]string{"app.kubernetes.io/name": "$a.b", "$set": "1", "$": "2", ".": "3", "%2E": "4", "a b": "5"}
	n := note{Meta: store.NewMeta(store.NewID(), noon), Labels: labels}
	must(t, c.Insert(t.Context(), n))
	for _, change := range []store.Change{store.Set("title", "100 %"), store.Set("labels", labels)} {
		got, err := c.Update(t.Context(), store.Eq("id", n.ID), change)
		if err != nil || !reflect.DeepEqual(got.Labels, labels) {
			t.Errorf("the labels are %q, %v", got.Labels, err)
		}
	}
	got, err := c.Get(t.Context(), n.ID)
	if err != nil || !reflect.DeepEqual(got.Labels, labels) {
		t.Errorf("the labels are %q, %v", got.Labels, err)
	}
}

func TestClientOptions(t *testing.T) {
	t.Parallel()
	ours := clientOptions("mongodb://h")
	if *ours.AppName != DefaultName || ours.WriteConcern.W != "majority" || !*ours.WriteConcern.Journal ||
		ours.ReadConcern.Level != "local" || ours.ReadPreference.Mode() != readpref.PrimaryMode ||
		!*ours.RetryReads || !*ours.RetryWrites || *ours.Timeout != operationTimeout || *ours.MaxPoolSize != 100 ||
		*ours.HeartbeatInterval != time.Second || *ours.ConnectTimeout != 3*time.Second || ours.ServerMonitor == nil {
		t.Errorf("the defaults are %+v", ours)
	}
	theirs := clientOptions("mongodb://h/?appName=theirs&w=1&readConcernLevel=majority&readPreference=nearest&" +
		"retryReads=false&retryWrites=false&timeoutMS=1&serverSelectionTimeoutMS=2&connectTimeoutMS=3&maxPoolSize=4&" +
		"maxIdleTimeMS=5&heartbeatFrequencyMS=600")
	must(t, theirs.Validate())
	if *theirs.AppName != "theirs" || theirs.WriteConcern.W != 1 || theirs.ReadConcern.Level != "majority" ||
		theirs.ReadPreference.Mode() != readpref.NearestMode || *theirs.RetryReads || *theirs.RetryWrites ||
		*theirs.Timeout != 1e6 || *theirs.ServerSelectionTimeout != 2e6 || *theirs.ConnectTimeout != 3e6 ||
		*theirs.MaxPoolSize != 4 || *theirs.MaxConnIdleTime != 5e6 || *theirs.HeartbeatInterval != 6e8 {
		t.Errorf("the URI's values became %+v", theirs)
	}
}

func TestDatabaseName(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"mongodb://h":                      DefaultName,
		"mongodb://h/":                     DefaultName,
		"mongodb://h:1,i:2/?w=1":           DefaultName,
		"mongodb://h/?authSource=a/b":      DefaultName,
		"mongodb://u:p%2Fq@h:1,i:2/app":    "app",
		"mongodb://u:p?q@h/app":            "app",
		"mongodb+srv://h/app?retryReads=1": "app",
		"mongodb://h/a%2Db":                "a-b",
	} {
		if got := databaseName(uri); got != want {
			t.Errorf("%s names the database %q, want %q", uri, got, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{"", "http://h/", "mongodb://", "mongodb://h/?w=x&journal=1"} {
		if db, err := Open(uri, nil); err == nil {
			t.Errorf("Open(%q) = %v", uri, db.db.Name())
		}
	}
}
