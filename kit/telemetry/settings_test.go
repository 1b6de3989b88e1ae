package telemetry

import (
	"errors"
	"slices"
	"testing"

	"example.com/ginseng/kit/settings"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	valid := Settings{
		Protocol: "http/protobuf", Timeout: 1, Compression: "none", Sampler: "always_on", Propagators: []string{"none"},
		BatchDelay: 1, BatchTimeout: 1, QueueSize: 1, BatchSize: 1,
	}
	for name, change := range map[string]func(*Settings){
		"":                                      func(s *Settings) { s.Headers, s.ResourceAttributes = "a=b, c=%2C", "name with spaces=x" },
		"OTEL_EXPORTER_OTLP_HEADERS":            func(s *Settings) { s.Headers = "api key=x" },
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS":     func(s *Settings) { s.TracesHeaders = "k=v%0aX" },
		"OTEL_RESOURCE_ATTRIBUTES":              func(s *Settings) { s.ResourceAttributes = "=x" },
		"OTEL_EXPORTER_OTLP_PROTOCOL":           func(s *Settings) { s.Protocol = "grpc" },
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL":    func(s *Settings) { s.TracesProtocol = "http/json" },
		"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT":     func(s *Settings) { s.TracesTimeout = -1 },
		"OTEL_EXPORTER_OTLP_CERTIFICATE":        func(s *Settings) { s.Certificate = "settings_test.go" },
		"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": func(s *Settings) { s.TracesCertificate = "settings_test.go" },
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": func(s *Settings) { s.ClientCertificate, s.TracesClientKey = "settings_test.go", "settings_test.go" },
		"OTEL_TRACES_SAMPLER_ARG":               func(s *Settings) { s.Sampler, s.SamplerArg = "traceidratio", "2" },
	} {
		s := valid
		change(&s)
		var names []string
		var invalid *settings.Invalid
		if errors.As(settings.Validate(&s), &invalid) {
			for _, p := range invalid.Problems {
				names = append(names, p.Name)
			}
		}
		if want := slices.DeleteFunc([]string{name}, func(n string) bool { return n == "" }); !slices.Equal(names, want) {
			t.Errorf("problems with %v, want %v", names, want)
		}
	}
}
