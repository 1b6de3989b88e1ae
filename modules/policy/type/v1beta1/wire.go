package v1beta1

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of the fields: of the message, and of an entry of its map as protobuf defines it.
const (
	fieldMatchLabels protowire.Number = 1
	fieldKey         protowire.Number = 1
	fieldValue       protowire.Number = 2
)

// FromBinary reads a selector from its protobuf form. It is strict: unknown fields are refused, in the message and in
// the entries of its map, where protobuf itself drops them. Of a key that comes twice the last value wins, as protobuf
// has it. The error is an *InvalidError with all violations, those of Validate among them.
func FromBinary(data []byte) (*WorkloadSelector, error) {
	var f faults
	return f.selector(f.readBinary(data))
}

// readBinary reads and checks the labels of a message.
func (f *faults) readBinary(data []byte) map[string]string {
	labels := make(map[string]string)
	sound := eachField(data, func(number protowire.Number, text []byte, isText bool) bool {
		if number == fieldMatchLabels && isText {
			return f.readEntry(text, labels)
		}
		f.inField(strconv.Itoa(int(number)), CodeFormat, "The selector has no such field.")
		return true
	})
	if !sound {
		f.inField("", CodeFormat, "The selector must be a protobuf message.")
		return nil
	}
	f.labels(labels)
	return labels
}

// readEntry reads an entry of the map into labels; it is false for bytes that are not a message.
func (f *faults) readEntry(data []byte, labels map[string]string) bool {
	var key, value string
	known := true
	sound := eachField(data, func(number protowire.Number, text []byte, isText bool) bool {
		switch {
		case number == fieldKey && isText:
			key = string(text)
		case number == fieldValue && isText:
			value = string(text)
		default:
			known = false
		}
		return true
	})
	if !known {
		f.inLabel(key, CodeFormat, "A label has a key and a value, and no other field.")
	}
	labels[key] = value
	return sound
}

// eachField visits the fields of a protobuf message, as long as visit returns true. It is false if visit was, or if the
// bytes are not a message.
func eachField(data []byte, visit func(number protowire.Number, text []byte, isText bool) bool) bool {
	for len(data) > 0 {
		number, kind, size := protowire.ConsumeField(data)
		if size < 0 {
			return false
		}
		_, _, tag := protowire.ConsumeTag(data)
		text, _ := protowire.ConsumeBytes(data[tag:size])
		if !visit(number, text, kind == protowire.BytesType) {
			return false
		}
		data = data[size:]
	}
	return true
}
