package rest

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/exchange"
)

// Exporter is implemented by the pages of lists. Export returns nil unless the request exports the list.
type Exporter interface{ Export() *Export }

// Export reads a list page by page. It has the first page.
type Export struct {
	Format  exchange.Format
	Name    string // of the list
	Columns []exchange.Column
	Whole   bool // see exchange.NewWriter
	// Write writes the rows of the page, and returns their number.
	Write func(*exchange.Writer) (rows int, err error)
	// Next reads the next page, if there is one.
	Next func(context.Context) (more bool, err error)
}

// Exports is what middleware.Streams provides for exports.
type Exports struct {
	Context context.Context // ends when the client disconnects, or the server stops
	// Begin fails with Unavailable if too many exports are in progress. nil: there is no limit.
	Begin func() (end func(), err error)
	Check time.Duration // interval of Again
	// Again verifies that the caller is the same as at the beginning. nil: it is not necessary.
	Again func(context.Context) error
	Head  bool // the request is a HEAD: the response has no body

	// Pace calls read, which reads a page, when other exports permit it. nil: immediately.
	Pace func(ctx context.Context, read func() error) error

	Rows func(n int) // is called after n rows are written; can be nil
}

// SetExports limits the exports of the request.
func SetExports(c *gin.Context, e *Exports) { of(c).exports = e }

// exportTimeout is the time limit of reading one page.
const exportTimeout = 30 * time.Second

// serve responds with all rows. An error after the beginning of the response aborts the connection, so that the client does not
// take what it has for the whole. Unavailable: too many exports are in progress.
func (e *Export) serve(c *gin.Context) error {
	limits := of(c).exports
	if limits == nil {
		limits = &Exports{Context: c.Request.Context()}
	}
	if limits.Begin != nil {
		end, err := limits.Begin()
		if err != nil {
			return err
		}
		defer end()
	}
	header := c.Writer.Header()
	header.Set("Content-Type", e.Format.ContentType())
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": e.Name + "." + string(e.Format)}))
	c.Writer.WriteHeader(http.StatusOK)
	if limits.Head {
		return nil
	}
	if err := e.stream(c, limits); err != nil {
		_ = c.Error(err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// errWrite is the error of a client that has disconnected, or reads too slowly.
var errWrite = errors.Join(errors.New("the client does not read the export"), context.Canceled)

// stream writes the pages. It keeps neither a page nor a snapshot of the database while it waits for the client.
func (e *Export) stream(c *gin.Context, limits *Exports) error {
	var buf bytes.Buffer
	w := exchange.NewWriter(&buf, e.Format, e.Columns, e.Whole)
	if err := w.Begin(); err != nil {
		return err
	}
	checked := time.Now()
	rows, err := e.Write(w)
	for more := true; err == nil; {
		if _, err := c.Writer.Write(buf.Bytes()); err != nil {
			return errWrite
		}
		c.Writer.Flush()
		if limits.Rows != nil {
			limits.Rows(rows)
		}
		if buf.Reset(); buf.Cap() > 4*LargeResponse {
			buf = bytes.Buffer{}
		}
		if limits.Again != nil && time.Since(checked) >= limits.Check {
			if err := limits.Again(limits.Context); err != nil {
				return err
			}
			checked = time.Now()
		}
		err = limits.pace(func() (err error) {
			if more, err = e.next(limits.Context); err == nil && more {
				rows, err = e.Write(w)
			}
			return err
		})
		if !more {
			return err
		}
	}
	return err
}

func (l *Exports) pace(read func() error) error {
	if l.Pace == nil {
		return read()
	}
	return l.Pace(l.Context, read)
}

func (e *Export) next(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	return e.Next(ctx)
}
