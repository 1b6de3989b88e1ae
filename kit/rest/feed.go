package rest

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"net/http"
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
	// Verify verifies the credential of the request again, and returns the current caller.
	Verify func(context.Context) (access.Principal, error)
	// Written is called with each change that was written to the client.
	Written func(FeedEvent)
}

// SetStream makes ServeFeed respond to the request with a stream.
func SetStream(g *gin.Context, s *Stream) { requestOf(g).stream = s }

// Events returns the number of events that were written so far, if the response is a stream.
func Events(g *gin.Context) (n int, isStream bool) {
	return requestOf(g).events, requestOf(g).stream != nil
}

// eventStream is the media type of Server-Sent Events.
const eventStream = "text/event-stream"

// AcceptsStream reports whether the header Accept has text/event-stream.
func AcceptsStream(g *gin.Context) bool {
	for item := range strings.SplitSeq(headerValue(g, "Accept"), ",") {
		if mediaType, _, err := mime.ParseMediaType(item); err == nil && mediaType == eventStream {
			return true
		}
	}
	return false
}

// LastEventID returns the header Last-Event-ID, with which a client resumes a stream, or "" if the header is missing.
func LastEventID(g *gin.Context) string { return strings.TrimSpace(g.GetHeader("Last-Event-ID")) }

// ServeFeed responds with a page of a feed. On a route with kit.Middleware.Streams, it responds with a stream of Server-Sent
// Events if the request accepts a stream.
func ServeFeed(g *gin.Context, f Feed) error {
	s := requestOf(g).stream
	ctx := g.Request.Context()
	page, err := f.Next(ctx, Caller(g))
	if err != nil {
		return err
	}
	if s == nil {
		return OK(g, page)
	}
	header := g.Writer.Header()
	header.Set("Content-Type", eventStream)
	header.Set("Cache-Control", "no-store, no-transform") // a proxy that compresses may delay events
	header.Set("X-Accel-Buffering", "no")                 // nginx must not buffer the events
	g.Writer.WriteHeader(http.StatusOK)
	w := &eventWriter{g: g, last: page.Next}
	w.loop(s, f, page)
	return nil
}

// eventWriter buffers events, and writes them to the client.
type eventWriter struct {
	g    *gin.Context
	buf  bytes.Buffer
	last string // the position of the feed
	err  error  // the first error, for example because the client has disconnected
}

// moveInterval is the interval at which a stream without events moves the position of the client, so that the position does not
// expire.
const moveInterval = time.Minute

// retryAfterStop is the event stream field that makes clients reconnect after one second, to another instance.
const retryAfterStop = "retry: 1000\n\n"

// loop writes page, and then the following pages of the feed until the stream ends.
func (w *eventWriter) loop(s *Stream, f Feed, page FeedPage) {
	ctx := s.Context
	caller, checked, written, read := Caller(w.g), time.Now(), time.Now(), time.Now()
	var err error
	for {
		if w.page(page) || time.Since(written) >= s.Heartbeat {
			w.flush()
			written = time.Now()
		}
		if w.err != nil {
			return
		}
		for _, e := range page.Rows {
			s.Written(e)
		}
		more := page.More
		if !more {
			timeout := min(time.Until(checked.Add(s.VerifyInterval)), time.Until(written.Add(s.Heartbeat)))
			waitCtx, stop := context.WithTimeout(ctx, timeout)
			more = f.Wait(waitCtx) == nil
			stop()
		}
		if time.Since(checked) >= s.VerifyInterval {
			caller, err = s.Verify(ctx)
			if err == nil {
				err = f.Check(ctx, caller)
			}
			checked = time.Now()
		}
		page = FeedPage{Next: w.last}
		if err == nil && (more || time.Since(read) >= moveInterval) {
			page, err = f.Next(ctx, caller)
			read = time.Now()
		}
		if ctx.Err() != nil {
			w.buf.WriteString(retryAfterStop)
			w.flush()
			return
		}
		if err != nil {
			w.end(err)
			return
		}
	}
}

// page adds the events of a page to the buffer, and reports whether the buffer has events.
func (w *eventWriter) page(page FeedPage) bool {
	w.last = page.Next
	position := map[string]string{"id": page.Next}
	switch {
	case page.Ready:
		w.event(FeedEvent{ID: page.Next, Event: "ready", Data: position})
	case page.Resync:
		w.event(FeedEvent{ID: page.Next, Event: "resync", Data: position})
	}
	for _, e := range page.Rows {
		w.event(e)
	}
	return w.buf.Len() > 0
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
	requestOf(w.g).events++
}

// flush writes the buffer to the client. If the buffer is empty, flush writes a heartbeat, which moves the position of the
// client.
func (w *eventWriter) flush() {
	if w.buf.Len() == 0 {
		w.buf.WriteString(": heartbeat\nid: " + w.last + "\n\n")
	}
	if _, err := w.g.Writer.Write(w.buf.Bytes()); err != nil && w.err == nil {
		w.err = err
	}
	if w.buf.Cap() > maxPooledBuffer {
		w.buf = bytes.Buffer{}
	}
	w.buf.Reset()
	w.g.Writer.Flush()
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
