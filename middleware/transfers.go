package middleware

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/semaphore"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/slot"
)

// Transfers limits the uploads and downloads of files in progress on an instance, and ends slow ones.
type Transfers struct {
	files   *files.Files
	callers *slot.Keyed[string] // transfers of each user or, without a user, of each network
	all     *semaphore.Weighted
	window  time.Duration // see pace
	recheck time.Duration // after an upload of this time, the credential is verified again
}

const (
	maxTransfers    = 256 // of an instance
	callerTransfers = 10
	transferRate    = 8 << 10 // bytes per second
	transferWindow  = 30 * time.Second
	storeRate       = 10 << 20 // bytes per second: what a disk writes at least
	transferRecheck = 10 * time.Second
	afterFiles      = 25 * time.Second // how long a form whose files were received waits for other changes of the user
)

// NewTransfers returns Transfers that receive files with f.
func NewTransfers(f *files.Files) *Transfers {
	return &Transfers{
		files: f, callers: slot.NewKeyed[string](callerTransfers, 0), all: semaphore.NewWeighted(maxTransfers), window: transferWindow,
		recheck: transferRecheck,
	}
}

// begin begins the transfer of a request that has one. The files of its body can be received from now on, and received is then
// called. The caller must be set. end must be called after the request, also after an error. A download fails with the errors of
// rest.SkipBody. TooManyRequests: the caller has too many transfers. Unavailable: the instance has.
func (t *Transfers) begin(g *gin.Context, r *route.Route, received func(time.Duration) error) (end func(), err error) {
	if r.Download {
		if err := rest.SkipBody(g); err != nil {
			return func() {}, err
		}
	}
	leave, err := t.acquire(g)
	if err != nil {
		return func() {}, err
	}
	limit, stop := newTransferTime(g)
	conn := http.NewResponseController(g.Writer)
	end = func() {
		rest.DropFiles(g)
		stop()
		_ = conn.SetWriteDeadline(time.Time{}) // for the next response of the connection
		leave()
	}
	speed := newPace(t.window)
	switch body := bodyOf(g); {
	case r.Download:
		t.download(g, conn, limit, speed)
	case body != nil:
		body.pace, body.limit = speed, limit
	}
	begun := time.Now()
	rest.SetAllowFiles(g, rest.AllowFiles{
		Files: t.files, LateQuota: r.Idempotent && g.GetHeader("Idempotency-Key") != "", // a repetition stores nothing
		Done: func() error { return received(time.Since(begun)) },
	})
	return end, nil
}

// acquire counts a transfer.
func (t *Transfers) acquire(g *gin.Context) (release func(), err error) {
	key := ratelimit.Network(g.ClientIP())
	if caller := rest.Caller(g); caller.IsUser() {
		key = caller.UserID.Hex()
	}
	leave, err := t.callers.Acquire(g.Request.Context(), key, 1, -1)
	if err != nil {
		return nil, apperr.New(apperr.TooManyRequests, "You have %d uploads and downloads of files in progress, which is the limit. Try again when one has ended.", callerTransfers)
	}
	if !t.all.TryAcquire(1) {
		leave()
		return nil, apperr.New(apperr.Unavailable, "Too many files are being sent and received. Try again in a few seconds.").AsOverload()
	}
	return func() { t.all.Release(1); leave() }, nil
}

// download paces the response. A HEAD request gets its method back, for rest.ServeFile.
func (t *Transfers) download(g *gin.Context, conn *http.ResponseController, limit *transferTime, speed *pace) {
	if originalMethod(g.Request) == http.MethodHead {
		g.Request = g.Request.WithContext(g.Request.Context()) // a copy
		g.Request.Method = http.MethodHead
		return
	}
	g.Writer = &pacedWriter{ResponseWriter: g.Writer, conn: conn, pace: speed, limit: limit}
}

// transferTime is the time limit of a request with a transfer. While bytes are transferred, there is none.
type transferTime struct {
	timer  *time.Timer // nil: the request has no time limit
	limit  time.Duration
	paused bool
}

// newTransferTime replaces the time limit of Timeout. stop must be called after the request.
func newTransferTime(g *gin.Context) (limit *transferTime, stop func()) {
	untimed, timeout := rest.WithoutTimeLimit(g)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(g.Request.Context()))
	unlink := context.AfterFunc(untimed, func() { cancel(context.Canceled) })
	g.Request = g.Request.WithContext(ctx)
	limit = &transferTime{limit: timeout}
	if timeout > 0 {
		limit.timer = time.AfterFunc(timeout, func() { cancel(context.DeadlineExceeded) })
	}
	return limit, func() {
		limit.pause()
		unlink()
		cancel(nil)
	}
}

