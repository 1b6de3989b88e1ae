package rest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
)

// feed is a Feed whose pages have one change, of the sizes. It records the calls.
type feed struct {
	sizes []int
	at    int
	calls []string
}

func (f *feed) Next(context.Context, access.Principal) (FeedPage, error) {
	f.calls = append(f.calls, "next")
	if f.at == len(f.sizes) {
		return FeedPage{Next: "position"}, nil
	}
	f.at++
	return FeedPage{Next: "position", Rows: []FeedEvent{{ID: "position", Event: "created", Data: strings.Repeat("x", f.sizes[f.at-1])}}}, nil
}

func (f *feed) Back() {
	f.at--
	f.calls = append(f.calls, "back")
}

func (f *feed) Check(context.Context, access.Principal) error { return nil }

func (f *feed) Wait(ctx context.Context) error {
	f.calls = append(f.calls, "wait")
	if f.at < len(f.sizes) {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

// open returns the response to a request for a stream of the feed. The stream ends with the test.
func open(t *testing.T, f Feed, s *Stream) *http.Response {
	t.Helper()
	engine := gin.New()
	engine.GET("/", func(g *gin.Context) {
		if s.Context == nil {
			s.Context = g.Request.Context()
		}
		SetStream(g, s)
		if err := ServeFeed(g, f); err != nil {
			Fail(g, err)
		}
	})
	server := httptest.NewServer(engine)
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// TestStreamBegins checks that the response begins immediately, even if the stream waits before it reads changes.
func TestStreamBegins(t *testing.T) {
	t.Parallel()
	response := open(t, new(feed), &Stream{Heartbeat: time.Hour, VerifyInterval: time.Hour, Begin: func(ctx context.Context) (func(), error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != eventStream {
		t.Errorf("status %d, %v", response.StatusCode, response.Header)
	}
}

// TestStreamBehind checks that a stream reads the first page, and a large page of new changes, between Begin and end.
func TestStreamBehind(t *testing.T) {
	t.Parallel()
	f := &feed{sizes: []int{1, 1, maxLivePage + 1, 1}}
	read := make(chan string, 1)
	s := &Stream{
		Heartbeat: time.Hour, VerifyInterval: time.Hour,
		Begin: func(context.Context) (func(), error) {
			f.calls = append(f.calls, "begin")
			return func() { f.calls = append(f.calls, "end") }, nil
		},
		Pace: func(_ context.Context, read func() error) error {
			f.calls = append(f.calls, "pace")
			return read()
		},
		Written: func(time.Time) {
			if f.calls = append(f.calls, "written"); f.at == len(f.sizes) {
				read <- strings.Join(f.calls, " ")
			}
		},
	}
	open(t, f, s)
	want := "begin pace next written end wait next written wait next back begin pace next written end wait next written"
	if got := <-read; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestStreamStops stops a stream while an event is written: the client is told to reconnect to another instance soon.
func TestStreamStops(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s := &Stream{
		Context: ctx, Heartbeat: time.Hour, VerifyInterval: time.Hour,
		Begin:   func(context.Context) (func(), error) { return func() {}, nil },
		Pace:    func(_ context.Context, read func() error) error { return read() },
		Written: func(time.Time) { stop() },
	}
	body, err := io.ReadAll(open(t, &feed{sizes: []int{1}}, s).Body)
	if err != nil || !strings.HasSuffix(string(body), "\n\n"+retryAfterStop) {
		t.Errorf("%v: the stream ends with %q", err, body)
	}
}

func TestAcceptsStream(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "text/*": false, "application/json": false, "text/event-stream": true, "Text/Event-Stream; charset=utf-8": true,
		"application/json, text/event-stream": true, "text/event-stream, */*;q=0.1": true, "text/event-stream;q=0.5, text/html": true,
		"text/event-stream;q=0": false, "text/event-stream; q=0.000": false, "text/event-stream;q=0.5, application/json": false,
		"text/event-stream;q=0.5, application/*;q=0.6": false, "text/event-stream;q=0.5, */*": false,
		"*/*, application/json;q=0.1, text/event-stream;q=0.5": true, "text/event-stream;q=x": false,
	} {
		g, _ := gin.CreateTestContext(httptest.NewRecorder())
		g.Request = httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		g.Request.Header.Set("Accept", accept)
		if got := AcceptsStream(g); got != want {
			t.Errorf("%q: %t", accept, got)
		}
	}
}
