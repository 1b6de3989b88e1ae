package resilience_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// request is one request of a client.
type request struct {
	op, method, path string
	form             map[string]string // sent as JSON
	header           map[string]string
	basic            bool // with HTTP Basic authentication, not a token
	repeated         bool // retry of an earlier request; canceled when the load stops
}

// response is a response to a client. Its status is 0 if the connection ended without a response.
type response struct {
	status int
	header http.Header
	body   []byte
}

// failed reports whether the outcome of the request is unknown or an error of the service.
func (r response) failed() bool { return r.status == 0 || r.status >= http.StatusInternalServerError }

// call sends a request, records a sample of it, and checks an error response.
func (c *client) call(r request) response {
	var body strings.Builder
	if r.form != nil {
		_ = json.NewEncoder(&body).Encode(r.form) // strings cannot fail
	}
	httpRequest, err := http.NewRequest(r.method, *c.load.url.Load()+r.path, strings.NewReader(body.String()))
	if err != nil {
		panic(err)
	}
	httpRequest.Header.Set("Content-Type", "application/json")
	for name, value := range r.header {
		httpRequest.Header.Set(name, value)
	}
	if r.basic {
		httpRequest.SetBasicAuth(c.email, password)
	} else {
		httpRequest.Header.Set("Authorization", "Bearer "+c.token)
	}
	if r.repeated {
		httpRequest = httpRequest.WithContext(c.load.ctx)
	}
	begun := time.Now()
	got := send(c.load.http, httpRequest)
	if httpRequest.Context().Err() != nil {
		return response{}
	}
	c.load.add(Sample{Op: r.op, Begun: begun, Took: time.Since(begun), Status: got.status})
	c.checkError(r, got)
	if got.failed() {
		time.Sleep(retryDelay)
	}
	return got
}

func send(client *http.Client, r *http.Request) response {
	got, err := client.Do(r)
	if err != nil {
		return response{}
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		return response{}
	}
	return response{got.StatusCode, got.Header, body}
}

// checkError records a violation if an error response is unexpected, or a 503 lacks its problem details or Retry-After.
func (c *client) checkError(r request, got response) {
	switch {
	case got.status == http.StatusServiceUnavailable:
		var problem struct{ Code, RequestID string }
		err := json.Unmarshal(got.body, &problem)
		if err != nil || problem.Code != "unavailable" || problem.RequestID == "" || got.header.Get("Retry-After") == "" {
			c.load.violation("%s: a 503 without problem details or Retry-After: %v %s", r.op, got.header, got.body)
		}
	case got.status >= http.StatusInternalServerError, got.status == http.StatusTooManyRequests, got.status == http.StatusUnauthorized:
		c.load.violation("%s: status %d: %s", r.op, got.status, got.body)
	}
}

// expect reports whether a response has the wanted status. Any other status is a violation, unless the request failed.
func (c *client) expect(r request, got response, status int) bool {
	if got.status != status && !got.failed() {
		c.load.violation("%s: status %d, want %d: %s", r.op, got.status, status, got.body)
	}
	return got.status == status
}

// decode is expect and decodes the body.
func (c *client) decode(r request, got response, status int, into any) bool {
	if !c.expect(r, got, status) {
		return false
	}
	if err := json.Unmarshal(got.body, into); err != nil {
		c.load.violation("%s: %v: %s", r.op, err, got.body)
		return false
	}
	return true
}
