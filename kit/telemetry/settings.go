package telemetry

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"os"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Settings are the standard environment variables of OpenTelemetry for traces. OpenTelemetry itself reads those of the resource, the
// sampler and the batches from the environment. Settings declares the variables so that they are documented, and validated at startup.
// A variable with TRACES in its name takes precedence over the same variable without TRACES. Times are in milliseconds.
type Settings struct {
	Disabled                bool     `mapstructure:"OTEL_SDK_DISABLED" default:"false"`
	Exporter                string   `mapstructure:"OTEL_TRACES_EXPORTER" validate:"omitempty,oneof=otlp console none" example:"otlp"`
	Endpoint                string   `mapstructure:"OTEL_EXPORTER_OTLP_ENDPOINT" validate:"omitempty,http_url" example:"http://localhost:4318"`
	TracesEndpoint          string   `mapstructure:"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" validate:"omitempty,http_url" example:"http://localhost:4318/v1/traces"`
	Protocol                string   `mapstructure:"OTEL_EXPORTER_OTLP_PROTOCOL" default:"http/protobuf"`
	TracesProtocol          string   `mapstructure:"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL" example:"http/protobuf"`
	Headers                 string   `mapstructure:"OTEL_EXPORTER_OTLP_HEADERS" example:"api-key=xxxxxxxx"`
	TracesHeaders           string   `mapstructure:"OTEL_EXPORTER_OTLP_TRACES_HEADERS" example:"api-key=xxxxxxxx"`
	Timeout                 int      `mapstructure:"OTEL_EXPORTER_OTLP_TIMEOUT" default:"10000" validate:"min=1,max=600000"`
	TracesTimeout           int      `mapstructure:"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT" validate:"omitempty,min=1,max=600000" example:"10000"`
	Compression             string   `mapstructure:"OTEL_EXPORTER_OTLP_COMPRESSION" default:"none" validate:"oneof=gzip none"`
	TracesCompression       string   `mapstructure:"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION" validate:"omitempty,oneof=gzip none" example:"gzip"`
	Certificate             string   `mapstructure:"OTEL_EXPORTER_OTLP_CERTIFICATE" validate:"omitempty,file" example:"/etc/ssl/collector.pem"`
	TracesCertificate       string   `mapstructure:"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE" validate:"omitempty,file" example:"/etc/ssl/collector.pem"`
	ClientCertificate       string   `mapstructure:"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE" validate:"omitempty,file" example:"/etc/ssl/client.pem"`
	TracesClientCertificate string   `mapstructure:"OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE" validate:"omitempty,file" example:"/etc/ssl/client.pem"`
	ClientKey               string   `mapstructure:"OTEL_EXPORTER_OTLP_CLIENT_KEY" validate:"omitempty,file" example:"/etc/ssl/client.key"`
	TracesClientKey         string   `mapstructure:"OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY" validate:"omitempty,file" example:"/etc/ssl/client.key"`
	ServiceName             string   `mapstructure:"OTEL_SERVICE_NAME" example:"ginseng"`
	ResourceAttributes      string   `mapstructure:"OTEL_RESOURCE_ATTRIBUTES" example:"deployment.environment.name=staging"`
	Sampler                 string   `mapstructure:"OTEL_TRACES_SAMPLER" default:"parentbased_always_on" validate:"oneof=always_on always_off traceidratio parentbased_always_on parentbased_always_off parentbased_traceidratio"`
	SamplerArg              string   `mapstructure:"OTEL_TRACES_SAMPLER_ARG" example:"0.1"`
	Propagators             []string `mapstructure:"OTEL_PROPAGATORS" default:"tracecontext" validate:"dive,oneof=tracecontext baggage none"`
	BatchDelay              int      `mapstructure:"OTEL_BSP_SCHEDULE_DELAY" default:"5000" validate:"min=1,max=600000"`
	BatchTimeout            int      `mapstructure:"OTEL_BSP_EXPORT_TIMEOUT" default:"30000" validate:"min=1,max=600000"`
	QueueSize               int      `mapstructure:"OTEL_BSP_MAX_QUEUE_SIZE" default:"2048" validate:"min=1,max=1000000"`
	BatchSize               int      `mapstructure:"OTEL_BSP_MAX_EXPORT_BATCH_SIZE" default:"512" validate:"min=1,max=1000000,ltefield=QueueSize"`
}

// enabled reports whether traces are configured.
func (s Settings) enabled() bool {
	return !s.Disabled && s.Exporter != "none" && (s.Exporter != "" || s.Endpoint != "" || s.TracesEndpoint != "")
}

// clientCertificate returns the files with the client certificate and its key.
func (s Settings) clientCertificate() (certificate, key string) {
	return cmp.Or(s.TracesClientCertificate, s.ClientCertificate), cmp.Or(s.TracesClientKey, s.ClientKey)
}

// Check implements settings.Checker. It reports mistakes that OpenTelemetry would ignore. OpenTelemetry would also log invalid
// headers with their values, which can be secrets.
func (s *Settings) Check(report func(name, reason string)) {
	header := func(name, value string) bool {
		return httpguts.ValidHeaderFieldName(name) && httpguts.ValidHeaderFieldValue(value)
	}
	attribute := func(name, _ string) bool { return name != "" }
	for _, list := range []struct {
		name, value string
		valid       func(name, value string) bool
	}{
		{"OTEL_EXPORTER_OTLP_HEADERS", s.Headers, header},
		{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", s.TracesHeaders, header},
		{"OTEL_RESOURCE_ATTRIBUTES", s.ResourceAttributes, attribute},
	} {
		if !validPairs(list.value, list.valid) {
			report(list.name, "must be a comma-separated list of NAME=VALUE pairs with percent-encoded values")
		}
	}
	for name, protocol := range map[string]string{
		"OTEL_EXPORTER_OTLP_PROTOCOL":        s.Protocol,
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": s.TracesProtocol,
	} {
		if protocol != "" && protocol != "http/protobuf" {
			report(name, "must be http/protobuf; set the endpoint to the collector's port for HTTP, usually 4318")
		}
	}
	for name, file := range map[string]string{
		"OTEL_EXPORTER_OTLP_CERTIFICATE":        s.Certificate,
		"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": s.TracesCertificate,
	} {
		if pem, err := os.ReadFile(file); err == nil && !x509.NewCertPool().AppendCertsFromPEM(pem) {
			report(name, "must be a file with CA certificates in PEM form")
		}
	}
	certificate, key := s.clientCertificate()
	if _, err := tls.LoadX509KeyPair(certificate, key); certificate+key != "" && err != nil {
		report("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "must be a file with a certificate in PEM form, with the key in the file OTEL_EXPORTER_OTLP_CLIENT_KEY")
	}
	ratio, err := strconv.ParseFloat(s.SamplerArg, 64)
	if s.SamplerArg != "" && strings.HasSuffix(s.Sampler, "traceidratio") && (err != nil || !(ratio >= 0 && ratio <= 1)) {
		report("OTEL_TRACES_SAMPLER_ARG", "must be a number from 0 to 1")
	}
}

// validPairs reports whether list consists of comma-separated, percent-encoded pairs NAME=VALUE (W3C Baggage, section 3.3.1),
// and valid returns true for each pair. An empty list is valid.
func validPairs(list string, valid func(name, value string) bool) bool {
	if list == "" {
		return true
	}
	for pair := range strings.SplitSeq(list, ",") {
		name, value, found := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || err != nil || !valid(strings.TrimSpace(name), value) {
			return false
		}
	}
	return true
}
