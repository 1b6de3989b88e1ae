// Package mongo implements package store on MongoDB 4.4 or later with the official driver. The stored form of a document is its
// JSON form, with these differences:
//
//   - "id" is "_id".
//   - A null is not stored: the field is absent.
//   - Integers have 64 bits.
//   - A key of a map may have any character. "%", "." and a leading "$" are stored as %25, %2E and %24, because
//     servers differ in how they store and update these characters.
//   - "_words" has, for each field of Spec.Search, the words that Search looks up. The engine writes the words together with
//     the field. For documents that another program inserts, the next Prepare writes the words.
//   - "_lock" is a number that Collection.Lock increments.
//   - "_changes", "_pending" and "_deleted" belong to the log of changes, which is the collection "_changes"; see changes.go.
//
// Except in the log of changes, the indexes that Prepare creates have names that begin with "store:". Prepare does not drop other
// indexes.
//
// FerretDB and DocumentDB, which comments mention, are servers that are compatible with MongoDB; see docs/operations.md.
package mongo

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"golang.org/x/sync/semaphore"

	"example.com/ginseng/kit/store"
)

// DefaultName is the name of the database if the URI does not name a database. It is also the name of the client in the server's
// log.
const DefaultName = "ginseng"

const (
	operationTimeout = 10 * time.Second // shorter than the request timeout of 30 s, which leaves time for a response
	prepareTimeout   = time.Hour        // building an index on a large collection can take a long time
	closeTimeout     = 10 * time.Second
)

// DB is a MongoDB database. It implements store.DB.
type DB struct {
	client *driver.Client
	db     *driver.Database
	// hasExactCount is set by Prepare if the server keeps the number of documents of each collection, as MongoDB's storage
	// engine WiredTiger does.
	hasExactCount atomic.Bool
	transactions  atomic.Bool // the server supports transactions; set by Prepare
	searches      *semaphore.Weighted
	log           *changeLog

	mu          sync.Mutex
	collections []*collection // in the order of the calls to Open, without duplicate names
}

// System returns OpenTelemetry's name for the engine.
func (db *DB) System() string { return "mongodb" }

// Open returns a handle for the database at the URI ("mongodb://host/name" or "mongodb+srv://host/name"). If the URI does not
// name a database, the name is DefaultName. Open connects in the background; use Ping to wait for the server. monitor, which may
// be nil, observes the commands. Unless the URI sets other options:
//
//   - A write is confirmed when a majority of the replica set has written it to the journal (w=majority, journal=true). Therefore
//     no failover loses a confirmed write.
//   - Reads go to the primary and return the latest data (readPreference=primary, readConcernLevel=local). All instances see a
//     confirmed write immediately, for example that a session was deleted.
//   - Reads, and writes of one document, are retried after a lost connection or an election (retryReads, retryWrites).
//   - An operation whose context has no deadline ends after 10 s. It waits at most 5 s for a server (serverSelectionTimeoutMS).
//   - The driver checks each server every second (heartbeatFrequencyMS). If a server does not respond within 3 s
//     (connectTimeoutMS), the connections to this server that received nothing in that time are closed.
//   - At most 100 connections to each server are open (maxPoolSize). Idle connections are closed after 5 minutes
//     (maxIdleTimeMS).
func Open(uri string, monitor *event.CommandMonitor) (*DB, error) {
	client, err := driver.Connect(clientOptions(uri).SetMonitor(monitor))
	if err != nil {
		return nil, fmt.Errorf("mongo: %w", err)
	}
	db := client.Database(databaseName(uri))
	return &DB{client: client, db: db, searches: semaphore.NewWeighted(maxSearches), log: newChangeLog(db)}, nil
}

func clientOptions(uri string) *options.ClientOptions {
	journal, dialer := true, new(dialer)
	return options.Client().
		SetAppName(DefaultName).
		SetDialer(dialer).
		SetServerMonitor(&event.ServerMonitor{ServerHeartbeatFailed: dialer.heartbeatFailed}).
		SetWriteConcern(&writeconcern.WriteConcern{W: writeconcern.WCMajority, Journal: &journal}).
		SetReadConcern(readconcern.Local()).
		SetReadPreference(readpref.Primary()).
		SetRetryReads(true).
		SetRetryWrites(true).
		SetTimeout(operationTimeout).
		SetServerSelectionTimeout(5 * time.Second).
		SetConnectTimeout(3 * time.Second).
		SetHeartbeatInterval(time.Second).
		SetMaxPoolSize(100).
		SetMaxConnIdleTime(5 * time.Minute).
		ApplyURI(uri)
}

// databaseName returns the database name in a URI that the driver has accepted, or DefaultName if the URI does not name a
// database. It does not use url.Parse, which rejects some lists of hosts, such as a:27017,b.
func databaseName(uri string) string {
	_, rest, _ := strings.Cut(uri, "://")
	if _, server, ok := strings.Cut(rest, "@"); ok { // a password may have a "?"
		rest = server
	}
	rest, _, _ = strings.Cut(rest, "?")
	_, path, _ := strings.Cut(rest, "/")
	if name, err := url.PathUnescape(path); err == nil && name != "" {
		return name
	}
	return DefaultName
}

// Open implements store.DB.
func (db *DB) Open(spec store.Spec) store.Engine {
	c := &collection{
		schema: newSchema(spec), client: db.client, coll: db.db.Collection(spec.Name), hasExactCount: &db.hasExactCount, searches: db.searches,
		spec: spec, log: db.log,
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.collections = slices.DeleteFunc(db.collections, func(old *collection) bool { return old.coll.Name() == spec.Name })
	db.collections = append(db.collections, c)
	return atomicCollection{c}
}

// Prepare implements store.DB. It also drops indexes that an earlier Prepare created and that are no longer declared. Prepare
// fails if it takes longer than one hour.
func (db *DB) Prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	db.mu.Lock()
	collections := slices.Clone(db.collections)
	db.mu.Unlock()
	if err := db.identify(ctx); err != nil {
		return err
	}
	var logged []*collection
	for _, c := range collections {
		if err := c.prepare(ctx); err != nil {
			return err
		}
		if c.spec.Changes {
			logged = append(logged, c)
		}
	}
	if logged == nil {
		return nil
	}
	if err := db.log.prepare(ctx); err != nil {
		return err
	}
	db.log.start(logged)
	return nil
}

// identify sets hasExactCount and transactions. Only MongoDB servers list storage engines in the response to buildInfo. Other
// products and the router of a sharded cluster do not.
func (db *DB) identify(ctx context.Context) error {
	var build struct {
		StorageEngines []string `bson:"storageEngines"`
	}
	err := db.db.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Decode(&build)
	db.hasExactCount.Store(slices.Contains(build.StorageEngines, "wiredTiger"))
	if err != nil {
		return translate(err, nil)
	}
	db.transactions.Store(db.hasTransactions(ctx))
	return nil
}

// Ping implements store.DB. The primary must respond.
func (db *DB) Ping(ctx context.Context) error {
	return translate(db.client.Ping(ctx, nil), nil)
}

// Close implements store.DB. It waits up to 10 s for running operations.
func (db *DB) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	db.log.close()
	if err := db.client.Disconnect(ctx); !errors.Is(err, driver.ErrClientDisconnected) {
		return translate(err, nil)
	}
	return nil
}
