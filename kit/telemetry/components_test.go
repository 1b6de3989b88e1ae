package telemetry_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/ginseng/testkit"
)

// TestTransport sends a request to another service. The request has a span below the span of the incoming request, and the header
// traceparent, but no other headers of the caller. The span has no path.
func TestTransport(t *testing.T) {
	t.Parallel()
	var got http.Header
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		w.WriteHeader(http.StatusTeapot)
	}))
	defer other.Close()
	o, exported := testkit.Observe(t)
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	r.Header.Set("Tracestate", "vendor=hunter2")
	r.Header.Set("Baggage", "secret=hunter2")
	ctx, request := o.Begin(r, "GET", "/x")
	call, err := http.NewRequestWithContext(ctx, "GET", other.URL+"/path/hunter2?token=hunter2", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := o.Transport(http.DefaultTransport).RoundTrip(call)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	other.Close()
	if _, err := o.Transport(http.DefaultTransport).RoundTrip(call); err == nil {
		t.Error("no error from a closed server")
	}
	request.End(200, "")
	if err := o.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if parent := got.Get("Traceparent"); !strings.HasPrefix(parent, "00-0af7651916cd43dd8448eb211c80319c-") || got.Get("Tracestate")+got.Get("Baggage") != "" || len(call.Header) != 0 {
		t.Errorf("outgoing headers %v", got)
	}
	spans := exported.GetSpans()
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}
	for i, failure := range []string{"418", "*net.OpError"} {
		text := fmt.Sprintf("%+v", spans[i])
		if !strings.Contains(text, failure) || strings.Contains(strings.ReplaceAll(text, "{Key:vendor Value:hunter2}", ""), "hunter2") || spans[i].Parent.SpanID() != spans[2].SpanContext.SpanID() {
			t.Errorf("no %s in %s", failure, text)
		}
	}
}
