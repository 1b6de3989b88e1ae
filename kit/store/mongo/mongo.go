// Package mongo keeps package store's promises on MongoDB 4.4 or later, by the official driver. A module's document is
// MongoDB's document under the same names, with these differences, which only a person at the database sees:
//
//   - "id" is "_id".
//   - A null is not stored: the field is absent.
//   - A key of a map may hold any character. "%", "." and a leading "$" are stored as %25, %2E and %24, since servers
//     disagree on whether, and how, the bare characters can be stored and updated.
//   - "_words" holds, for each field of Spec.Search, the words that Search looks up. The engine writes them in the same
//     step as the field; a document that came by another way gets them at the next Prepare.
//   - The names of indexes that Prepare makes, and may drop, begin with "store:". It leaves all others alone.
package mongo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"example.com/ginseng/kit/store"
)

// DefaultName is the name of the database, and the client's name in the server's log, where nothing else is said.
const DefaultName = "ginseng"

const (
	operationTimeout = 10 * time.Second // a request's limit is 30 s: leave it time to answer
	prepareTimeout   = time.Hour        // building an index over many documents takes long
	closeTimeout     = 10 * time.Second
)

// Options are what the URI cannot say.
type Options struct {
	AppName string                // names the client in the server's log; "" is DefaultName; appName in the URI wins
	Monitor *event.CommandMonitor // is told of each command; nil for none
}

// DB is a database on MongoDB. It implements store.DB.
type DB struct {
	client *driver.Client
	db     *driver.Database

	mu          sync.Mutex
	collections []*collection // as opened; each name once
}

// System is how OpenTelemetry names the engine.
func (db *DB) System() string { return "mongodb" }

// Open makes a handle on the database that the URI names ("mongodb://host/name", "mongodb+srv://host/name"; without a
// name, DefaultName). It connects in the background: Ping tells whether the server answers. Where the URI does not say
// otherwise,
//
//   - writes wait for a majority of the replica set and its journals (w=majority, journal=true), so that no failover
//     takes back what a caller was told;
//   - reads go to the primary and see the latest there (readPreference=primary, readConcernLevel=local). A write that
//     was answered is seen by every copy of the service from then on: a session that was just deleted works nowhere.
//     "majority" would add nothing to that, and would show a deletion under way later;
//   - reads, and writes of one document, are tried again after a lost connection or an election (retryReads,
//     retryWrites);
//   - an operation whose context has no deadline ends after 10 s, of which at most 5 s go by without a server to ask
//     (serverSelectionTimeoutMS);
//   - a server is asked every second whether it lives (heartbeatFrequencyMS). If it is silent for 3 s
//     (connectTimeoutMS), the connections to it that are silent too are closed;
//   - at most 100 connections are kept to each server (maxPoolSize), an idle one for 5 minutes (maxIdleTimeMS).
func Open(_ context.Context, uri string, opts Options) (*DB, error) {
	client, err := driver.Connect(clientOptions(uri, opts))
	if err != nil {
		return nil, fmt.Errorf("mongo: %w", err)
	}
	return &DB{client: client, db: client.Database(databaseName(uri))}, nil
}

func clientOptions(uri string, opts Options) *options.ClientOptions {
	journal, dialer := true, newDialer()
	return options.Client().
		SetAppName(cmp.Or(opts.AppName, DefaultName)).
		SetMonitor(opts.Monitor).
		SetDialer(dialer).
		SetServerMonitor(&event.ServerMonitor{ServerHeartbeatFailed: dialer.unanswered}).
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

// databaseName is the path of a URI that the driver has accepted, or DefaultName. The hosts before it are a list, which
// package url does not read.
func databaseName(uri string) string {
	_, rest, _ := strings.Cut(uri, "://")
	rest, _, _ = strings.Cut(rest, "?")
	_, path, _ := strings.Cut(rest, "/")
	if name, err := url.PathUnescape(path); err == nil && name != "" {
		return name
	}
	return DefaultName
}

// Open declares a collection. Of several declarations under one name, Prepare follows the last.
func (db *DB) Open(spec store.Spec) store.Engine {
	c := &collection{schema: newSchema(spec), c: db.db.Collection(spec.Name)}
	db.mu.Lock()
	defer db.mu.Unlock()
	for i, other := range db.collections {
		if other.c.Name() == spec.Name {
			db.collections[i] = c
			return c
		}
	}
	db.collections = append(db.collections, c)
	return c
}

// Prepare makes the indexes that are missing, and with them the collections, drops those of its own that are no longer
// declared, and writes the words of documents that lack them. It ends after an hour at the latest.
func (db *DB) Prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	db.mu.Lock()
	collections := append([]*collection(nil), db.collections...)
	db.mu.Unlock()
	for _, c := range collections {
		if err := c.prepare(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Ping asks the primary for an answer.
func (db *DB) Ping(ctx context.Context) error {
	return translate(db.client.Ping(ctx, nil), nil)
}

// Close waits up to 10 s for operations under way and closes the connections. Closing again does nothing.
func (db *DB) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := db.client.Disconnect(ctx); !errors.Is(err, driver.ErrClientDisconnected) {
		return translate(err, nil)
	}
	return nil
}
