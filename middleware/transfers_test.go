package middleware

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/semaphore"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// document is a field for files of the routes of serveFiles.
var document = files.Field{Name: "document", MaxBytes: 100 << 20}

const (
	testWindow  = time.Second // instead of transferWindow
	testTimeout = time.Second // of bodies and requests without transfers
)

// serveFiles serves the routes of transferServer on a port.
func serveFiles(t *testing.T, tokens access.TokenVerifier, options ...func(*http.Server)) (url string) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.Config = transferServer(t, tokens, maxTransfers, testWindow)
	for _, option := range options {
		option(s.Config)
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// servePipes serves the routes of transferServer in a bubble of synctest, and returns the client of the server, whose URL is
// http://pipe. all is the number of transfers of the instance.
func servePipes(t *testing.T, all int64) *http.Client {
	t.Helper()
	s, l := transferServer(t, users{}, all, transferWindow), pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return l.dial() }}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = s.Shutdown(context.Background())
	})
	return &http.Client{Transport: transport}
}

// pipes is a net.Listener in memory.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (p pipes) dial() (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.accepted <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Accept implements net.Listener.
func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.accepted:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p pipes) Close() error { close(p.closed); return nil }

// Addr implements net.Listener.
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// transferServer returns a server with routes with transfers. PUT /document/:id receives a file, and responds with its size. GET
// responds with a sparse file of document.MaxBytes bytes. POST /documents responds with the size of the file in the form. POST /notes
// has no files. all is the number of transfers of the instance. If tokens is not users, each credential is verified again after an upload.
func transferServer(t *testing.T, tokens access.TokenVerifier, all int64, window time.Duration) *http.Server {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	sparse := filepath.Join(t.TempDir(), "sparse")
	if err := errors.Join(os.WriteFile(sparse, nil, 0o600), os.Truncate(sparse, document.MaxBytes)); err != nil {
		t.Fatal(err)
	}
	db := testdb.Open(t)
	local, err := files.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := files.New(files.Options{DB: db, Store: local, TempDir: t.TempDir(), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	transfers := NewTransfers(f)
	transfers.window, transfers.all = window, semaphore.NewWeighted(all)
	if tokens != (users{}) {
		transfers.recheck = 0
	}
	a := Authenticator{Tokens: tokens, QueryTokens: true, Writes: NewUserWrites(4<<10, 10*time.Millisecond), Transfers: transfers, Now: time.Now}
	bodies := NewBodyLimits(1<<20, testTimeout)
	table := route.Table{}
	r := table.Router().Resource(listing.Spec{Name: "documents", Files: []files.Field{document}})
	form := func(g *gin.Context) error {
		in, err := rest.Bind[struct {
			Document *files.File `json:"document"`
			Title    string      `json:"title"`
		}](g)
		if err != nil {
			return err
		}
		return rest.OK(g, fmt.Sprint(in.Document.Size, g.Request.Context().Err()))
	}
	r.POST("/documents", route.User, form, route.LargeBody, route.Files)
	r.POST("/notes", route.User, rest.NoContent)
	r.PUT("/document/:id", route.Public, func(g *gin.Context) error {
		if g.Param("id") == "unknown" {
			return store.ErrNotFound
		}
		file, err := rest.ReceiveFile(g, f, document)
		if err != nil {
			return err
		}
		return rest.OK(g, fmt.Sprint(file.Size, g.Request.Context().Err()))
	}, route.Upload(document))
	r.GET("/document/:id", route.Public, func(g *gin.Context) error {
		open := func() (io.ReadSeekCloser, error) { return os.Open(sparse) }
		return rest.ServeFile(g, files.File{Name: "a", Type: "text/plain", Size: document.MaxBytes, SHA256: "0"}, open, "no-store")
	}, route.Download)
	engine := gin.New()
	engine.Use(Recovery(), Timeout(testTimeout))
	for _, row := range table.Routes() {
		engine.Handle(row.Method, row.Path, bodies.Handler(row), a.Handler(row), rest.Handle(row.Handler, row.Query...))
	}
	return &http.Server{Handler: HeadAsGet(engine), ReadTimeout: testTimeout} // the timeout is as in package server
}

// slowReader returns size bytes in chunks, with a pause before each.
type slowReader struct {
	size, chunk int
	pause       time.Duration
	ctx         context.Context
}

func (r *slowReader) Read(p []byte) (int, error) {
	if r.size <= 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(r.pause):
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
	n := min(len(p), r.chunk, r.size)
	clear(p[:n])
	r.size -= n
	return n, nil
}

// sendFile sends a body, with the token unless it is "". closed reports whether the server closes the connection.
func sendFile(ctx context.Context, client *http.Client, method, url, token, contentType string, body io.Reader, size int64) (status int, response string, closed bool) {
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return 0, err.Error(), false
	}
	r.ContentLength = size
	r.Header.Set("Content-Type", contentType)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, err.Error(), false
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error(), false
	}
	return answer.StatusCode, string(data), answer.Close
}

