package telemetry

import (
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Transport returns base with a span for each outgoing request. Requests get the header traceparent; tracestate and
// baggage of our own clients are not forwarded.
func (o *Observer) Transport(base http.RoundTripper) http.RoundTripper {
	if o == nil || o.traces == nil {
		return base
	}
	return transport{base, o.traces}
}

type transport struct {
	base   http.RoundTripper
	traces *traces
}

// traceParent is a header of W3C Trace Context, section 3.2.
const traceParent = "traceparent"

// RoundTrip implements http.RoundTripper. The span has the host but not the path and query, which can contain tokens.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	method := knownMethod(r.Method)
	ctx, span := t.traces.Start(r.Context(), method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		semconv.HTTPRequestMethodKey.String(method), semconv.ServerAddress(r.URL.Hostname()),
	))
	defer span.End()
	r = r.Clone(ctx)
	carrier := propagation.MapCarrier{}
	t.traces.propagator.Inject(ctx, carrier)
	if parent := carrier[traceParent]; parent != "" {
		r.Header.Set(traceParent, parent)
	}
	response, err := t.base.RoundTrip(r)
	if err != nil {
		span.SetAttributes(semconv.ErrorType(err)) // the name of its type
		span.SetStatus(codes.Error, "")
		return response, err
	}
	span.SetAttributes(semconv.HTTPResponseStatusCode(response.StatusCode))
	if response.StatusCode >= http.StatusBadRequest {
		span.SetAttributes(semconv.ErrorTypeKey.String(strconv.Itoa(response.StatusCode)))
		span.SetStatus(codes.Error, "")
	}
	return response, nil
}
