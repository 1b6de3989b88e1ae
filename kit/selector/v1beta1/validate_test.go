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
	x := strings.Repeat
	checkLabels(t, map[string][]string{
		"": {
			"simple", "now-with-dashes", "1-starts-with-num", "1234", "simple/simple", "now-with-dashes/simple", "now.with.dots/simple",
			"1-num.2-num/3-num", "1234/5678", "1.2.3.4/5678", "Uppercase_Is_OK_123", "example.com/Uppercase_Is_OK_123", "a", "a..b",
			x("a", 63), x("a", 253) + "/" + x("b", 63),
		},
		CodeFormat: {
			"", "/", "/simple", "prefix/", "only/one/slash", "Example.com/abc", "example_com/abc", ".example.com/abc", "example.com./abc",
			"example..com/abc", "-example.com/abc", "example-.com/abc", "example.-com/abc", "example-/abc", "key_", "_key", "-key", "key.",
			"a b", " a", "a\n", "a\x00", "a:b", "a@b", "a[b", "a`b", "a{b", "é", "é/a", "\xff",
		},
		CodeMaxLength:                       {x("a", 64), x("a", 254) + "/b"},
		CodeMaxLength + " " + CodeMaxLength: {x("a", 254) + "/" + x("b", 64)},
		CodeFormat + " " + CodeMaxLength:    {x("-", 64)},
		CodeWildcard:                        {"*", "a*b", "*.example.com/a", "example.com/*"},
		CodeMaxLength + " " + CodeWildcard:  {x("*", 64)},
	}, func(key string) (map[string]string, string) { return map[string]string{key: ""}, key })
}

func TestValidateValue(t *testing.T) {
	t.Parallel()
	x := strings.Repeat
	checkLabels(t, map[string][]string{
		"":                               {"", "simple", "123_-.BaR", "a..b", "a--b", "1", x("a", 63)},
		CodeFormat:                       {x("é", 31), "-x", "x-", "_", ".", "bad,value", "bad/value", " ", "x\n", "\xff"},
		CodeMaxLength:                    {x("a", 64)},
		CodeFormat + " " + CodeMaxLength: {x("é", 32)},
		CodeWildcard:                     {"*", "v1*", "v1 *"},
	}, func(value string) (map[string]string, string) { return map[string]string{"key": value}, "key" })
}

// checkLabels checks the codes of the violations of labels that only differ in one string. inputs are these strings by code, or
// by codes separated by a space. labels returns the labels with a string, and their key.
func checkLabels(t *testing.T, inputs map[string][]string, labels func(input string) (map[string]string, string)) {
	t.Helper()
	for codes, inputs := range inputs {
		for _, input := range inputs {
			all, key := labels(input)
			var want []string
			for code := range strings.FieldsSeq(codes) {
				want = append(want, fmt.Sprintf("matchLabels[%q] %s", key, code))
			}
			if got := problems(t, Validate(&WorkloadSelector{MatchLabels: all})); !slices.Equal(got, want) {
				t.Errorf("%q: %q, want %q", input, got, want)
			}
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
