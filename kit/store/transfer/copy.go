// Package transfer copies databases between any two engines, and detects databases whose copy is unfinished.
//
// Use it when a service moves to another database: all collections are copied, and documents stay as they are stored. To move the
// records of one resource, with the validation of the API, use package records.
package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"example.com/ginseng/kit/progress"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
)

// Recorder is a store.DB that only records which collections are opened.
type Recorder struct {
	store.DB
	Specs []store.Spec
}

// Open implements store.DB. It returns no usable engine. A collection that is opened again is recorded once.
func (r *Recorder) Open(spec store.Spec) store.Engine {
	if !slices.ContainsFunc(r.Specs, func(s store.Spec) bool { return s.Name == spec.Name }) {
		r.Specs = append(r.Specs, spec)
	}
	return nil
}

// Options are the arguments of Copy.
type Options struct {
	From, To string       // addresses of the databases
	Specs    []store.Spec // all collections of the service
	Skip     []string     // names of the source's collections that are not copied
	Replace  bool         // delete the target's documents; if false, a new copy fails if the target has documents
	Progress io.Writer    // receives the progress
	Report   io.Writer    // receives a table of the copied collections
}

// Copy copies all collections except those in Skip, compares the target with the source, and creates the indexes. While Copy
// runs, and after an error or an interruption, the target is marked as unfinished. If Copy is called again with the same
// addresses, it continues after the last document of each collection in the target. If the comparison found a difference, the
// next Copy starts from the beginning.
func Copy(ctx context.Context, o Options) (err error) {
	if engines.Same(o.From, o.To) {
		return errSame
	}
	source, err := open(ctx, engines.OpenExisting, o.From)
	if err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	c := copier{Options: o, source: source, last: make(map[string][]any)}
	if err := c.checkSource(ctx); err != nil {
		return fmt.Errorf("the source, %s, %w", engines.Redact(o.From), err)
	}
	c.target, err = open(ctx, engines.Open, o.To)
	if err != nil {
		return fmt.Errorf("the target: %w", err)
	}
	defer func() { err = errors.Join(err, c.target.Close()) }()
	for _, step := range []func(context.Context) error{c.prepareTarget, c.load, c.compare, c.finish} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return c.report()
}

var errSame = errors.New("the source and the target are one database")

func open(ctx context.Context, open func(context.Context, string) (store.DB, error), address string) (store.DB, error) {
	db, err := open(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := db.Ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", engines.Redact(address), err), db.Close())
	}
	return db, nil
}

// copier is one call of Copy.
type copier struct {
	Options
	source, target     store.DB
	last               map[string][]any    // position of the last document of each collection in the target, as in Query.After
	inSource, inTarget map[string]checksum // by collection; without empty collections
}

// checkSource fails if the source is an unfinished copy, has no collections, lacks a collection in Skip, or has collections that
// would not be copied. It sorts Specs, and removes the collections in Skip from Specs.
func (c *copier) checkSource(ctx context.Context) error {
	if m, err := findMarker(ctx, c.source); err != nil {
		return err
	} else if m != nil {
		return errors.New("is itself an unfinished copy; finish that copy first")
	}
	names, err := c.source.Names(ctx)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return errors.New("has no collections; check the address")
	}
	for _, name := range c.Skip {
		if !slices.Contains(names, name) {
			return fmt.Errorf("has no collection %q to skip", name)
		}
	}
	c.Specs = slices.DeleteFunc(slices.Clone(c.Specs), func(s store.Spec) bool { return slices.Contains(c.Skip, s.Name) })
	slices.SortFunc(c.Specs, func(a, b store.Spec) int { return strings.Compare(a.Name, b.Name) })
	unknown := slices.DeleteFunc(names, func(name string) bool {
		return slices.Contains(c.Skip, name) || slices.ContainsFunc(c.Specs, func(s store.Spec) bool { return s.Name == name })
	})
	if len(unknown) > 0 {
		return fmt.Errorf("has collections that no module declares: %s; skip them with --skip %s, or use a service that has their modules",
			strings.Join(unknown, ", "), strings.Join(unknown, " --skip "))
	}
	return nil
}

// prepareTarget marks the target as unfinished and empties it, unless an earlier copy of the same source has already done so.
// Without Replace, it fails if the target has other documents or is an unfinished copy of another source. It also fails if the
// target is the source.
func (c *copier) prepareTarget(ctx context.Context) error {
	from := engines.Redact(c.From)
	filled, err := c.filledCollections(ctx)
	if err != nil {
		return err
	}
	m, err := findMarker(ctx, c.target)
	switch {
	case err != nil:
		return err
	case m != nil && m.Source == from && m.Emptied:
		return nil
	case m != nil && m.Source != from && !c.Replace:
		return fmt.Errorf("the target, %s, is an unfinished copy of %s; finish that copy, or delete its documents with --replace",
			engines.Redact(c.To), m.Source)
	case m == nil && filled != nil && !c.Replace:
		return fmt.Errorf("the target, %s, is not empty: it has documents in %s; name another target, or delete these documents with --replace",
			engines.Redact(c.To), strings.Join(filled, ", "))
	case m != nil:
		err = updateMarker(ctx, c.target, store.Set("source", from), store.Set("emptied", false))
	default:
		m, err = createMarker(ctx, c.target, from)
	}
	if err != nil {
		return err
	}
	if found, err := findMarker(ctx, c.source); err != nil {
		return err
	} else if found != nil && found.ID == m.ID {
		return errors.Join(errSame, c.target.Drop(ctx, markerName))
	}
	for _, name := range filled {
		if err := c.target.Drop(ctx, name); err != nil {
			return err
		}
		delete(c.last, name)
	}
	return updateMarker(ctx, c.target, store.Set("emptied", true))
}

