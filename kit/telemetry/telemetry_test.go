package telemetry_test

import (
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"example.com/ginseng/kit/telemetry"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// newObserver returns an Observer with metrics.
func newObserver(t testing.TB) *telemetry.Observer {
	t.Helper()
	o, err := telemetry.New(t.Context(), telemetry.Options{Metrics: true, Version: "v1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// scrape returns the response to GET /metrics, parsed and as text.
func scrape(t testing.TB, o *telemetry.Observer) (map[string]*dto.MetricFamily, string) {
	t.Helper()
	w := httptest.NewRecorder()
	o.Metrics(slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	text := w.Body.String()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return families, text
}

// value returns the value of the series with the labels, which are names and values in turn, or -1 if there is no series. For a
// histogram, it returns the count.
func value(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	for _, m := range families[name].GetMetric() {
		matches := 0
		for i := 0; i+1 < len(labels); i += 2 {
			for _, l := range m.Label {
				if l.GetName() == labels[i] && l.GetValue() == labels[i+1] {
					matches++
				}
			}
		}
		if 2*matches == len(labels) {
			return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return -1
}

func TestRequests(t *testing.T) {
	t.Parallel()
	o := newObserver(t)
	api := apitest.Start(t, testkit.Observed(o))
	for range 3 {
		api.Do(testkit.Request{Method: "GET", Path: "/livez?access_token=x"})
	}
	api.Do(testkit.Request{Method: "HEAD", Path: "/livez"})
	api.Do(testkit.Request{Method: "DELETE", Path: "/livez"})
	families, _ := scrape(t, o)
	for _, want := range []struct {
		name   string
		labels []string
		value  float64
	}{
		{"http_requests_total", []string{"method", "GET", "route", "/livez", "status", "200"}, 3},
		{"http_requests_total", []string{"method", "HEAD", "route", "/livez", "status", "200"}, 1},
		{"http_requests_total", []string{"method", "DELETE", "route", "unmatched", "status", "405"}, 1},
		{"http_request_duration_seconds", []string{"method", "GET", "route", "/livez"}, 3},
		{"http_requests_in_flight", nil, 0},
		{"service_build_info", []string{"version", "v1.2.3"}, 1},
	} {
		if got := value(families, want.name, want.labels...); got != want.value {
			t.Errorf("%s %v: %v, want %v", want.name, want.labels, got, want.value)
		}
	}
	if families["go_goroutines"] == nil || families["process_start_time_seconds"] == nil && os.Getenv("GOOS") == "linux" {
		t.Error("runtime and process are not there")
	}
}

// TestCardinality requests a thousand paths with unknown methods and headers. All requests share one series.
func TestCardinality(t *testing.T) {
	t.Parallel()
	o := newObserver(t)
	api := apitest.Start(t, testkit.Observed(o))
	for range 1000 {
		word := strconv.Itoa(rand.Int())
		r := httptest.NewRequest("GET", "/"+word+"/"+word+"?q="+word, nil)
		r.Method = "M" + word
		r.Header.Set("X-Request-Id", word)
		api.Handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	families, text := scrape(t, o)
	if n := len(families["http_requests_total"].GetMetric()); n != 1 {
		t.Errorf("%d series", n)
	}
	if got := value(families, "http_requests_total", "method", "_OTHER", "route", "unmatched", "status", "404"); got != 1000 {
		t.Errorf("%v requests:\n%s", got, text)
	}
}

// TestOnlyMetrics checks that the listener serves only one path.
func TestOnlyMetrics(t *testing.T) {
	t.Parallel()
	handler := newObserver(t).Metrics(slog.New(slog.DiscardHandler))
	for call, want := range map[string]int{
		"GET /metrics": 200, "HEAD /metrics": 200, "POST /metrics": 405, "GET /": 404, "GET /debug/pprof/": 404, "GET /metrics/": 404, "GET /livez": 404,
	} {
		method, path, _ := strings.Cut(call, " ")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", call, w.Code, want)
		}
	}
}

var (
	description = regexp.MustCompile(`^Desc\{fqName: "([^"]+)", help: "([^"]*)",.* constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}\}$`)
	row         = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (\\w+) \\|([^|]*)\\| ([^|]+) \\| \\[")
	word        = regexp.MustCompile(`\w+`)
	query       = regexp.MustCompile(`(?s)promql\n(.*?)` + "```")
	queried     = regexp.MustCompile(`\b([a-z]+_[a-z_]+)[{\[]`)
)

// TestTable compares the table in the guide with the registered metrics, and the queries in the guide with the names of metrics.
func TestTable(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	o := newObserver(t)
	api := apitest.Start(t, testkit.Observed(o))
	api.Do(testkit.Request{Method: "GET", Path: "/livez"})
	families, text := scrape(t, o)
	types := map[string]string{}
	rows := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(guide), -1) {
		labels := word.FindAllString(m[3], -1)
		slices.Sort(labels)
		rows[m[1]] = strings.Join(labels, " ") + ": " + m[4]
		types[m[1]] = m[2]
	}
	registered := map[string]string{}
	descriptions := make(chan *prometheus.Desc)
	go func() {
		o.Registry().Describe(descriptions)
		close(descriptions)
	}()
	for d := range descriptions {
		m := description.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("the library describes metrics differently: %s", d)
		}
		if strings.HasPrefix(m[1], "go_") || strings.HasPrefix(m[1], "process_") {
			continue
		}
		var labels []string
		for _, pair := range strings.Split(m[3]+","+m[4], ",") {
			if name, _, _ := strings.Cut(pair, "="); name != "" {
				labels = append(labels, name)
			}
		}
		slices.Sort(labels)
		registered[m[1]] = strings.Join(labels, " ") + ": " + m[2]
		if f := families[m[1]]; f != nil && strings.ToLower(f.GetType().String()) != types[m[1]] {
			t.Errorf("%s is a %v", m[1], f.GetType())
		}
	}
	for name := range registered {
		if rows[name] != registered[name] {
			t.Errorf("%s\n is    %s\n table %s", name, registered[name], rows[name])
		}
	}
	for name := range rows {
		if _, ok := registered[name]; !ok {
			t.Errorf("the table has %s, and nobody registers it", name)
		}
	}
	for _, block := range query.FindAllStringSubmatch(string(guide), -1) {
		for _, m := range queried.FindAllStringSubmatch(block[1], -1) {
			name := m[1]
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if base, cut := strings.CutSuffix(name, suffix); cut && types[base] == "histogram" {
					name = base
				}
			}
			if types[name] == "" {
				t.Errorf("a query asks for %s", m[1])
			}
		}
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("against the conventions: %s: %s", p.Metric, p.Text)
	}
}
