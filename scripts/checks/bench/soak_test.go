package main

import (
	"io"
	"strings"
	"testing"

	"example.com/ginseng/internal/resilience"
)

// TestEvaluate checks that each failure of a soak is reported.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	flat := sampled{memory: 100 << 20, files: 20, perSecond: 1}
	for name, test := range map[string]struct {
		last    sampled
		verdict resilience.Verdict
		want    string // part of the error; "" for none
	}{
		"flat":       {flat, resilience.Verdict{}, ""},
		"memory":     {sampled{memory: 111 << 20, files: 20}, resilience.Verdict{}, "memory grows"},
		"files":      {sampled{memory: 100 << 20, files: 30}, resilience.Verdict{}, "open files grow"},
		"failures":   {sampled{memory: 100 << 20, files: 20, failed: 1}, resilience.Verdict{}, "1 requests failed"},
		"wrong data": {flat, resilience.Verdict{Wrong: []string{"lost"}}, "lost"},
	} {
		err := evaluate([]sampled{flat, flat, test.last}, test.verdict, io.Discard)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := evaluate([]sampled{flat, flat}, resilience.Verdict{}, io.Discard); err == nil {
		t.Error("two samples are accepted")
	}
}
