package telemetry

import (
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Transport is base with a span for every call that goes out, from the request to the header of its answer. The call
// bears the trace's id; what our own clients sent along with theirs (tracestate, baggage) is nobody else's business.
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

// traceParent is the header that names a trace (W3C Trace Context section 3.2).
const traceParent = "traceparent"

// RoundTrip implements http.RoundTripper. The span tells whom it calls and not what for: in path and query there are
// tokens.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	method := known(r.Method)
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
	answer, err := t.base.RoundTrip(r)
	if err != nil {
		span.SetAttributes(semconv.ErrorType(err)) // the name of its type
		span.SetStatus(codes.Error, "")
		return answer, err
	}
	span.SetAttributes(semconv.HTTPResponseStatusCode(answer.StatusCode))
	if answer.StatusCode >= http.StatusBadRequest {
		span.SetAttributes(semconv.ErrorTypeKey.String(strconv.Itoa(answer.StatusCode)))
		span.SetStatus(codes.Error, "")
	}
	return answer, nil
}
