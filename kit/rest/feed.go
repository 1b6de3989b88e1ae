package rest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Feed reads the changes of a resource after a position.
type Feed interface {
	// Next returns a page of changes after the position, and moves the position. It omits changes that the caller may not see.
	Next(ctx context.Context, caller access.Principal) (FeedPage, error)
	// Back moves the position back to where it was before the last call of Next.
	Back()
	// Wait waits until there may be changes after the position. It fails if ctx ends first.
	Wait(ctx context.Context) error
	// Check fails, as Next does, if the caller may no longer read the feed. It does not read changes.
	Check(ctx context.Context, caller access.Principal) error
}

// FeedPage is a page of changes.
type FeedPage struct {
	Rows   []FeedEvent `json:"rows"`
	Next   string      `json:"next"`                                                      // the position after the rows: the value of the after parameter of the next request
	Resync bool        `json:"resync,omitempty" extensions:"x-omitempty" example:"false"` // true if the changes after the position are unknown; list the records again, and continue from next

	Ready bool `json:"-"` // the request had no position: the feed begins now
	More  bool `json:"-"` // there may already be more changes
} //	@name	ChangesPage

// FeedEvent is the change of a record.
type FeedEvent struct {
	ID    string `json:"id"`                                    // the position of the change; a value for the after parameter
	Event string `json:"event" enums:"created,updated,deleted"` //
	Data  any    `json:"data" swaggertype:"object"`             // the newest version of the record; only the id if the record was deleted

	At time.Time `json:"-"` // when the change was made
} //	@name	ChangeEvent

// Stream configures the stream that ServeFeed sends. The middleware Streams.Middleware sets the Stream of a request.
type Stream struct {
	Context        context.Context // ends when the client disconnects, or the server stops
	Heartbeat      time.Duration
	VerifyInterval time.Duration // interval between calls to Verify
	// Verify fails if the access of the caller has changed since the start of the stream.
	Verify func(context.Context) error
	// Begin is called before a page that can be large is read, and end after the page was written. It waits while too many
	// streams are between the two, and fails if ctx ends first.
	Begin func(ctx context.Context) (end func(), err error)
	// Pace reads such a page as Exports.Pace does.
	Pace func(ctx context.Context, read func() error) error
	// Written is called with the time of each change that was written to the client.
	Written func(time.Time)
}

// SetStream makes ServeFeed respond to the request with a stream.
func SetStream(g *gin.Context, s *Stream) { requestOf(g).stream = s }

// Events returns the number of events that were written so far, if the response is a stream.
func Events(g *gin.Context) (n int, isStream bool) {
	return requestOf(g).events, requestOf(g).stream != nil
}

// eventStream is the media type of Server-Sent Events.
const eventStream = "text/event-stream"

// AcceptsStream reports whether the header Accept has text/event-stream, and does not prefer JSON (RFC 9110 section 12.5.1).
func AcceptsStream(g *gin.Context) bool {
	header := headerValue(g, "Accept")
	stream := quality(header, eventStream)
	return stream > 0 && stream >= quality(header, typeJSON, "application/*", "*/*")
}

// quality returns the weight that an Accept header gives to the first of the media ranges that it has; 0 if it has none of them,
// or the weight is not valid.
func quality(header string, ranges ...string) float64 {
	for _, want := range ranges {
		for item := range strings.SplitSeq(header, ",") {
			mediaType, params, err := mime.ParseMediaType(item)
			if err != nil || mediaType != want {
				continue
			}
			q, err := strconv.ParseFloat(cmp.Or(params["q"], "1"), 64)
			if err != nil {
				return 0
			}
			return q
		}
	}
	return 0
}

// LastEventID returns the header Last-Event-ID, with which a client resumes a stream, or "" if the header is missing.
func LastEventID(g *gin.Context) string { return strings.TrimSpace(g.GetHeader("Last-Event-ID")) }

// ServeFeed responds with a page of a feed. On a route with route.Stream, it responds with a stream of Server-Sent
// Events if the request accepts a stream.
func ServeFeed(g *gin.Context, f Feed) error {
	s, ctx := requestOf(g).stream, g.Request.Context()
	if s == nil {
		page, err := f.Next(ctx, Caller(g))
		if err != nil {
			return err
		}
		return OK(g, page)
	}
	if err := f.Check(ctx, Caller(g)); err != nil {
		return err
	}
	header := g.Writer.Header()
	header.Set("Content-Type", eventStream)
	header.Set("Cache-Control", "no-store, no-transform") // a proxy that compresses may delay events
	header.Set("X-Accel-Buffering", "no")                 // nginx must not buffer the events
	g.Writer.WriteHeader(http.StatusOK)
	g.Writer.Flush()
	w := &eventWriter{g: g, s: s, f: f, behind: true}
	w.loop()
	return nil
}

// eventWriter buffers events, and writes them to the client.
type eventWriter struct {
	g      *gin.Context
	s      *Stream
	f      Feed
	buf    bytes.Buffer
	events int         // number of events in buf
	times  []time.Time // of the changes in buf
	last   string      // the position of the feed; "" before the first page
	behind bool        // the next page can be large: there may already be many changes, or the changes are large
	err    error       // the first error, for example because the client has disconnected
}

