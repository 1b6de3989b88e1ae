package v1beta1

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of the message WorkloadSelector and of a protobuf map entry.
const (
	fieldMatchLabels protowire.Number = 1
	fieldKey         protowire.Number = 1
	fieldValue       protowire.Number = 2
)

// FromBinary reads a selector from the protobuf wire format. It rejects unknown fields, even in map entries, where
// protobuf ignores them. If a key occurs twice, the last value wins, as in protobuf. The error is an *InvalidError
// with all violations, including the violations that Validate returns.
func FromBinary(data []byte) (*WorkloadSelector, error) {
	var v violations
	return v.selector(v.readBinary(data))
}

func (v *violations) readBinary(data []byte) map[string]string {
	labels := make(map[string]string)
	ok := eachField(data, func(number protowire.Number, content []byte, isBytes bool) bool {
		if number == fieldMatchLabels && isBytes {
			return v.readEntry(content, labels)
		}
		v.addField(strconv.Itoa(int(number)), CodeFormat, "The selector has no such field.")
		return true
	})
	if !ok {
		v.addField("", CodeFormat, "The selector must be a protobuf message.")
		return nil
	}
	v.checkLabels(labels)
	return labels
}

// readEntry reads a map entry into labels. It returns false if data is not a protobuf message.
func (v *violations) readEntry(data []byte, labels map[string]string) bool {
	var key, value string
	known := true
	ok := eachField(data, func(number protowire.Number, content []byte, isBytes bool) bool {
		switch {
		case number == fieldKey && isBytes:
			key = string(content)
		case number == fieldValue && isBytes:
			value = string(content)
		default:
			known = false
		}
		return true
	})
	if !known {
		v.addLabel(key, CodeFormat, "A label has only a key and a value.")
	}
	labels[key] = value
	return ok
}

// eachField calls visit for each field of the protobuf message in data, until visit returns false. eachField returns
// false if visit returned false, or if data is not a protobuf message.
func eachField(data []byte, visit func(number protowire.Number, content []byte, isBytes bool) bool) bool {
	for len(data) > 0 {
		number, kind, size := protowire.ConsumeField(data)
		if size < 0 {
			return false
		}
		_, _, tag := protowire.ConsumeTag(data)
		content, _ := protowire.ConsumeBytes(data[tag:size])
		if !visit(number, content, kind == protowire.BytesType) {
			return false
		}
		data = data[size:]
	}
	return true
}