// TestSlowTransfers sends files a little slower and faster than the limit, for longer than the time limits of other requests.
func TestSlowTransfers(t *testing.T) {
	t.Parallel()
	head := "--b\r\nContent-Disposition: form-data; name=\"document\"; filename=\"a\"\r\n\r\n"
	const size = 2 * int(transferWindow/time.Second) * transferRate // two windows at the limit
	for name, test := range map[string]struct {
		chunk  int
		pause  time.Duration
		status int
	}{
		"fast":    {transferRate, 950 * time.Millisecond, 200},
		"slow":    {transferRate, 1050 * time.Millisecond, 408},
		"stalled": {1, time.Hour, 408},
	} {
		for _, isForm := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				client := servePipes(t, 1)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				method, path, contentType := "PUT", "/document/1", "text/plain"
				var body io.Reader = &slowReader{size, test.chunk, test.pause, ctx}
				if isForm {
					method, path, contentType = "POST", "/documents", "multipart/form-data; boundary=b"
					body = io.MultiReader(strings.NewReader(head), body, strings.NewReader("\r\n--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nx\r\n--b--\r\n"))
				}
				status, response, closed := sendFile(ctx, client, method, "http://pipe"+path, store.NewID().Hex(), contentType, body, -1)
				if want := fmt.Sprintf("\"%d <nil>\"\n", size); status != test.status || status == 200 && response != want {
					t.Errorf("%s, form: %v: %d %s, want %d", name, isForm, status, response, test.status)
				}
				if test.status == 408 && (!strings.Contains(response, "request_timeout") || !closed) {
					t.Errorf("%s, form: %v: %s, closed: %v", name, isForm, response, closed)
				}
			})
		}
	}
}

// TestLateBody sends a body too slowly, and continues after the response: the connection is not closed at once, because clients that
// fail to send may not read the response.
func TestLateBody(t *testing.T) {
	t.Parallel()
	for _, head := range []string{"Content-Length: 1000\r\n\r\na", "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n"} {
		for _, path := range []string{"/document/1", "/notes"} {
			synctest.Test(t, func(t *testing.T) {
				method := map[string]string{"/document/1": "PUT", "/notes": "POST"}[path]
				conn, err := servePipes(t, 1).Transport.(*http.Transport).DialContext(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				if _, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n%s", method, path, store.NewID().Hex(), head); err != nil {
					t.Fatal(err)
				}
				response, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil || response.StatusCode != 408 {
					t.Fatal(path, response, err)
				}
				received := time.Now()
				if _, err = io.ReadAll(response.Body); err != nil {
					t.Error(err)
				}
				if _, err = io.Copy(conn, &slowReader{1000, 1, 10 * time.Millisecond, t.Context()}); err == nil || time.Since(received) < 400*time.Millisecond {
					t.Errorf("%s %q: %v after %v", path, head, err, time.Since(received))
				}
			})
		}
	}
}

// onceValid is a verifier of tokens that are valid once: the session ends while a file is received.
type onceValid struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (v *onceValid) VerifyToken(ctx context.Context, token string) (access.Principal, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen[token] {
		return access.Principal{}, access.InvalidToken()
	}
	v.seen[token] = true
	return users{}.VerifyToken(ctx, token)
}

// TestEndedSession sends files with a session that ends meanwhile.
func TestEndedSession(t *testing.T) {
	t.Parallel()
	base := serveFiles(t, &onceValid{seen: map[string]bool{}})
	form := "--b\r\nContent-Disposition: form-data; name=\"document\"; filename=\"a\"\r\n\r\nx\r\n--b--\r\n"
	for _, test := range []struct{ method, path, contentType, body string }{
		{"PUT", "/document/1", "text/plain", "x"},
		{"POST", "/documents", "multipart/form-data; boundary=b", form},
	} {
		status, response, _ := sendFile(t.Context(), http.DefaultClient, test.method, base+test.path, store.NewID().Hex(), test.contentType, strings.NewReader(test.body), int64(len(test.body)))
		if status != 401 {
			t.Errorf("%s %s: %d %s", test.method, test.path, status, response)
		}
	}
	if status, response, _ := sendFile(t.Context(), http.DefaultClient, "PUT", base+"/document/1", "", "text/plain", strings.NewReader("x"), 1); status != 200 {
		t.Errorf("without a credential: %d %s", status, response)
	}
}