// moveInterval is the interval at which a stream without events moves the position of the client, so that the position does not
// expire.
const moveInterval = time.Minute

// retryAfterStop is the event stream field that makes clients reconnect after one second, to another instance.
const retryAfterStop = "retry: 1000\n\n"

// maxLivePage is the number of bytes up to which a page is written without Stream.Begin. All streams can have such a page in memory
// at the same time, because their clients do not read.
const maxLivePage = 16 << 10

// loop writes the pages of the feed until the stream ends.
func (w *eventWriter) loop() {
	s, ctx := w.s, w.s.Context
	checked, written, read := time.Now(), time.Now(), time.Now()
	for {
		end, more := w.wait(min(time.Until(checked.Add(s.VerifyInterval)), time.Until(written.Add(s.Heartbeat))))
		var err error
		if time.Since(checked) >= s.VerifyInterval {
			if err = s.Verify(ctx); err == nil {
				err = w.f.Check(ctx, Caller(w.g))
			}
			checked = time.Now()
		}
		if err == nil && (more || !w.behind && time.Since(read) >= moveInterval) {
			err = w.read()
			read = time.Now()
		}
		stopped := ctx.Err() != nil
		switch {
		case stopped:
			w.buf.WriteString(retryAfterStop)
			w.flush()
		case err != nil:
			w.end(err)
		case w.buf.Len() > 0 || time.Since(written) >= s.Heartbeat:
			w.flush()
			written = time.Now()
		}
		end()
		if stopped || err != nil || w.err != nil {
			return
		}
	}
}

// wait waits for at most the timeout until the next page can be read. end must be called after the page was written.
func (w *eventWriter) wait(timeout time.Duration) (end func(), more bool) {
	ctx, stop := context.WithTimeout(w.s.Context, timeout)
	defer stop()
	if !w.behind {
		return func() {}, w.f.Wait(ctx) == nil
	}
	end, err := w.s.Begin(ctx)
	if err != nil {
		return func() {}, false
	}
	return end, true
}

// read adds the events of the next page to the buffer. If the stream is not behind, and the page is too large to be written without
// Stream.Begin, read discards the page, and the stream is behind.
func (w *eventWriter) read() error {
	next := func() error {
		page, err := w.f.Next(w.s.Context, Caller(w.g))
		if err != nil {
			return err
		}
		w.page(page)
		if !w.behind && w.buf.Len() > maxLivePage {
			w.f.Back()
			w.reset()
			w.behind = true
			return nil
		}
		w.last, w.behind = page.Next, page.More
		return nil
	}
	if w.behind {
		return w.s.Pace(w.s.Context, next)
	}
	return next()
}

// page adds the events of a page to the buffer.
func (w *eventWriter) page(page FeedPage) {
	position := map[string]string{"id": page.Next}
	switch {
	case page.Ready:
		w.event(FeedEvent{ID: page.Next, Event: "ready", Data: position})
	case page.Resync:
		w.event(FeedEvent{ID: page.Next, Event: "resync", Data: position})
	}
	for _, e := range page.Rows {
		w.event(e)
		w.times = append(w.times, e.At)
	}
}

func (w *eventWriter) event(e FeedEvent) {
	if e.ID != "" {
		w.buf.WriteString("id: " + e.ID + "\n")
	}
	w.buf.WriteString("event: " + e.Event + "\ndata: ")
	if err := store.EncodeJSON(&w.buf, e.Data); err != nil && w.err == nil {
		w.err = err
	}
	w.buf.WriteString("\n\n")
	w.events++
}

// flush writes the buffer to the client. If the buffer is empty, flush writes a heartbeat, which moves the position of the
// client.
func (w *eventWriter) flush() {
	if w.buf.Len() == 0 {
		w.buf.WriteString(": heartbeat\n")
		if w.last != "" {
			w.buf.WriteString("id: " + w.last + "\n")
		}
		w.buf.WriteString("\n")
	}
	if _, err := w.g.Writer.Write(w.buf.Bytes()); err != nil && w.err == nil {
		w.err = err
	}
	w.g.Writer.Flush()
	requestOf(w.g).events += w.events
	if w.err == nil {
		for _, at := range w.times {
			w.s.Written(at)
		}
	}
	w.reset()
}

// reset empties the buffer.
func (w *eventWriter) reset() {
	if w.buf.Cap() > maxLivePage {
		w.buf = bytes.Buffer{}
	}
	w.buf.Reset()
	w.events, w.times = 0, w.times[:0]
}

// end sends the event "end" with the code of err, the error that ends the stream.
func (w *eventWriter) end(err error) {
	var failed *apperr.Error
	code := apperr.Internal
	if errors.As(err, &failed) {
		code = failed.Code
	}
	if code == apperr.Internal {
		_ = w.g.Error(err)
	}
	w.event(FeedEvent{Event: "end", Data: map[string]apperr.Code{"code": code}})
	w.flush()
}
