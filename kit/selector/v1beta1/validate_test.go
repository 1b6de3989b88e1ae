package v1beta1

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// problems returns path and code of each violation of err, which must be nil or an *InvalidError with messages.
func problems(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var invalid *InvalidError
	if !errors.As(err, &invalid) || len(invalid.Violations) == 0 {
		t.Fatalf("the error is %v, want an *InvalidError with violations", err)
	}
	var all []string
	for _, v := range invalid.Violations {
		if v.Message == "" || !strings.Contains(err.Error(), v.Message) {
			t.Errorf("the text %q lacks the message %q of %q", err, v.Message, v.Path)
		}
		all = append(all, v.Path+" "+v.Code)
	}
	return all
}

func TestValidateKey(t *testing.T) {
	t.Parallel()
	tests := []struct {
		key  string
		want []string // codes
	}{
		{"simple", nil},
		{"now-with-dashes", nil},
		{"1-starts-with-num", nil},
		{"1234", nil},
		{"simple/simple", nil},
		{"now-with-dashes/simple", nil},
		{"now.with.dots/simple", nil},
		{"1-num.2-num/3-num", nil},
		{"1234/5678", nil},
		{"1.2.3.4/5678", nil},
		{"Uppercase_Is_OK_123", nil},
		{"example.com/Uppercase_Is_OK_123", nil},
		{"a", nil},
		{"a..b", nil},
		{strings.Repeat("a", 63), nil},
		{strings.Repeat("a", 253) + "/" + strings.Repeat("b", 63), nil},

		{"", []string{CodeFormat}},
		{"/", []string{CodeFormat}},
		{"/simple", []string{CodeFormat}},
		{"prefix/", []string{CodeFormat}},
		{"only/one/slash", []string{CodeFormat}},
		{"Example.com/abc", []string{CodeFormat}},
		{"example_com/abc", []string{CodeFormat}},
		{".example.com/abc", []string{CodeFormat}},
		{"example.com./abc", []string{CodeFormat}},
		{"example..com/abc", []string{CodeFormat}},
		{"-example.com/abc", []string{CodeFormat}},
		{"example-.com/abc", []string{CodeFormat}},
		{"example.-com/abc", []string{CodeFormat}},
		{"example-/abc", []string{CodeFormat}},
		{"key_", []string{CodeFormat}},
		{"_key", []string{CodeFormat}},
		{"-key", []string{CodeFormat}},
		{"key.", []string{CodeFormat}},
		{"a b", []string{CodeFormat}},
		{" a", []string{CodeFormat}},
		{"a\n", []string{CodeFormat}},
		{"a\x00", []string{CodeFormat}},
		{"a:b", []string{CodeFormat}},
		{"a@b", []string{CodeFormat}},
		{"a[b", []string{CodeFormat}},
		{"a`b", []string{CodeFormat}},
		{"a{b", []string{CodeFormat}},
		{"é", []string{CodeFormat}},
		{"é/a", []string{CodeFormat}},
		{"\xff", []string{CodeFormat}},
		{strings.Repeat("a", 64), []string{CodeMaxLength}},
		{strings.Repeat("a", 254) + "/b", []string{CodeMaxLength}},
		{strings.Repeat("a", 254) + "/" + strings.Repeat("b", 64), []string{CodeMaxLength, CodeMaxLength}},
		{strings.Repeat("-", 64), []string{CodeFormat, CodeMaxLength}},
		{"*", []string{CodeWildcard}},
		{"a*b", []string{CodeWildcard}},
		{"*.example.com/a", []string{CodeWildcard}},
		{"example.com/*", []string{CodeWildcard}},
		{strings.Repeat("*", 64), []string{CodeMaxLength, CodeWildcard}},
	}
	for _, test := range tests {
		err := Validate(&WorkloadSelector{MatchLabels: map[string]string{test.key: ""}})
		var want []string
		for _, code := range test.want {
			want = append(want, fmt.Sprintf("matchLabels[%q] %s", test.key, code))
		}
		if got := problems(t, err); !slices.Equal(got, want) {
			t.Errorf("key %q: %q, want %q", test.key, got, want)
		}
	}
}

