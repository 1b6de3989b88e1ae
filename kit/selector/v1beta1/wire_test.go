package v1beta1

import (
	"bytes"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// text appends a string or bytes field.
func text(message []byte, number protowire.Number, content string) []byte {
	return protowire.AppendString(protowire.AppendTag(message, number, protowire.BytesType), content)
}

// entry appends a label.
func entry(message []byte, key, value string) []byte {
	return text(message, 1, string(text(text(nil, 1, key), 2, value)))
}

// varint appends a varint field.
func varint(message []byte, number protowire.Number) []byte {
	return protowire.AppendVarint(protowire.AppendTag(message, number, protowire.VarintType), 7)
}

func TestFromBinary(t *testing.T) {
	t.Parallel()
	app := slices.Clip(entry(nil, "app", "x"))
	tests := []struct {
		name   string
		data   []byte
		labels map[string]string
		want   []string // path and code
	}{
		{name: "one label", data: app, labels: map[string]string{"app": "x"}},
		{name: "two labels", data: entry(app, "b", ""), labels: map[string]string{"app": "x", "b": ""}},
		{name: "the last of two values", data: entry(app, "app", "y"), labels: map[string]string{"app": "y"}},
		{name: "value before key", data: text(nil, 1, string(text(text(nil, 2, "x"), 1, "app"))),
			labels: map[string]string{"app": "x"}},
		{name: "no value is an empty one", data: text(nil, 1, string(text(nil, 1, "app"))),
			labels: map[string]string{"app": ""}},
		{name: "an invalid value, then a valid one", data: entry(entry(nil, "app", "*"), "app", "x"),
			labels: map[string]string{"app": "x"}},

		{name: "nothing", data: nil, want: []string{"matchLabels required"}},
		{name: "no key is an empty one", data: text(nil, 1, ""), want: []string{`matchLabels[""] format`}},
		{name: "invalid labels", data: entry(entry(nil, "b", "*"), "a b", ""),
			want: []string{`matchLabels["a b"] format`, `matchLabels["b"] wildcard`}},
		{name: "text that is not UTF-8", data: entry(nil, "app", "\xff"), want: []string{`matchLabels["app"] format`}},
		{name: "an unknown field", data: text(app, 2, "x"), want: []string{"2 format"}},
		{name: "unknown fields and no label", data: varint(varint(varint(nil, 20), 3), 20),
			want: []string{"20 format", "3 format", "matchLabels required"}},
		{name: "field 1 of another type", data: varint(app, 1), want: []string{"1 format"}},
		{name: "an unknown field in an entry", data: text(nil, 1, string(varint(text(nil, 1, "app"), 3))),
			want: []string{`matchLabels["app"] format`}},
		{name: "a key of another type", data: text(nil, 1, string(varint(text(nil, 1, "app"), 1))),
			want: []string{`matchLabels["app"] format`}},
		{name: "cut short", data: app[:len(app)-1], want: []string{" format"}},
		{name: "an entry cut short", data: text(nil, 1, "\x0a\x05app"), want: []string{" format"}},
		{name: "not a message", data: []byte("{}"), want: []string{" format"}},
		{name: "groups without end", data: bytes.Repeat([]byte{0x0b}, 1e5), want: []string{" format"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			selector, err := FromBinary(test.data)
			if got := problems(t, err); !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
			if want := selectorOf(test.labels); !proto.Equal(selector, want) {
				t.Errorf("read as %v, want %v", selector, want)
			}
		})
	}
}

// FuzzFromBinary compares accepted bytes with protobuf: both read the same message, without unknown fields, and FromBinary
// reads what protobuf writes.
func FuzzFromBinary(f *testing.F) {
	for _, seed := range [][]byte{
		nil, entry(nil, "app", "x"), entry(entry(nil, "app", "x"), "app", "*"), varint(entry(nil, "app", "x"), 2),
		text(nil, 1, string(varint(nil, 3))), text(nil, 1, "\x0a\x05app"), bytes.Repeat([]byte{0x0b}, 9),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		selector, err := FromBinary(data)
		if err != nil {
			problems(t, err)
			return
		}
		var peer WorkloadSelector
		if err := proto.Unmarshal(data, &peer); err != nil || !proto.Equal(&peer, selector) {
			t.Fatalf("%q: read as %v, by protobuf as %v, %v", data, selector, &peer, err)
		}
		if err := Validate(&peer); err != nil {
			t.Fatalf("%q is accepted: %v", data, err)
		}
		written, err := proto.Marshal(selector)
		if err != nil {
			t.Fatal(err)
		}
		again, err := FromBinary(written)
		if err != nil || !proto.Equal(again, selector) {
			t.Fatalf("%q: read as %v, %v", written, again, err)
		}
	})
}
