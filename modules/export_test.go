package modules_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/modules/article"
	"example.com/ginseng/testkit"
)

// exporter is a service with articles.
type exporter struct {
	*testkit.API
	t      *testing.T
	owner  testkit.Account
	stored time.Time // time at which the last article was stored
}

func startExporter(t *testing.T, options ...testkit.Option) *exporter {
	t.Helper()
	api := apitest.Start(t, options...)
	return &exporter{API: api, t: t, owner: api.SignUp("user"), stored: time.Unix(1, 0)}
}

// add stores articles without the API, each a second after the one before.
func (e *exporter) add(titles []string, content string) {
	for _, title := range titles {
		e.stored = e.stored.Add(time.Second)
		testkit.Insert(e.API, "articles", article.Article{
			Meta: store.NewMeta(store.NewID(), store.At(e.stored)), UserID: ids(e.t, e.owner.ID), Fields: article.Fields{Title: title, Content: content},
		})
	}
}

func ids(t *testing.T, hex string) store.ID {
	id, ok := store.ParseID(hex)
	if !ok {
		t.Fatal(hex)
	}
	return id
}

func (e *exporter) get(status int, path, as string) testkit.Response {
	e.t.Helper()
	r := e.Do(testkit.Request{Method: "GET", Path: path, As: as})
	if r.Status != status {
		e.t.Fatalf("GET %s: status %d, want %d: %.500s", path, r.Status, status, r.Body)
	}
	return r
}

// TestExport compares exports with the list.
func TestExport(t *testing.T) {
	t.Parallel()
	e := startExporter(t)
	var titles []string
	for i := range 250 { // several pages
		titles = append(titles, fmt.Sprintf("=%03d", i))
	}
	e.add(titles, "a\r\n'b',")
	for range 2 {
		if r := e.Do(testkit.Request{Method: "POST", Path: "/articles", As: e.owner.Token, JSON: map[string]any{"title": "searched"}}); r.Status != 201 {
			t.Fatal(r.Status)
		}
	}
	for _, query := range []string{"", "sort=title", "fields=title", "fields=-content,-userId", "q=sea", "createdAt[lt]=1970-01-01T00:01:00.000Z", "expand=userId", "q=none"} {
		var listed []any
		for after := ""; ; {
			page := e.get(200, "/articles?limit=100&"+query+after, "").JSON(200)
			listed = append(listed, page["rows"].([]any)...)
			if page["next"] == nil {
				break
			}
			after = "&after=" + page["next"].(string)
		}
		exported := e.get(200, "/articles?format=ndjson&"+query, "")
		if disposition := exported.Header.Get("Content-Disposition"); disposition != "attachment; filename=articles.ndjson" {
			t.Error(disposition)
		}
		var lines []any
		for line := range bytes.Lines(exported.Body) {
			var row any
			if err := json.Unmarshal(line, &row); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, row)
		}
		if a, b := fmt.Sprint(lines), fmt.Sprint(listed); a != b {
			t.Errorf("%s: %d rows are exported, %d listed: %.500s", query, len(lines), len(listed), a)
		}
		cells, err := csv.NewReader(bytes.NewReader(e.get(200, "/articles?format=csv&"+query, "").Body)).ReadAll()
		if err != nil || len(cells) != len(listed)+1 || !slices.Contains(cells[0], "id") || slices.Contains(cells[0], "expand") != strings.Contains(query, "expand") {
			t.Fatalf("%s: %v, %d lines, header %v", query, err, len(cells), cells)
		}
	}
	if cells := string(e.get(200, "/articles?format=csv&fields=title&createdAt[lt]=1970-01-01T00:00:03.000Z", "").Body); !strings.HasPrefix(cells, "id,title\r\n") || !strings.HasSuffix(cells, ",'=000\r\n") {
		t.Errorf("%q", cells)
	} else if marked := string(e.get(200, "/articles?format=csv&bom=true&fields=title&createdAt[lt]=1970-01-01T00:00:03.000Z", "").Body); marked != "\ufeff"+cells {
		t.Errorf("with a byte order mark: %q", marked)
	}
}

