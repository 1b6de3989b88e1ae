package mongo

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engine"
)

// changeLog is the log of changes of a database. It implements store.Log.
type changeLog struct {
	coll   *driver.Collection
	signal engine.LogSignal
	woken  chan struct{} // buffered, so that a signal is kept while the mover is busy

	mu          sync.Mutex
	collections []*collection // collections with Spec.Changes
	stop        context.CancelFunc
	running     sync.WaitGroup
}

func newChangeLog(db *driver.Database) *changeLog {
	return &changeLog{coll: db.Collection(changesKey), woken: make(chan struct{}, 1)}
}

// Log implements store.DB.
func (db *DB) Log() store.Log { return db.log }

// prepare creates the indexes of the log. If the log is empty, prepare inserts a first entry, so that every log has a position.
func (l *changeLog) prepare(ctx context.Context) error {
	present, err := l.coll.Indexes().ListSpecifications(ctx)
	if err != nil {
		return translate(err, nil)
	}
	for _, name := range []string{"changeId", "collection", "recordId", "by"} {
		keys := bson.D{{Key: name, Value: 1}}
		if name != "changeId" {
			keys = append(keys, bson.E{Key: idKey, Value: 1})
		}
		if slices.ContainsFunc(present, func(spec driver.IndexSpecification) bool { return spec.Name == name }) {
			continue
		}
		model := driver.IndexModel{Keys: keys, Options: options.Index().SetName(name).SetUnique(name == "changeId")}
		err := retryDeadlock(ctx, func() error {
			_, err := l.coll.Indexes().CreateOne(ctx, model)
			return err
		})
		if err != nil {
			return translate(err, nil)
		}
	}
	last, err := l.last(ctx)
	if err != nil || last.Number > 0 {
		return translate(err, nil)
	}
	first := logEntry{Number: 1, Change: newPending(ctx, store.Reset, nil)}
	if _, err := l.coll.InsertOne(ctx, first); !isDuplicate(err) { // duplicate: another instance has inserted the entry
		return translate(err, nil)
	}
	return nil
}

// start starts the mover, and the goroutine that runs watch. If they are already running, start only replaces the collections.
func (l *changeLog) start(collections []*collection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.collections = collections
	if l.stop != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.running.Go(func() { l.moveAll(ctx) })
	l.running.Go(func() { l.watch(ctx) })
	l.wake()
}

// close stops the goroutines that start has started. The remaining entries stay in their documents until another mover moves
// them.
func (l *changeLog) close() {
	l.mu.Lock()
	stop := l.stop
	l.mu.Unlock()
	if stop != nil {
		stop()
		l.running.Wait()
	}
}

// wake makes the mover look for pending entries.
func (l *changeLog) wake() {
	select {
	case l.woken <- struct{}{}:
	default:
	}
}

// moveAll moves the pending entries of all collections until ctx ends.
func (l *changeLog) moveAll(ctx context.Context) {
	ticker := time.NewTicker(moveInterval)
	defer ticker.Stop()
	for {
		select {
		case <-l.woken:
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		l.mu.Lock()
		collections := slices.Clone(l.collections)
		l.mu.Unlock()
		for _, c := range collections {
			for moved := moveBatch; moved == moveBatch; {
				var err error
				moved, err = c.move(ctx, nil)
				if err != nil && ctx.Err() == nil {
					slog.Warn("cannot move pending entries to the log of changes; trying again", "collection", c.spec.Name, "in", moveInterval, "error", err)
				}
			}
		}
	}
}

// watch looks for entries that other instances have moved, and wakes the callers of Wait.
func (l *changeLog) watch(ctx context.Context) {
	const margin, batch = 1000, 1000 // numbers of entries
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	known, watched := int64(0), false
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		from, waiting := l.signal.Waiting()
		if waiting && !watched {
			known = max(known, from-margin) // later callers may wait for entries before from
		}
		if watched = waiting; !waiting {
			continue
		}
		entries, err := l.find(ctx, bson.D{}, known, batch)
		if err != nil {
			continue // try again at the next tick
		}
		for _, e := range entries {
			known = e.Number
			l.signal.Notify(e.Collection, e.Number)
		}
	}
}

func (l *changeLog) reset(ctx context.Context, collection string) error {
	return l.append(ctx, []logEntry{{Collection: collection, Change: newPending(ctx, store.Reset, nil)}})
}

// append inserts the entries that the log does not have yet, in order.
func (l *changeLog) append(ctx context.Context, entries []logEntry) error {
	const batch = 100 // FerretDB 1 splits a larger insert, and continues after a part with a duplicate
	for len(entries) > 0 {
		some := entries[:min(len(entries), batch)]
		last, err := l.last(ctx)
		if err != nil {
			return translate(err, nil)
		}
		docs := make([]any, len(some))
		for i := range some {
			some[i].Number = last.Number + 1 + int64(i)
			docs[i] = some[i]
		}
		_, err = l.coll.InsertMany(ctx, docs, options.InsertMany().SetOrdered(true))
		switch {
		case err == nil:
			for _, e := range some {
				l.signal.Notify(e.Collection, e.Number)
			}
			entries = entries[len(some):]
		case !isDuplicate(err):
			return translate(err, nil)
		default: // a duplicate number or change ID: another mover has inserted entries
			if entries, err = l.missing(ctx, entries); err != nil {
				return translate(err, nil)
			}
		}
	}
	return nil
}

