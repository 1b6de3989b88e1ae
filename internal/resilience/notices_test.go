package resilience_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

// pass forwards a request to the service with the given method and path.
type pass func(method, path string) *http.Response

// TestLoadNotices checks that the clients notice each broken guarantee.
func TestLoadNotices(t *testing.T) {
	testdb.SQLiteOnly(t)
	t.Parallel()
	for name, test := range map[string]struct {
		breaks func(w http.ResponseWriter, r *http.Request, pass pass) bool // reports whether it wrote a response
		says   string
	}{
		"none": {nil, ""},
		"a record is lost": {func(_ http.ResponseWriter, r *http.Request, pass pass) bool {
			if r.Method == "PATCH" {
				pass("DELETE", r.URL.Path)
			}
			return false
		}, "404"},
		"a record is doubled": {func(_ http.ResponseWriter, r *http.Request, pass pass) bool {
			if r.Method == "POST" && r.URL.Path == "/articles" && r.Header.Get("Idempotency-Key") == "" {
				pass(r.Method, r.URL.Path)
			}
			return false
		}, "twice"},
		"a change is not made": {func(w http.ResponseWriter, r *http.Request, _ pass) bool {
			return r.Method == "PATCH"
		}, "content"},
		"a deletion is not made": {func(w http.ResponseWriter, r *http.Request, _ pass) bool {
			if r.Method == "DELETE" && strings.HasPrefix(r.URL.Path, "/articles/") {
				w.WriteHeader(http.StatusNoContent)
				return true
			}
			return false
		}, "deleted"},
		"an error is a 500": {func(w http.ResponseWriter, r *http.Request, _ pass) bool {
			if r.URL.RawQuery != "" && strings.Contains(r.URL.RawQuery, "q=") {
				w.WriteHeader(http.StatusInternalServerError)
				return true
			}
			return false
		}, "status 500"},
		"a 503 is no problem": {func(w http.ResponseWriter, r *http.Request, _ pass) bool {
			if strings.Contains(r.URL.RawQuery, "q=") {
				w.WriteHeader(http.StatusServiceUnavailable)
				return true
			}
			return false
		}, "503"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := apitest.Start(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				pass := func(method, path string) *http.Response {
					return passOn(t, r, method, api.URL+path+"?"+r.URL.RawQuery, body)
				}
				if test.breaks != nil && test.breaks(w, r, pass) {
					return
				}
				response := pass(r.Method, r.URL.Path)
				for name, values := range response.Header {
					w.Header()[name] = values
				}
				w.WriteHeader(response.StatusCode)
				_, _ = io.Copy(w, response.Body)
			}))
			t.Cleanup(server.Close)
			load, err := NewLoad(t.Context(), server.URL, testkit.MasterKey, 2)
			must(t, err)
			load.Start()
			within(t, func(ctx context.Context) error { return load.Await(ctx, 200) }, "the clients make no progress")
			load.Stop()
			v, err := load.Check(t.Context())
			must(t, err)
			if said := strings.Join(v.Wrong, "\n"); test.says == "" && said != "" || !strings.Contains(said, test.says) {
				t.Errorf("they say %q, want %q", said, test.says)
			}
		})
	}
}

// passOn forwards a request to the service.
func passOn(t *testing.T, r *http.Request, method, address string, body []byte) *http.Response {
	request, err := http.NewRequest(method, strings.TrimSuffix(address, "?"), bytes.NewReader(body))
	if err != nil {
		t.Error(err)
		panic(http.ErrAbortHandler)
	}
	request.Header = r.Header.Clone()
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Error(err)
		panic(http.ErrAbortHandler)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}