// TestExportParameters checks the errors of exports, and that an export requires the same access as the list.
func TestExportParameters(t *testing.T) {
	t.Parallel()
	e := startExporter(t)
	for query, code := range map[string]string{"format=xml": "one_of", "format=csv&page=1": "conflict", "format=csv&limit=5": "conflict", "format=csv&format=csv": "type"} {
		if body := e.get(400, "/articles?"+query, "").Body; !strings.Contains(string(body), `"code":"`+code+`"`) {
			t.Errorf("%s: %s", query, body)
		}
	}
	e.get(400, "/articles/changes?format=csv", "")
	e.get(401, "/users?format=csv", "")
	e.get(403, "/users?format=csv", e.owner.Token)
	admin := e.SignUp("admin")
	if users := e.get(200, "/users?format=ndjson", admin.Token).Body; bytes.Count(users, []byte("\n")) != 2 || !bytes.Contains(users, []byte(e.owner.ID)) {
		t.Errorf("%s", users)
	}
	if r := e.Do(testkit.Request{Method: "HEAD", Path: "/articles?format=csv"}); r.Status != 200 || r.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Errorf("HEAD: %d %v", r.Status, r.Header)
	}
}

// large is the content of an article. A few such articles do not fit into the buffers of a connection.
var large = strings.Repeat("x", 100_000)

// slow opens a connection that requests an export and reads only the header.
func (e *exporter) slow(path, as string) (*http.Response, net.Conn) {
	e.t.Helper()
	var conn net.Conn
	transport := &http.Transport{DisableCompression: true, ReadBufferSize: 4 << 10, DialContext: func(ctx context.Context, network, address string) (_ net.Conn, err error) {
		conn, err = new(net.Dialer).DialContext(ctx, network, address)
		return conn, err
	}}
	e.t.Cleanup(transport.CloseIdleConnections)
	request, err := http.NewRequestWithContext(e.t.Context(), "GET", e.URL+path, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	if as != "" {
		request.Header.Set("Authorization", "Bearer "+as)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = response.Body.Close() })
	return response, conn
}

// TestExportLimit has four clients of different callers that do not read. A second export of a caller, and a fifth export are
// rejected, but other requests succeed. When a client disconnects, another export is possible.
func TestExportLimit(t *testing.T) {
	t.Parallel()
	e := startExporter(t)
	e.add(make([]string, 80), large)
	var conns []net.Conn
	for _, as := range []string{"", e.owner.Token, e.SignUp("user").Token, e.SignUp("user").Token} {
		response, conn := e.slow("/articles?format=ndjson", as)
		if response.StatusCode != 200 {
			t.Fatal(response.Status)
		}
		conns = append(conns, conn)
		e.get(503, "/articles?format=ndjson&q=none", as)
	}
	e.get(503, "/articles?format=ndjson&q=none", e.SignUp("user").Token)
	if r := e.get(503, "/articles?format=ndjson&q=none", ""); r.Header.Get("Retry-After") == "" {
		t.Errorf("no Retry-After: %s", r.Body)
	}
	e.get(200, "/articles?limit=2", "")
	r := e.Do(testkit.Request{Method: "POST", Path: "/articles", As: e.owner.Token, JSON: map[string]any{"title": "written meanwhile"}})
	if r.Status != 201 {
		t.Errorf("%d: %s", r.Status, r.Body)
	}
	_ = conns[0].Close()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		r := e.Do(testkit.Request{Method: "GET", Path: "/articles?format=ndjson&q=none"})
		if r.Status == 200 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d: %s", r.Status, r.Body)
		}
	}
}

// TestExportAborted deletes the user, and stops the service, during an export. The client notices that the export is incomplete.
func TestExportAborted(t *testing.T) {
	t.Parallel()
	e := startExporter(t, func(c *testkit.Config) { c.StreamCheck = time.Nanosecond })
	e.add(make([]string, 80), large)
	reader := e.SignUp("user")
	for _, test := range []struct {
		name, as string
		end      func()
	}{
		{"user deleted", reader.Token, func() {
			if r := e.Do(testkit.Request{Method: "DELETE", Path: "/users/me", As: reader.Token}); r.Status != 204 {
				t.Fatal(r.Status)
			}
		}},
		{"service stopped", e.owner.Token, e.Handler.Long.Close},
	} {
		response, _ := e.slow("/articles?format=ndjson", test.as)
		test.end()
		if n, err := io.Copy(io.Discard, response.Body); err == nil {
			t.Errorf("%s: the export ends after %d bytes without an error", test.name, n)
		}
	}
}
