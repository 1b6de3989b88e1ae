package telemetry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// good is the section as its defaults make it, with an endpoint.
func good() Settings {
	return Settings{
		Endpoint: "http://localhost:4318", Protocol: httpProtobuf, Timeout: 10000, Compression: "none", Sampler: "parentbased_always_on",
		Propagators: []string{"tracecontext"}, BatchDelay: 5000, BatchTimeout: 30000, QueueSize: 2048, BatchSize: 512,
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	noPEM := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(noPEM, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		set  func(*Settings)
		want string // the setting at fault; "" for none
	}{
		"good":                     {func(*Settings) {}, ""},
		"no scheme":                {func(c *Settings) { c.Endpoint = "localhost:4318" }, "OTEL_EXPORTER_OTLP_ENDPOINT"},
		"no host":                  {func(c *Settings) { c.TracesEndpoint = "http:///v1/traces" }, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"},
		"grpc":                     {func(c *Settings) { c.Protocol = "grpc" }, "OTEL_EXPORTER_OTLP_PROTOCOL"},
		"grpc for traces":          {func(c *Settings) { c.TracesProtocol = "grpc" }, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"},
		"JSON":                     {func(c *Settings) { c.Protocol = "http/json" }, "OTEL_EXPORTER_OTLP_PROTOCOL"},
		"headers":                  {func(c *Settings) { c.Headers = "api-key=hunter2%2C, x=1" }, ""},
		"header without a value":   {func(c *Settings) { c.Headers = "hunter2" }, "OTEL_EXPORTER_OTLP_HEADERS"},
		"header with a line break": {func(c *Settings) { c.TracesHeaders = "a=hunter2%0d%0ab" }, "OTEL_EXPORTER_OTLP_TRACES_HEADERS"},
		"header that is no token":  {func(c *Settings) { c.Headers = "a b=hunter2" }, "OTEL_EXPORTER_OTLP_HEADERS"},
		"broken encoding":          {func(c *Settings) { c.Headers = "a=hunter2%zz" }, "OTEL_EXPORTER_OTLP_HEADERS"},
		"no such certificate":      {func(c *Settings) { c.Certificate = noPEM + "x" }, "OTEL_EXPORTER_OTLP_CERTIFICATE"},
		"no certificate in it":     {func(c *Settings) { c.TracesCertificate = noPEM }, "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE"},
		"resource":                 {func(c *Settings) { c.ResourceAttributes = "a=b,c=d%20e" }, ""},
		"broken resource":          {func(c *Settings) { c.ResourceAttributes = "a" }, "OTEL_RESOURCE_ATTRIBUTES"},
		"ratio":                    {func(c *Settings) { c.Sampler, c.SamplerArg = "traceidratio", "0.25" }, ""},
		"ratio that is none":       {func(c *Settings) { c.Sampler, c.SamplerArg = "parentbased_traceidratio", "NaN" }, "OTEL_TRACES_SAMPLER_ARG"},
		"ratio above 1":            {func(c *Settings) { c.Sampler, c.SamplerArg = "traceidratio", "2" }, "OTEL_TRACES_SAMPLER_ARG"},
		"argument without use":     {func(c *Settings) { c.SamplerArg = "x" }, ""},
		"another propagator":       {func(c *Settings) { c.Propagators = []string{"b3"} }, "OTEL_PROPAGATORS"},
		"no propagator":            {func(c *Settings) { c.Propagators = []string{"none"} }, ""},
		"batch above queue":        {func(c *Settings) { c.QueueSize = 10 }, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"},
	} {
		c := good()
		test.set(&c)
		wrong := map[string]string{}
		c.Check(func(name, what string) { wrong[name] = what })
		if _, named := wrong[test.want]; named != (test.want != "") || len(wrong) > 1 || len(wrong) == 1 && test.want == "" {
			t.Errorf("%s: %v, want %q", name, wrong, test.want)
		}
		for _, text := range wrong {
			if strings.Contains(text, "hunter2") {
				t.Errorf("%s: the value is quoted: %s", name, text)
			}
		}
		o, err := New(Options{Traces: c})
		if (err != nil) != (strings.HasSuffix(test.want, "HEADERS") || strings.HasSuffix(test.want, "CERTIFICATE") || strings.HasSuffix(test.want, "ATTRIBUTES")) {
			t.Errorf("%s: New: %v", name, err)
		}
		if err := o.Shutdown(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config   Settings
		on       bool
		endpoint string
	}{
		"nothing":            {Settings{}, false, ""},
		"endpoint":           {Settings{Endpoint: "http://a/b/"}, true, "http://a/b/v1/traces"},
		"endpoint of traces": {Settings{Endpoint: "http://a", TracesEndpoint: "http://b/c"}, true, "http://b/c"},
		"exporter":           {Settings{Exporter: "otlp"}, true, "http://localhost:4318/v1/traces"},
		"none":               {Settings{Exporter: "none", Endpoint: "http://a"}, false, ""},
		"disabled":           {Settings{Disabled: true, Exporter: "otlp"}, false, ""},
	} {
		if test.config.on() != test.on || test.on && test.config.endpoint() != test.endpoint {
			t.Errorf("%s: %v %s", name, test.config.on(), test.config.endpoint())
		}
	}
	if got := (Settings{Timeout: 1000, TracesTimeout: 20}).timeout(); got != 20*time.Millisecond {
		t.Errorf("timeout %v", got)
	}
}

// TestSampler holds each word of the setting to what the SDK calls it.
func TestSampler(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"always_on": "AlwaysOnSampler", "always_off": "AlwaysOffSampler", "traceidratio": "TraceIDRatioBased{0.25}",
		"":                         "ParentBased{root:AlwaysOnSampler,",
		"parentbased_always_on":    "ParentBased{root:AlwaysOnSampler,",
		"parentbased_always_off":   "ParentBased{root:AlwaysOffSampler,",
		"parentbased_traceidratio": "ParentBased{root:TraceIDRatioBased{0.25},",
	} {
		if got := (Settings{Sampler: word, SamplerArg: "0.25"}).sampler().Description(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", word, got)
		}
	}
}

// TestPropagator reads no baggage, be it listed: OpenTelemetry would print a client's header that it cannot parse.
func TestPropagator(t *testing.T) {
	t.Parallel()
	header := propagation.HeaderCarrier{
		"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, "Baggage": {"a=b"},
	}
	for _, test := range []struct {
		listed    []string
		continued bool
	}{
		{[]string{"tracecontext"}, true},
		{[]string{"tracecontext", "baggage"}, true},
		{[]string{"baggage"}, false},
		{[]string{"none"}, false},
	} {
		ctx := Settings{Propagators: test.listed}.propagator().Extract(t.Context(), header)
		if got := trace.SpanContextFromContext(ctx).IsValid(); got != test.continued || baggage.FromContext(ctx).Len() != 0 {
			t.Errorf("%v: continued %v, with baggage %q", test.listed, got, baggage.FromContext(ctx))
		}
	}
}

// TestOff shows that a service that is not watched has no Observer, and what that costs a request: nothing.
func TestOff(t *testing.T) {
	t.Parallel()
	o, err := New(Options{Traces: Settings{Exporter: "none"}})
	if o != nil || err != nil {
		t.Fatalf("%v, %v", o, err)
	}
	o.Meter(nil)
	if o.Database(nil) != nil || o.Hasher(nil) != nil || o.Transport(nil) != nil || o.Shutdown(t.Context()) != nil {
		t.Error("something is wrapped")
	}
}