// pause ends the time limit until the transfer ends.
func (t *transferTime) pause() {
	if t.timer != nil && !t.paused {
		t.timer.Stop()
		t.paused = true
	}
}

// resume begins a new time limit.
func (t *transferTime) resume(more time.Duration) {
	if t.timer != nil {
		t.timer.Reset(t.limit + more)
		t.paused = false
	}
}

// storeTime returns how long storing the files of the request can take.
func storeTime(g *gin.Context) time.Duration {
	body := bodyOf(g)
	if body == nil || body.pace == nil {
		return 0
	}
	return time.Duration(body.read/storeRate) * time.Second
}

// pace finds transfers that are slower than transferRate in any window.
type pace struct {
	window time.Duration
	// marks has the times of the last units, each of which is a second of the window at the transferRate. marks[next] is the oldest.
	marks [transferWindow / time.Second]time.Time
	next  int
	bytes int64 // since the last mark
}

func newPace(window time.Duration) *pace { return &pace{window: window} }

// deadline returns when the transfer is too slow if no more bytes are transferred. The first call begins the first window.
func (p *pace) deadline() time.Time {
	if p.marks[0].IsZero() {
		for i, now := 0, time.Now(); i < len(p.marks); i++ {
			p.marks[i] = now
		}
	}
	return p.marks[p.next].Add(p.window)
}

// add counts bytes that have been transferred.
func (p *pace) add(n int64) {
	runtime.Gosched() // a fast transfer never waits for the network: without this, other requests wait for many of them
	p.bytes += n
	units := p.bytes / transferRate
	p.bytes %= transferRate
	now := time.Now()
	for range min(units, int64(len(p.marks))) {
		p.marks[p.next] = now
		p.next = (p.next + 1) % len(p.marks)
	}
}

// pacedWriter is the response with a file. It ends if the client reads slowly.
type pacedWriter struct {
	gin.ResponseWriter
	conn  *http.ResponseController
	pace  *pace
	limit *transferTime
}

const (
	pacedChunk = 32 << 10
	sentChunk  = 1 << 20
	progress   = 5 * time.Second // how long a file is sent before the progress is checked
)

// Unwrap is for http.ResponseController.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *pacedWriter) Write(p []byte) (written int, err error) {
	w.limit.pause()
	for len(p) > 0 && err == nil {
		_ = w.conn.SetWriteDeadline(w.pace.deadline()) // fails only without a connection
		var n int
		n, err = w.ResponseWriter.Write(p[:min(len(p), pacedChunk)])
		w.pace.add(int64(n))
		written, p = written+n, p[n:]
	}
	return written, err
}

// WriteString implements io.StringWriter.
func (w *pacedWriter) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

// ReadFrom implements io.ReaderFrom: the operating system sends a file without copying it to the memory of the process.
func (w *pacedWriter) ReadFrom(from io.Reader) (written int64, err error) {
	limited, isLimited := from.(*io.LimitedReader)
	unwrapped, canUnwrap := w.ResponseWriter.(interface{ Unwrap() http.ResponseWriter })
	if isLimited && canUnwrap {
		_, isFile := limited.R.(*os.File)
		if to, ok := unwrapped.Unwrap().(io.ReaderFrom); ok && isFile {
			return w.sendFile(limited, to)
		}
	}
	return io.CopyBuffer(onlyWriter{w}, from, make([]byte, pacedChunk))
}

// onlyWriter hides ReadFrom.
type onlyWriter struct{ io.Writer }

// sendFile sends the rest of a file to the http.ResponseWriter of the server.
func (w *pacedWriter) sendFile(from *io.LimitedReader, to io.ReaderFrom) (written int64, err error) {
	size := from.N
	if _, err = io.CopyN(onlyWriter{w}, from, min(size, 512)); err != nil {
		return size - from.N, err
	}
	w.Flush() // the header, before a write can fail because of its deadline
	for from.N > 0 {
		deadline := w.pace.deadline()
		soon := time.Now().Add(progress)
		if soon.After(deadline) {
			soon = deadline
		}
		_ = w.conn.SetWriteDeadline(soon)
		chunk := io.LimitedReader{R: from.R, N: min(from.N, sentChunk)}
		n, err := to.ReadFrom(&chunk)
		w.pace.add(n)
		unsent := min(from.N, sentChunk) - chunk.N - n // read, but not sent
		from.N -= n
		slow := errors.Is(err, os.ErrDeadlineExceeded) && unsent == 0 && time.Now().Before(w.pace.deadline())
		if err != nil && !slow || err == nil && n == 0 {
			return size - from.N, err
		}
	}
	return size, nil
}
