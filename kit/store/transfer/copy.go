// Package transfer copies whole databases, between any two engines.
package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/progress"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
)

// page is how many documents are read and written at once. A few pages are in memory at a time.
const page = 500

// Recorder is a store.DB that knows only what was opened on it.
type Recorder struct {
	store.DB
	Specs []store.Spec
}

// Open implements store.DB. Nothing can be done with the engine.
func (r *Recorder) Open(spec store.Spec) store.Engine {
	r.Specs = append(r.Specs, spec)
	return nil
}

// Options say what Copy is to do.
type Options struct {
	From, To string       // addresses
	Specs    []store.Spec // of all collections
	Skip     []string     // collections of the source that are left behind
	Replace  bool         // documents in the target are deleted first; without it they are an error
	Progress io.Writer
	Report   io.Writer // gets a table of what was copied
}

// Copy copies all collections and makes their indexes, then reads both databases again and compares them. What stopped
// it, be it the end of the process, leaves the target marked as unfinished; called again with the same addresses, it
// goes on after the last document that the target has.
func Copy(ctx context.Context, o Options) (err error) {
	if engines.Same(o.From, o.To) {
		return errSame
	}
	source, err := open(ctx, engines.OpenExisting, o.From)
	if err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	c := copying{Options: o, source: source}
	if err := c.check(ctx); err != nil {
		return fmt.Errorf("the source, %s, %w", engines.Shown(o.From), err)
	}
	target, err := open(ctx, engines.Open, o.To)
	if err != nil {
		return fmt.Errorf("the target: %w", err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	c.target = target
	if err := c.begin(ctx); err != nil {
		return err
	}
	if err := c.load(ctx); err != nil {
		return err
	}
	if err := c.finish(ctx); err != nil {
		return err
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
		return nil, errors.Join(fmt.Errorf("%s: %w", engines.Shown(address), err), db.Close())
	}
	return db, nil
}

// copying is a Copy under way.
type copying struct {
	Options
	source, target     store.DB
	inSource, inTarget map[string]sum // by collection; of those that have documents
}

// sum is the number of a collection's documents and the SHA-256 of their JSON, a line each in the order of the ids.
type sum struct {
	documents int64
	hash      string
}

// check refuses a source of which something would be left behind.
func (c *copying) check(ctx context.Context) error {
	if _, err := find(ctx, c.source); err == nil {
		return errors.New("is itself an unfinished copy; finish that one first")
	} else if !apperr.Is(err, apperr.NotFound) {
		return err
	}
	names, err := c.source.Names(ctx)
	if err != nil {
		return err
	}
	for _, name := range c.Skip {
		if !slices.Contains(names, name) {
			return fmt.Errorf("has no collection %q to skip", name)
		}
	}
	c.Specs = slices.DeleteFunc(slices.Clone(c.Specs), func(s store.Spec) bool { return slices.Contains(c.Skip, s.Name) })
	slices.SortFunc(c.Specs, func(a, b store.Spec) int { return strings.Compare(a.Name, b.Name) })
	var unknown []string
	for _, name := range names {
		if !slices.ContainsFunc(c.Specs, func(s store.Spec) bool { return s.Name == name }) && !slices.Contains(c.Skip, name) {
			unknown = append(unknown, name)
		}
	}
	switch {
	case len(names) == 0:
		return errors.New("has no collections; is its address right?")
	case unknown != nil:
		return fmt.Errorf("has collections that no module declares: %s; leave them behind with --skip %s, "+
			"or copy with a service that knows them", strings.Join(unknown, ", "), strings.Join(unknown, " --skip "))
	}
	return nil
}

// begin marks the target as unfinished and deletes what must not be there. It leaves what an earlier copy from the same
// source has brought.
func (c *copying) begin(ctx context.Context) error {
	from := engines.Shown(c.From)
	filled, err := c.filled(ctx)
	if err != nil {
		return err
	}
	m, err := find(ctx, c.target)
	marked := err == nil
	switch {
	case err != nil && !apperr.Is(err, apperr.NotFound):
		return err
	case marked && m.Source == from && m.Emptied:
		return nil
	case marked && m.Source != from && !c.Replace:
		return fmt.Errorf("the target, %s, is an unfinished copy of %s; finish that one, or delete what it has with --replace",
			engines.Shown(c.To), m.Source)
	case !marked && filled != nil && !c.Replace:
		return fmt.Errorf("the target, %s, is not empty: it has documents in %s; name another, or delete them with --replace",
			engines.Shown(c.To), strings.Join(filled, ", "))
	case marked:
		err = change(ctx, c.target, store.Set("source", from), store.Set("emptied", false))
	default:
		m, err = mark(ctx, c.target, from)
	}
	if err != nil {
		return err
	}
	if found, err := find(ctx, c.source); err == nil && found.ID == m.ID {
		return errors.Join(errSame, c.target.Drop(ctx, markerName))
	} else if !apperr.Is(err, apperr.NotFound) {
		return err
	}
	for _, name := range filled {
		if err := c.target.Drop(ctx, name); err != nil {
			return err
		}
	}
	return change(ctx, c.target, store.Set("emptied", true))
}

// filled are the declared collections of the target that have documents.
func (c *copying) filled(ctx context.Context) (filled []string, err error) {
	err = each(ctx, c.target, c.Specs, func(spec store.Spec) error {
		last, err := greatest(ctx, c.target, idAlone, spec)
		if last != nil {
			filled = append(filled, spec.Name)
		}
		return err
	})
	return filled, err
}

// idAlone reads nothing else of a document.
var idAlone = store.Query{Fields: []string{"id"}}

// greatest is the greatest id of a collection, as After takes it; nil if it has none.
func greatest(ctx context.Context, db store.DB, q store.Query, spec store.Spec) ([]any, error) {
	var last store.Document
	q.Sort, q.Limit = []store.Order{{Field: "id", Desc: true}}, 1
	err := db.Open(spec).List(ctx, q, func() any {
		last = spec.NewDocument()
		return last
	})
	if err != nil || last == nil {
		return nil, err
	}
	return []any{store.IDOf(last)}, nil
}

// pages reads what q selects of a collection page by page, in the order of the ids.
func pages(ctx context.Context, db store.DB, spec store.Spec, q store.Query, each func([]any) error) error {
	engine := db.Open(spec)
	q.Limit = page
	for {
		docs := make([]any, 0, page)
		err := engine.List(ctx, q, func() any {
			docs = append(docs, spec.NewDocument())
			return docs[len(docs)-1]
		})
		if err != nil || len(docs) == 0 {
			return err
		}
		if err := each(docs); err != nil || len(docs) < page {
			return err
		}
		q.After = []any{store.IDOf(docs[page-1].(store.Document))}
	}
}

// load brings the documents that the target lacks.
func (c *copying) load(ctx context.Context) error {
	total, err := count(ctx, c.source, c.Specs)
	if err != nil {
		return err
	}
	before, err := count(ctx, c.target, c.Specs)
	if err != nil {
		return err
	}
	bar := progress.Start(c.Progress, "copying", "documents", total-before)
	defer bar.Stop()
	return each(ctx, c.source, c.Specs, func(spec store.Spec) error {
		// Documents whose key is no id sort before and behind the ids, where reading on would not come by.
		if _, err := greatest(ctx, c.source, store.Query{Lossless: true}, spec); err != nil {
			return fmt.Errorf("the source: %w", err)
		}
		var after []any
		err := each(ctx, c.target, []store.Spec{spec}, func(store.Spec) (err error) {
			after, err = greatest(ctx, c.target, idAlone, spec)
			return err
		})
		if err != nil {
			return fmt.Errorf("the target: %w", err)
		}
		return c.loadCollection(ctx, spec, after, bar)
	})
}

// each does something for each of the collections that is there.
func each(ctx context.Context, db store.DB, specs []store.Spec, do func(store.Spec) error) error {
	names, err := db.Names(ctx)
	if err != nil {
		return err
	}
	for _, spec := range specs {
		if slices.Contains(names, spec.Name) {
			if err := do(spec); err != nil {
				return err
			}
		}
	}
	return nil
}

func count(ctx context.Context, db store.DB, specs []store.Spec) (total int64, err error) {
	err = each(ctx, db, specs, func(spec store.Spec) error {
		n, err := db.Open(spec).Count(ctx, nil)
		total += n
		return err
	})
	return total, err
}

// loadCollection reads a page while the one before is written.
func (c *copying) loadCollection(ctx context.Context, spec store.Spec, after []any, bar *progress.Bar) error {
	group, ctx := errgroup.WithContext(ctx)
	read := make(chan []any, 1)
	group.Go(func() error {
		defer close(read)
		err := pages(ctx, c.source, spec, store.Query{After: after, Lossless: true}, func(docs []any) error {
			select {
			case read <- docs:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if err != nil {
			return fmt.Errorf("the source: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		engine := c.target.Open(spec)
		for docs := range read {
			ids := make([]store.ID, len(docs))
			for i, doc := range docs {
				ids[i] = store.IDOf(doc.(store.Document))
			}
			if err := engine.Load(ctx, ids, docs); err != nil {
				return fmt.Errorf("the target: %s: %w", spec.Name, err)
			}
			bar.Add(int64(len(docs)))
		}
		return nil
	})
	return group.Wait()
}

// finish compares both databases, makes the indexes, and takes the marker away.
func (c *copying) finish(ctx context.Context) error {
	total, err := count(ctx, c.source, c.Specs)
	if err != nil {
		return err
	}
	bar := progress.Start(c.Progress, "comparing", "documents", 2*total)
	group, limited := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		c.inSource, err = c.read(limited, c.source, bar)
		return err
	})
	group.Go(func() (err error) {
		c.inTarget, err = c.read(limited, c.target, bar)
		return err
	})
	err = group.Wait()
	bar.Stop()
	if err != nil {
		return err
	}
	if err := c.judge(ctx); err != nil {
		return err
	}
	for _, spec := range c.Specs {
		c.target.Open(spec)
	}
	bar = progress.Start(c.Progress, "creating indexes", "", -1)
	defer bar.Stop()
	if err := c.target.Prepare(ctx); err != nil {
		return fmt.Errorf("the target's indexes: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.target.Drop(context.WithoutCancel(ctx), markerName) // and who stops it now learns that it has ended
}

// read reads all collections again.
func (c *copying) read(ctx context.Context, db store.DB, bar *progress.Bar) (map[string]sum, error) {
	sums := make(map[string]sum)
	err := each(ctx, db, c.Specs, func(spec store.Spec) error {
		hash, n := sha256.New(), int64(0)
		encoder := json.NewEncoder(hash)
		err := pages(ctx, db, spec, store.Query{}, func(docs []any) error {
			for _, doc := range docs {
				if err := encoder.Encode(doc); err != nil {
					return err
				}
			}
			n += int64(len(docs))
			bar.Add(int64(len(docs)))
			return nil
		})
		if n > 0 {
			sums[spec.Name] = sum{n, hex.EncodeToString(hash.Sum(nil))}
		}
		return err
	})
	return sums, err
}

// judge has the next copy begin anew if the databases differ.
func (c *copying) judge(ctx context.Context) error {
	var differ []string
	for _, spec := range c.Specs {
		if source, target := c.inSource[spec.Name], c.inTarget[spec.Name]; source != target {
			differ = append(differ, fmt.Sprintf("%s (%s documents in the source, %s in the target)",
				spec.Name, humanize.Comma(source.documents), humanize.Comma(target.documents)))
		}
	}
	if differ == nil {
		return nil
	}
	err := fmt.Errorf("the copy differs from the source in %s; most likely the source was written to meanwhile: "+
		"stop the services that use it and run the same command again, which begins anew", strings.Join(differ, ", "))
	return errors.Join(err, change(ctx, c.target, store.Set("emptied", false)))
}

// report writes a table of what is the same on both sides.
func (c *copying) report() error {
	table := tabwriter.NewWriter(c.Report, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "collection\tdocuments\tSHA-256, the same on both sides")
	for _, spec := range c.Specs {
		s := c.inSource[spec.Name]
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", spec.Name, humanize.Comma(s.documents), cmp.Or(s.hash, "-"))
	}
	return table.Flush()
}
