package telemetry

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/net/http/httpguts"
)

// Settings is the section of the settings that turns traces on and says where they go: the standard variables
// (OpenTelemetry specification, "Environment Variable Specification" and "OTLP Exporter Configuration"). Those with
// TRACES in the name win over those without, which other programs share. Times are in milliseconds.
type Settings struct {
	Disabled           bool     `mapstructure:"OTEL_SDK_DISABLED" default:"false"`
	Exporter           string   `mapstructure:"OTEL_TRACES_EXPORTER" validate:"omitempty,oneof=otlp console none" example:"otlp"`
	Endpoint           string   `mapstructure:"OTEL_EXPORTER_OTLP_ENDPOINT" example:"http://localhost:4318"`
	TracesEndpoint     string   `mapstructure:"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" example:"http://localhost:4318/v1/traces"`
	Protocol           string   `mapstructure:"OTEL_EXPORTER_OTLP_PROTOCOL" default:"http/protobuf"`
	TracesProtocol     string   `mapstructure:"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL" example:"http/protobuf"`
	Headers            string   `mapstructure:"OTEL_EXPORTER_OTLP_HEADERS" example:"api-key=xxxxxxxx"`
	TracesHeaders      string   `mapstructure:"OTEL_EXPORTER_OTLP_TRACES_HEADERS" example:"api-key=xxxxxxxx"`
	Timeout            int      `mapstructure:"OTEL_EXPORTER_OTLP_TIMEOUT" default:"10000" validate:"min=1,max=600000"`
	TracesTimeout      int      `mapstructure:"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT" validate:"omitempty,min=1,max=600000" example:"10000"`
	Compression        string   `mapstructure:"OTEL_EXPORTER_OTLP_COMPRESSION" default:"none" validate:"oneof=gzip none"`
	TracesCompression  string   `mapstructure:"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION" validate:"omitempty,oneof=gzip none" example:"gzip"`
	Certificate        string   `mapstructure:"OTEL_EXPORTER_OTLP_CERTIFICATE" example:"/etc/ssl/collector.pem"`
	TracesCertificate  string   `mapstructure:"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE" example:"/etc/ssl/collector.pem"`
	ServiceName        string   `mapstructure:"OTEL_SERVICE_NAME" example:"ginseng"`
	ResourceAttributes string   `mapstructure:"OTEL_RESOURCE_ATTRIBUTES" example:"deployment.environment.name=staging"`
	Sampler            string   `mapstructure:"OTEL_TRACES_SAMPLER" default:"parentbased_always_on" validate:"oneof=always_on always_off traceidratio parentbased_always_on parentbased_always_off parentbased_traceidratio"`
	SamplerArg         string   `mapstructure:"OTEL_TRACES_SAMPLER_ARG" example:"0.1"`
	Propagators        []string `mapstructure:"OTEL_PROPAGATORS" default:"tracecontext"`
	BatchDelay         int      `mapstructure:"OTEL_BSP_SCHEDULE_DELAY" default:"5000" validate:"min=1,max=600000"`
	BatchTimeout       int      `mapstructure:"OTEL_BSP_EXPORT_TIMEOUT" default:"30000" validate:"min=1,max=600000"`
	QueueSize          int      `mapstructure:"OTEL_BSP_MAX_QUEUE_SIZE" default:"2048" validate:"min=1,max=1000000"`
	BatchSize          int      `mapstructure:"OTEL_BSP_MAX_EXPORT_BATCH_SIZE" default:"512" validate:"min=1,max=1000000"`
}

// The values of OTEL_TRACES_EXPORTER.
const (
	exporterOTLP    = "otlp"
	exporterConsole = "console"
	exporterNone    = "none"
)

const (
	httpProtobuf    = "http/protobuf"
	defaultEndpoint = "http://localhost:4318" // where a collector listens
	tracesPath      = "/v1/traces"
)

// on reports whether there is somebody to take traces.
func (c Settings) on() bool {
	return !c.Disabled && c.Exporter != exporterNone && (c.Exporter != "" || c.Endpoint != "" || c.TracesEndpoint != "")
}