// TestSlowReaders reads a file faster than the limit, and not at all until the service closes the connection.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	for name, stalled := range map[string]bool{"stalled": true, "fast": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			closed := make(chan struct{})
			base := serveFiles(t, users{}, func(s *http.Server) {
				s.ConnState = func(_ net.Conn, state http.ConnState) {
					if state == http.StateClosed {
						close(closed)
					}
				}
			})
			conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			if _, err := io.WriteString(conn, "GET /document/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if stalled {
				select {
				case <-closed:
				case <-time.After(time.Minute):
					t.Fatal("the connection is not closed")
				}
			}
			n, _ := io.Copy(io.Discard, conn)
			if complete := n > document.MaxBytes; complete == stalled {
				t.Errorf("%d bytes", n)
			}
		})
	}
}

// TestUnreadUploads sends bodies that are rejected before they are read: the response does not wait for them.
func TestUnreadUploads(t *testing.T) {
	t.Parallel()
	base := serveFiles(t, users{})
	for path, test := range map[string]struct {
		token, want string
		size        int64
	}{
		"/document/unknown":    {"", "404", document.MaxBytes},
		"/document/1":          {"invalid", "401", document.MaxBytes},
		"/document/2":          {"", "413", document.MaxBytes + 1},
		"/document/3?name=b":   {"", "400", document.MaxBytes},
		"/document/unknown?":   {"", "404", -1},
		"/document/4?name=b&c": {"", "400", 1000},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		length := fmt.Sprintf("Content-Length: %d", test.size)
		if test.size < 0 {
			length = "Transfer-Encoding: chunked"
		}
		if test.token != "" {
			length += "\r\nAuthorization: Bearer " + test.token
		}
		_, _ = fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n", path, length)
		response, err := io.ReadAll(conn) // until the server closes the connection
		if err != nil || !strings.HasPrefix(string(response), "HTTP/1.1 "+test.want) || !strings.Contains(string(response), "Connection: close") {
			t.Errorf("%s: %s, %v", path, response, err)
		}
	}
	_, _, closed := sendFile(t.Context(), http.DefaultClient, "PUT", base+"/document/1", "", "text/plain", strings.NewReader("a"), 1)
	if closed {
		t.Error("the connection is closed after a body that was read")
	}
}

// TestTransferLimits keeps transfers in progress until the limits of a user, of a network and of the instance are reached. Other
// requests of the user continue.
func TestTransferLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const all = 2*callerTransfers + 1
		client := servePipes(t, all)
		user, other := store.NewID().Hex(), store.NewID().Hex()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		start := func(token string) {
			go func() {
				body := &slowReader{1 << 30, transferRate, 50 * time.Millisecond, ctx}
				status, response, _ := sendFile(ctx, client, "PUT", "http://pipe/document/1", token, "text/plain", body, -1)
				if ctx.Err() == nil {
					t.Errorf("an upload has ended: %d %s", status, response)
				}
			}()
			synctest.Wait()
		}
		expect := func(what, method, path, token string, want int) {
			t.Helper()
			if status, response, _ := sendFile(t.Context(), client, method, "http://pipe"+path, token, "text/plain", nil, 0); status != want {
				t.Errorf("%s: %d %.200s, want %d", what, status, response, want)
			}
		}
		for range callerTransfers {
			start(user)
		}
		expect("an upload of the user", "PUT", "/document/1", user, 429)
		expect("a download of the user", "GET", "/document/1", user, 429)
		expect("HEAD", "HEAD", "/document/1", user, 429)
		expect("a change of the user", "POST", "/notes", user, 204)
		expect("a download of another user", "GET", "/document/1", other, 200)
		for range callerTransfers {
			start("")
		}
		expect("a download of the network", "GET", "/document/1", "", 429)
		start(other)
		expect("a download of another user", "GET", "/document/1", other, 503)
		cancel()
		synctest.Wait()
		expect("a download after the others", "GET", "/document/1", user, 200)
	})
}
