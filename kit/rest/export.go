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

// Export reads a list page by page. The first page has already been read.
type Export struct {
	Format  exchange.Format
	BOM     bool   // the export begins with exchange.ByteOrderMark
	Name    string // name of the list
	Columns []exchange.Column
	Whole   bool // see exchange.NewWriter
	// Write writes the rows of the current page, and returns their number.
	Write func(*exchange.Writer) (rows int, err error)
	// Next reads the next page, if there is one.
	Next func(context.Context) (more bool, err error)
}

// Exports configures the export that a request makes. The middleware Exports sets the Exports of a request.
type Exports struct {
	Context context.Context // ends when the client disconnects, or the server stops
	// Begin is called before the export, and end after the export. It fails with the errors of SkipBody, or Unavailable: too
	// many exports are in progress. nil: there is no limit.
	Begin          func() (end func(), err error)
	VerifyInterval time.Duration // interval between calls to Verify
	// Verify fails if the access of the caller has changed since the start of the export. nil: no verification.
	Verify func(context.Context) error
	Head   bool // the request is a HEAD: the response has no body

	// Pace waits until the export may read a page, and then calls read. Pace can pause after read. nil: read is called
	// immediately.
	Pace func(ctx context.Context, read func() error) error

	Rows func(n int) // called after n rows are written; can be nil
}

// SetExports sets the Exports of the request.
func SetExports(g *gin.Context, e *Exports) { requestOf(g).exports = e }

// exportTimeout is the time limit for reading one page.
const exportTimeout = 30 * time.Second

// serve responds with all rows. An error after the start of the response aborts the connection, so that the client does not
// mistake a part for the whole export. Unavailable: too many exports are in progress.
func (e *Export) serve(g *gin.Context) error {
	exports := requestOf(g).exports
	if exports == nil {
		exports = &Exports{Context: g.Request.Context()}
	}
	if exports.Begin != nil {
		end, err := exports.Begin()
		if err != nil {
			return err
		}
		defer end()
	}
	header := g.Writer.Header()
	header.Set("Content-Type", e.Format.ContentType())
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": e.Name + "." + string(e.Format)}))
	g.Writer.WriteHeader(http.StatusOK)
	if exports.Head {
		return nil
	}
	if err := e.stream(g, exports); err != nil {
		_ = g.Error(err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// errWrite is the error if the client has disconnected or reads too slowly.
var errWrite = errors.Join(errors.New("the client does not read the export"), context.Canceled)

// stream writes all pages. While it waits for the client, it keeps at most one page in memory, and no open snapshot of the
// database.
func (e *Export) stream(g *gin.Context, exports *Exports) error {
	var buf bytes.Buffer
	if e.BOM {
		buf.WriteString(exchange.ByteOrderMark)
	}
	w := exchange.NewWriter(&buf, e.Format, e.Columns, e.Whole)
	if err := w.Begin(); err != nil {
		return err
	}
	checked := time.Now()
	rows, err := e.Write(w)
	for more := true; err == nil; {
		if _, err := g.Writer.Write(buf.Bytes()); err != nil {
			return errWrite
		}
		g.Writer.Flush()
		if exports.Rows != nil {
			exports.Rows(rows)
		}
		if buf.Reset(); buf.Cap() > 4*LargeResponse {
			buf = bytes.Buffer{}
		}
		if exports.Verify != nil && time.Since(checked) >= exports.VerifyInterval {
			if err := exports.Verify(exports.Context); err != nil {
				return err
			}
			checked = time.Now()
		}
		err = exports.pace(func() (err error) {
			if more, err = e.next(exports.Context); err == nil && more {
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
