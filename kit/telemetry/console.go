package telemetry

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// console prints each span as JSON on a line, for whoever develops.
type console struct{ out io.Writer }

type printedSpan struct {
	TraceID    string         `json:"traceId"`
	SpanID     string         `json:"spanId"`
	ParentID   string         `json:"parentSpanId,omitempty"`
	Name       string         `json:"name"`
	Start      time.Time      `json:"start"`
	Duration   string         `json:"duration"`
	Failed     bool           `json:"failed,omitempty"`
	Attributes map[string]any `json:"attributes,omitempty"`
	Links      []string       `json:"links,omitempty"` // to traces
}

// ExportSpans implements sdktrace.SpanExporter.
func (c console) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	enc := json.NewEncoder(c.out)
	for _, s := range spans {
		line := printedSpan{
			TraceID: s.SpanContext().TraceID().String(), SpanID: s.SpanContext().SpanID().String(), Name: s.Name(), Start: s.StartTime(),
			Duration: s.EndTime().Sub(s.StartTime()).String(), Failed: s.Status().Code == codes.Error, Attributes: make(map[string]any),
		}
		if s.Parent().IsValid() {
			line.ParentID = s.Parent().SpanID().String()
		}
		for _, a := range s.Attributes() {
			line.Attributes[string(a.Key)] = a.Value.AsInterface()
		}
		for _, l := range s.Links() {
			line.Links = append(line.Links, l.SpanContext.TraceID().String())
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (console) Shutdown(context.Context) error { return nil }