// missing returns the entries that are not in the log.
func (l *changeLog) missing(ctx context.Context, entries []logEntry) ([]logEntry, error) {
	ids := make([]store.ID, len(entries))
	for i, e := range entries {
		ids[i] = e.Change.ChangeID
	}
	cursor, err := l.coll.Find(ctx, where("changeId", "$in", ids), options.Find().SetProjection(bson.D{{Key: "changeId", Value: 1}}))
	if err != nil {
		return nil, err
	}
	var found []logEntry
	err = cursor.All(ctx, &found)
	return slices.DeleteFunc(slices.Clone(entries), func(e logEntry) bool {
		return slices.ContainsFunc(found, func(f logEntry) bool { return f.Change.ChangeID == e.Change.ChangeID })
	}), err
}

// last returns the newest entry; the zero value if the log has no entries.
func (l *changeLog) last(ctx context.Context) (e logEntry, err error) {
	newest := options.FindOne().SetSort(bson.D{{Key: idKey, Value: -1}}).SetProjection(bson.D{{Key: "changeId", Value: 1}})
	err = ignoreMissing(l.coll.FindOne(ctx, bson.D{}, newest).Decode(&e))
	return e, err
}

// find returns up to limit entries that the filter selects and whose numbers are greater than after, in ascending order.
func (l *changeLog) find(ctx context.Context, filter bson.D, after int64, limit int) (entries []logEntry, err error) {
	opts := options.Find().SetSort(bson.D{{Key: idKey, Value: 1}}).SetLimit(int64(limit))
	cursor, err := l.coll.Find(ctx, append(slices.Clip(filter), where(idKey, "$gt", after)...), opts)
	if err == nil {
		err = cursor.All(ctx, &entries)
	}
	return entries, err
}

// Last implements store.Log.
func (l *changeLog) Last(ctx context.Context) (store.Position, error) {
	e, err := l.last(ctx)
	return e.position(), translate(err, nil)
}

// Read implements store.Log. It reads the newest position before the entries, so that next skips no entry.
func (l *changeLog) Read(ctx context.Context, q store.LogQuery) (entries []store.Entry, next store.Position, err error) {
	var at logEntry
	err = l.coll.FindOne(ctx, bson.D{{Key: idKey, Value: q.After.Number}}).Decode(&at)
	if errors.Is(err, driver.ErrNoDocuments) || err == nil && at.Change.ChangeID != q.After.ChangeID {
		return nil, next, store.ErrPosition
	}
	if err == nil {
		next, err = l.Last(ctx)
	}
	if err != nil {
		return nil, next, translate(err, nil)
	}
	var filter bson.D
	if q.Collection != "" {
		filter = bson.D{{Key: "collection", Value: q.Collection}}
	}
	found, err := l.find(ctx, filter, q.After.Number, q.Limit)
	if err != nil {
		return nil, next, translate(err, nil)
	}
	for _, e := range found {
		entries = append(entries, e.entry())
	}
	if n := len(found); n > 0 && (n == q.Limit || found[n-1].Number > next.Number) {
		next = found[n-1].position()
	}
	return entries, next, nil
}

// Newest implements store.Log.
func (l *changeLog) Newest(ctx context.Context, f store.LogFilter) (entries []store.Entry, err error) {
	filter := bson.D{}
	if f.Collection != "" {
		filter = append(filter, bson.E{Key: "collection", Value: f.Collection})
	}
	if !f.RecordID.IsZero() {
		filter = append(filter, bson.E{Key: "recordId", Value: f.RecordID})
	}
	if !f.By.IsZero() {
		filter = append(filter, bson.E{Key: "by", Value: f.By})
	}
	if f.Before > 0 {
		filter = append(filter, where(idKey, "$lt", f.Before)...)
	}
	at := bson.D{}
	if f.Since != nil {
		at = append(at, bson.E{Key: "$gte", Value: f.Since.Time})
	}
	if f.Until != nil {
		at = append(at, bson.E{Key: "$lt", Value: f.Until.Time})
	}
	if len(at) > 0 {
		filter = append(filter, bson.E{Key: "at", Value: at})
	}
	var found []logEntry
	cursor, err := l.coll.Find(ctx, filter, options.Find().SetSort(bson.D{{Key: idKey, Value: -1}}).SetLimit(int64(f.Limit)))
	if err == nil {
		err = cursor.All(ctx, &found)
	}
	for _, e := range found {
		entries = append(entries, e.entry())
	}
	return entries, translate(err, nil)
}

// Wait implements store.Log.
func (l *changeLog) Wait(ctx context.Context, collection string, after store.Position) error {
	return l.signal.Wait(ctx, collection, after)
}

// Sweep implements store.Log. It keeps entries for one hour longer than requested; see sweepMargin. It stops at the first entry
// that must be kept, so that the numbers of the remaining entries have no gap.
func (l *changeLog) Sweep(ctx context.Context, before store.Time) (int64, error) {
	limit := before.Add(-sweepMargin)
	entries, err := l.find(ctx, bson.D{}, 0, engine.SweepBatch+1)
	if err != nil {
		return 0, translate(err, nil)
	}
	n := slices.IndexFunc(entries, func(e logEntry) bool { return !e.Change.At.Before(limit) })
	if n < 0 {
		n = len(entries) - 1 // keep the newest entry, or the first entry of the next batch
	}
	if n <= 0 {
		return 0, nil
	}
	result, err := l.coll.DeleteMany(ctx, where(idKey, "$lt", entries[n].Number))
	if err != nil {
		return 0, translate(err, nil)
	}
	return result.DeletedCount, nil
}
