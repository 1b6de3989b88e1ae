package telemetry_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/telemetry"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// work makes requests of every kind.
func work(t *testing.T, api *testkit.API, header http.Header) testkit.Account {
	t.Helper()
	ada := api.SignUp("user")
	key := func(pairs ...string) url.Values {
		form := url.Values{"access_token": {testkit.MasterKey}}
		for i := 0; i+1 < len(pairs); i += 2 {
			form.Set(pairs[i], pairs[i+1])
		}
		return form
	}
	admin := api.SignUp("admin")
	for range 2 { // the second request is a conflict
		api.Do(testkit.Request{Method: "POST", Path: "/policies", As: admin.Token, JSON: map[string]any{"namespace": "shop", "name": "all"}})
	}
	api.Do(testkit.Request{Method: "POST", Path: "/auth", Email: ada.Email, Password: "a wrong password", Form: key()})
	article := testkit.Request{Method: "POST", Path: "/articles", As: ada.Token, JSON: map[string]any{"title": "T", "content": "C"}, Header: header}
	id := api.Do(article).JSON(201)["id"].(string)
	api.Do(testkit.Request{Method: "GET", Path: "/articles/" + id})
	api.Do(testkit.Request{Method: "GET", Path: "/articles/" + strings.Repeat("0", 24)})
	for range 6 { // one request too many
		api.Do(testkit.Request{Method: "POST", Path: "/password-resets", Form: key("email", ada.Email, "link", testkit.LinkOrigin+"/{token}")})
	}
	api.Finish()
	return ada
}

// TestWork checks the metrics after requests of every kind.
func TestWork(t *testing.T) {
	t.Parallel()
	o := newObserver(t)
	api := apitest.Start(t, testkit.Observed(o))
	work(t, api, nil)
	families, text := scrape(t, o)
	for _, want := range []struct {
		name   string
		labels []string
		value  float64 // -1: any value
	}{
		{"http_requests_total", []string{"method", "GET", "route", "/articles/:id", "status", "200"}, 1},
		{"http_requests_total", []string{"method", "GET", "route", "/articles/:id", "status", "404"}, 1},
		{"http_request_duration_seconds", []string{"method", "GET", "route", "/articles/:id"}, 2},
		{"db_operation_duration_seconds", []string{"collection", "articles", "operation", "insert"}, 1},
		{"db_operation_duration_seconds", []string{"collection", "articles", "operation", "first"}, 2},
		{"db_operation_errors_total", []string{"collection", "articles", "operation", "first", "code", "not_found"}, 1},
		{"db_operation_errors_total", []string{"collection", "policies", "operation", "insert", "code", "conflict"}, 1},
		{"password_hashes", []string{"state", "running"}, 0},
		{"password_hashes", []string{"state", "waiting"}, 0},
		{"password_hashes_rejected_total", nil, 0},
		{"emails_total", []string{"outcome", "sent"}, 5},
		{"emails_total", []string{"outcome", "failed"}, 0},
		{"emails_queued", []string{"state", "waiting"}, 0},
		{"streams_open", nil, 0},
		{"stream_delay_seconds", nil, 0},
		{"ratelimit_rejected_total", []string{"limit", "resets"}, 1},
	} {
		if got := value(families, want.name, want.labels...); got != want.value {
			t.Errorf("%s %v: %v, want %v", want.name, want.labels, got, want.value)
		}
	}
	if system, ok := api.DB.(interface{ System() string }); !ok || system.System() == "sqlite" && value(families, "sqlite_batch_writes") < 5 {
		t.Errorf("the engine's commits are not seen:\n%s", text)
	}
}