// Check implements settings.Checker.
func (c *Settings) Check(report func(name, reason string)) {
	for _, pair := range []struct{ name, value string }{
		{"OTEL_EXPORTER_OTLP_ENDPOINT", c.Endpoint}, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", c.TracesEndpoint},
	} {
		if u, err := url.Parse(pair.value); pair.value != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "") {
			report(pair.name, "must be an address that begins with http:// or https://, for example "+pair.name+"="+defaultEndpoint)
		}
	}
	for _, pair := range []struct{ name, value string }{
		{"OTEL_EXPORTER_OTLP_PROTOCOL", c.Protocol}, {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", c.TracesProtocol},
	} {
		if pair.value != "" && pair.value != httpProtobuf {
			report(pair.name, "must be "+httpProtobuf+", the one that this service speaks; collectors take it beside gRPC, at port 4318")
		}
	}
	for _, pair := range []struct{ name, value string }{
		{"OTEL_EXPORTER_OTLP_HEADERS", c.Headers}, {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", c.TracesHeaders},
	} {
		if _, err := headers(pair.value); err != nil {
			report(pair.name, err.Error()+", for example "+pair.name+"=api-key=xxxxxxxx")
		}
	}
	for _, pair := range []struct{ name, value string }{
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", c.Certificate}, {"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", c.TracesCertificate},
	} {
		if _, err := roots(pair.value); err != nil {
			report(pair.name, "must be a file of certificates in PEM: "+err.Error())
		}
	}
	if _, err := attributes(c.ResourceAttributes); err != nil {
		report("OTEL_RESOURCE_ATTRIBUTES", err.Error()+", for example OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=staging")
	}
	if _, err := c.ratio(); err != nil {
		report("OTEL_TRACES_SAMPLER_ARG", "must be a number from 0 to 1, for example OTEL_TRACES_SAMPLER_ARG=0.1")
	}
	if slices.ContainsFunc(c.Propagators, func(p string) bool { return p != "tracecontext" && p != "baggage" && p != "none" }) {
		report("OTEL_PROPAGATORS", "must be tracecontext or none (baggage may be listed), for example OTEL_PROPAGATORS=tracecontext")
	}
	if c.BatchSize > c.QueueSize {
		report("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "must not be larger than OTEL_BSP_MAX_QUEUE_SIZE")
	}
}

// endpoint is where traces go: TracesEndpoint as it is, Endpoint with the path of traces added.
func (c Settings) endpoint() string {
	if c.TracesEndpoint != "" {
		return c.TracesEndpoint
	}
	u, _ := url.Parse(cmp.Or(c.Endpoint, defaultEndpoint)) // Check has looked
	return u.JoinPath(tracesPath).String()
}

func (c Settings) timeout() time.Duration {
	return milliseconds(cmp.Or(c.TracesTimeout, c.Timeout))
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// pairs reads a list of names and values, percent-encoded, with = between them and commas between the pairs (W3C
// Baggage section 3.3.1). Its errors quote nothing: a value may be a key.
func pairs(text string, valid func(name, value string) bool) (map[string]string, error) {
	out := make(map[string]string)
	for pair := range strings.SplitSeq(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || err != nil || !valid(name, value) {
			return nil, fmt.Errorf("must list name=value, comma-separated, with %%2C for a comma and %%25 for a percent sign in a value")
		}
		out[name] = value
	}
	return out, nil
}

// headers are those that go with each call.
func headers(text string) (map[string]string, error) {
	return pairs(text, func(name, value string) bool {
		return httpguts.ValidHeaderFieldName(name) && httpguts.ValidHeaderFieldValue(value)
	})
}

// attributes are those of the resource.
func attributes(text string) ([]attribute.KeyValue, error) {
	named, err := pairs(text, func(name, _ string) bool { return name != "" })
	var out []attribute.KeyValue
	for name, value := range named {
		out = append(out, attribute.String(name, value))
	}
	return out, err
}

// roots are the certificates of a file; nil, those of the system, without one.
func roots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds none", file)
	}
	return pool, nil
}

// ratio is OTEL_TRACES_SAMPLER_ARG, where the sampler takes one.
func (c Settings) ratio() (float64, error) {
	if c.SamplerArg == "" || !strings.HasSuffix(c.Sampler, "traceidratio") {
		return 1, nil
	}
	ratio, err := strconv.ParseFloat(c.SamplerArg, 64)
	if err == nil && !(ratio >= 0 && ratio <= 1) {
		err = strconv.ErrRange
	}
	return ratio, err
}

func (c Settings) sampler() sdktrace.Sampler {
	ratio, _ := c.ratio() // Check has looked
	root := map[string]sdktrace.Sampler{
		"always_on": sdktrace.AlwaysSample(), "always_off": sdktrace.NeverSample(), "traceidratio": sdktrace.TraceIDRatioBased(ratio),
	}
	name, basedOnParent := strings.CutPrefix(cmp.Or(c.Sampler, "parentbased_always_on"), "parentbased_")
	if basedOnParent {
		return sdktrace.ParentBased(root[name])
	}
	return root[name]
}

// propagator reads no baggage: nothing here uses it, and OpenTelemetry prints a client's header that it cannot parse.
func (c Settings) propagator() propagation.TextMapPropagator {
	if slices.Contains(c.Propagators, "tracecontext") {
		return propagation.TraceContext{}
	}
	return propagation.NewCompositeTextMapPropagator()
}

// httpClient is how calls reach the receiver: by the system's proxy, and to nobody else.
func (c Settings) httpClient() (*http.Client, error) {
	pool, err := roots(cmp.Or(c.TracesCertificate, c.Certificate))
	if err != nil {
		return nil, err
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	if pool != nil {
		base.TLSClientConfig.RootCAs = pool
	}
	return &http.Client{
		Transport:     base,
		Timeout:       c.timeout(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the headers are for nobody else
	}, nil
}
