package records

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/errgroup"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/exchange"
	"example.com/ginseng/kit/store"
)

// contextReader reads a file until ctx ends.
type contextReader struct {
	ctx context.Context
	in  io.Reader
}

// Read implements io.Reader.
func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}

// eachPage calls do with each page of the file. It reads one page ahead.
func (im *importer) eachPage(ctx context.Context, reader *exchange.Reader, do func([]*record) error) error {
	group, ctx := errgroup.WithContext(ctx)
	pages := make(chan []*record)
	group.Go(func() error {
		defer close(pages)
		for {
			page, err := im.readPage(reader)
			if len(page) > 0 {
				select {
				case pages <- page:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("the file: %w", err)
			}
		}
	})
	group.Go(func() error {
		for page := range pages {
			if err := do(page); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	return group.Wait()
}

func (im *importer) readPage(reader *exchange.Reader) (page []*record, err error) {
	for size := 0; len(page) < pageRecords && size < pageBytes; {
		read, err := reader.Next()
		if err != nil {
			return page, err
		}
		r := &record{Record: read}
		r.parse(im.Resource)
		page = append(page, r)
		size += len(read.JSON)
	}
	return page, nil
}

// record is a record of the file, and the state of its import.
type record struct {
	exchange.Record
	err     error // why the record is not stored
	id      store.ID
	fields  map[string]jsontext.Value
	doc     store.Document // see build
	updated bool
	kept    bool
}

// parse decodes the line, and sets the fields and the ID of the record.
func (r *record) parse(resource string) {
	if r.err = r.Err; r.err != nil {
		return
	}
	// The API rejects duplicate names later.
	if err := jsonv2.Unmarshal(r.JSON, &r.fields, jsontext.AllowDuplicateNames(true)); err != nil || r.fields == nil {
		r.err = errors.New("the line is not a JSON object")
		return
	}
	raw, given := r.fields["id"]
	if !given || string(raw) == "null" {
		sum := sha256.Sum256(append([]byte(resource+"\n"), r.JSON...))
		binary.BigEndian.PutUint32(r.id[:4], uint32(r.Number)) // IDs in the order of the file are faster to store
		copy(r.id[4:], sum[:])
		return
	}
	var text string
	var ok bool
	if json.Unmarshal(raw, &text) == nil {
		r.id, ok = store.ParseID(text)
	}
	if !ok {
		r.err = apperr.Invalid(apperr.Field{In: "body", Param: "id", Code: apperr.Format, Message: "Must be an ID: 24 hexadecimal characters."})
	}
}

// decode decodes the JSON value of a field of a document. As in the API, an integer can be written as 1.0.
func decode(value jsontext.Value, into any) error {
	if n, err := store.ParseInt(string(value)); err == nil {
		value = strconv.AppendInt(nil, n, 10)
	}
	return json.Unmarshal(value, into)
}