// TestSpans checks the spans of a request that continues a trace, and of its email.
func TestSpans(t *testing.T) {
	t.Parallel()
	o, exported := testkit.Observe(t)
	api := apitest.Start(t, testkit.Observed(o))
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	ada := work(t, api, http.Header{"Traceparent": {"00-" + trace + "-" + parent + "-01"}})
	sweep := o.Database(api.DB).Open(store.Spec{Name: "background"})
	if err := api.DB.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := sweep.Delete(t.Context(), store.Eq("id", store.NewID())); err != nil {
		t.Fatal(err)
	}
	if err := o.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := exported.GetSpans()
	for _, s := range spans {
		if s.Name == "delete background" {
			t.Error("an operation outside of a request has a span")
		}
	}
	request := find(t, spans, "POST /articles")
	if request.SpanContext.TraceID().String() != trace || request.Parent.SpanID().String() != parent || request.SpanKind != oteltrace.SpanKindServer {
		t.Errorf("not in the trace of its caller: %v", request)
	}
	attributes(t, request, "http.request.method", "POST", "http.route", "/articles", "http.response.status_code", "201", "url.scheme", "http", "enduser.id", ada.ID)
	insert := find(t, spans, "insert articles")
	if insert.SpanContext.TraceID() != request.SpanContext.TraceID() || insert.Parent.SpanID() != request.SpanContext.SpanID() {
		t.Errorf("not below its request: %v", insert)
	}
	attributes(t, insert, "db.collection.name", "articles", "db.operation.name", "insert", "db.system.name", api.DB.(interface{ System() string }).System())
	for child, above := range map[string]string{"hash password": "POST /users", "verify password": "POST /auth"} {
		if c, p := find(t, spans, child), find(t, spans, above); c.Parent.SpanID() != p.SpanContext.SpanID() {
			t.Errorf("%s is not below %s", child, above)
		}
	}
	mail, asked := find(t, spans, "send email"), find(t, spans, "POST /password-resets")
	if mail.Parent.IsValid() || mail.SpanContext.TraceID() == asked.SpanContext.TraceID() || len(mail.Links) != 1 {
		t.Errorf("not a new trace with a link: %v", mail)
	}
	linked := false
	for _, s := range spans {
		linked = linked || s.Name == asked.Name && s.SpanContext.SpanID() == mail.Links[0].SpanContext.SpanID()
	}
	if !linked {
		t.Error("it is linked to another request")
	}
	logged := false
	for _, line := range api.Log.Lines() {
		logged = logged || strings.Contains(line, "route=/articles ") && strings.Contains(line, "traceId="+trace)
	}
	if !logged {
		t.Error("the log does not name the trace")
	}
}

// find returns the first span with the name.
func find(t *testing.T, spans tracetest.SpanStubs, name string) tracetest.SpanStub {
	t.Helper()
	for _, s := range spans {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no span %s among %d", name, len(spans))
	return tracetest.SpanStub{}
}

// attributes compares all attributes of a span.
func attributes(t *testing.T, s tracetest.SpanStub, want ...string) {
	t.Helper()
	have := map[string]string{}
	for _, a := range s.Attributes {
		have[string(a.Key)] = a.Value.String()
	}
	for i := 0; i+1 < len(want); i += 2 {
		if have[want[i]] != want[i+1] {
			t.Errorf("%s: %s is %q, want %q", s.Name, want[i], have[want[i]], want[i+1])
		}
	}
	if len(have) != len(want)/2 {
		t.Errorf("%s has %v", s.Name, have)
	}
}

// TestServiceWithoutReceiver serves while the collector is unreachable.
func TestServiceWithoutReceiver(t *testing.T) {
	t.Parallel()
	down := httptest.NewServer(nil)
	down.Close()
	o, err := telemetry.New(t.Context(), telemetry.Options{Traces: telemetry.Settings{Endpoint: down.URL}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	api := apitest.Start(t, testkit.Observed(o))
	work(t, api, nil)
	if err := o.Shutdown(t.Context()); err != nil { // the error is logged
		t.Error(err)
	}
	api.Do(testkit.Request{Method: "GET", Path: "/livez"}).JSON(200)
}