// filledCollections returns the names of the collections in Specs that have documents in the target. It records the last id of
// each of these collections in c.last.
func (c *copier) filledCollections(ctx context.Context) (filled []string, err error) {
	err = eachCollection(ctx, c.target, c.Specs, func(spec store.Spec) error {
		last, err := lastID(ctx, c.target, spec, false)
		if err != nil || last == nil {
			return err
		}
		filled, c.last[spec.Name] = append(filled, spec.Name), last
		return nil
	})
	return filled, err
}

// compare reads both databases. If they differ, it fails, and marks the target so that the next copy starts from the beginning.
func (c *copier) compare(ctx context.Context) error {
	total, err := count(ctx, c.source, c.Specs)
	if err != nil {
		return err
	}
	bar := progress.Start(c.Progress, "comparing", "documents", 2*total)
	group, limited := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		c.inSource, err = checksums(limited, c.source, c.Specs, bar)
		return err
	})
	group.Go(func() (err error) {
		c.inTarget, err = checksums(limited, c.target, c.Specs, bar)
		return err
	})
	err = group.Wait()
	bar.Stop()
	if err != nil {
		return err
	}
	var different []string
	for _, spec := range c.Specs {
		if source, target := c.inSource[spec.Name], c.inTarget[spec.Name]; source != target {
			different = append(different, fmt.Sprintf("%s (%s documents in the source, %s in the target)",
				spec.Name, humanize.Comma(source.documents), humanize.Comma(target.documents)))
		}
	}
	if different == nil {
		return nil
	}
	err = fmt.Errorf("the copy differs from the source in %s; most likely the source was changed during the copy: "+
		"stop the services that use the source and run the same command again, which starts from the beginning", strings.Join(different, ", "))
	return errors.Join(err, updateMarker(ctx, c.target, store.Set("emptied", false)))
}

// finish creates the indexes and removes the marker.
func (c *copier) finish(ctx context.Context) error {
	for _, spec := range c.Specs {
		c.target.Open(spec)
	}
	bar := progress.Start(c.Progress, "creating indexes", "", -1)
	defer bar.Stop()
	if err := c.target.Prepare(ctx); err != nil {
		return fmt.Errorf("the target's indexes: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.target.Drop(context.WithoutCancel(ctx), markerName) // from here on, ignore an interruption
}

// report writes a table of the collections, which are the same in both databases.
func (c *copier) report() error {
	table := tabwriter.NewWriter(c.Report, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "collection\tdocuments\tSHA-256, the same in both databases")
	for _, spec := range c.Specs {
		sum := c.inSource[spec.Name]
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", spec.Name, humanize.Comma(sum.documents), cmp.Or(sum.hash, "-"))
	}
	return table.Flush()
}

// markerName is the name of a collection that only the target of an unfinished copy has.
const markerName = "unfinished-copy"

// marker is the only document of the collection markerName. If the source has a marker with the same id, both addresses name
// the same database.
type marker struct {
	store.Meta `bson:",inline"`
	Source     string `json:"source"`  // address of the source, without credentials
	Emptied    bool   `json:"emptied"` // the documents that existed before the copy have been deleted
}

var markerSpec = store.Spec{Name: markerName}

// findMarker returns the marker of a database; nil if the database has no marker.
func findMarker(ctx context.Context, db store.DB) (*marker, error) {
	names, err := db.Names(ctx)
	if err != nil || !slices.Contains(names, markerName) {
		return nil, err
	}
	markers, err := store.Open[marker](db, markerSpec).List(ctx, store.Query{Limit: 1})
	if err != nil || len(markers) == 0 { // the copy may have finished since Names
		return nil, err
	}
	return &markers[0], nil
}

// CheckFinished fails if the database is the target of an unfinished copy.
func CheckFinished(ctx context.Context, db store.DB) error {
	m, err := findMarker(ctx, db)
	if err != nil || m == nil {
		return err
	}
	return fmt.Errorf("the database is an unfinished copy of %s, begun at %s; run the same copy command again to finish it",
		m.Source, m.CreatedAt)
}

func createMarker(ctx context.Context, db store.DB, source string) (*marker, error) {
	m := &marker{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), Source: source}
	return m, db.Open(markerSpec).Load(ctx, []store.Document{m})
}

func updateMarker(ctx context.Context, db store.DB, changes ...store.Change) error {
	_, err := store.Open[marker](db, markerSpec).Update(ctx, nil, changes...)
	return err
}