func TestValidateValue(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value string
		want  []string // codes
	}{
		{"", nil},
		{"simple", nil},
		{"123_-.BaR", nil},
		{"a..b", nil},
		{"a--b", nil},
		{"1", nil},
		{strings.Repeat("a", 63), nil},

		{strings.Repeat("a", 64), []string{CodeMaxLength}},
		{strings.Repeat("é", 31), []string{CodeFormat}},
		{strings.Repeat("é", 32), []string{CodeFormat, CodeMaxLength}},
		{"-x", []string{CodeFormat}},
		{"x-", []string{CodeFormat}},
		{"_", []string{CodeFormat}},
		{".", []string{CodeFormat}},
		{"bad,value", []string{CodeFormat}},
		{"bad/value", []string{CodeFormat}},
		{" ", []string{CodeFormat}},
		{"x\n", []string{CodeFormat}},
		{"\xff", []string{CodeFormat}},
		{"*", []string{CodeWildcard}},
		{"v1*", []string{CodeWildcard}},
		{"v1 *", []string{CodeWildcard}},
	}
	for _, test := range tests {
		err := Validate(&WorkloadSelector{MatchLabels: map[string]string{"key": test.value}})
		var want []string
		for _, code := range test.want {
			want = append(want, `matchLabels["key"] `+code)
		}
		if got := problems(t, err); !slices.Equal(got, want) {
			t.Errorf("value %q: %q, want %q", test.value, got, want)
		}
	}
}

func TestValidateCount(t *testing.T) {
	t.Parallel()
	labels := make(map[string]string)
	for i := range MaxLabels {
		labels[fmt.Sprint("key-", i)] = ""
	}
	if err := Validate(&WorkloadSelector{MatchLabels: labels}); err != nil {
		t.Errorf("%d labels: %v", len(labels), err)
	}
	labels["one.more/*"] = ""
	want := []string{"matchLabels max", `matchLabels["one.more/*"] wildcard`}
	if got := problems(t, Validate(&WorkloadSelector{MatchLabels: labels})); !slices.Equal(got, want) {
		t.Errorf("%d labels: %q, want %q", len(labels), got, want)
	}
	for _, selector := range []*WorkloadSelector{nil, {}, {MatchLabels: map[string]string{}}} {
		want := []string{"matchLabels required"}
		if got := problems(t, Validate(selector)); !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", selector, got, want)
		}
	}
}

func TestValidateReportsAllInOrder(t *testing.T) {
	t.Parallel()
	selector := &WorkloadSelector{MatchLabels: map[string]string{
		"b": "*", "a b": "x", "a": "-", "a!": "*", "": "", "ok": "ok", "c*": strings.Repeat("-", 64),
	}}
	want := []string{
		`matchLabels[""] format`,
		`matchLabels["a"] format`, // by key: in the order of paths, the quotation mark would put it after "a b"
		`matchLabels["a b"] format`,
		`matchLabels["a!"] format`,
		`matchLabels["a!"] wildcard`,
		`matchLabels["b"] wildcard`,
		`matchLabels["c*"] format`,
		`matchLabels["c*"] max_length`,
		`matchLabels["c*"] wildcard`,
	}
	for range 20 { // the order of a map changes
		if got := problems(t, Validate(selector)); !slices.Equal(got, want) {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	}
}

func TestValidateRejectsUnknownFields(t *testing.T) {
	t.Parallel()
	selector := &WorkloadSelector{MatchLabels: map[string]string{"app": "a"}}
	selector.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), 1))
	if got, want := problems(t, Validate(selector)), []string{" format"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestInvalidErrorUnder(t *testing.T) {
	t.Parallel()
	invalid := &InvalidError{[]Violation{{"", CodeFormat, "Whole."}, {`matchLabels["a b"]`, CodeFormat, "Key."}}}
	got := invalid.Under("selector")
	want := []Violation{{"selector", CodeFormat, "Whole."}, {`selector.matchLabels["a b"]`, CodeFormat, "Key."}}
	if !slices.Equal(got, want) {
		t.Errorf("Under = %v, want %v", got, want)
	}
	if text := `invalid workload selector: Whole.; matchLabels["a b"]: Key.`; invalid.Error() != text {
		t.Errorf("Error = %s, want %s", invalid, text)
	}
}
