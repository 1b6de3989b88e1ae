package sqlite

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/ginseng/kit/store"
)

// errTooManyScans is the error of a scan that exceeds searchPlan.maxScans.
var errTooManyScans = errors.New("sqlite: a scan is too costly")

// matches reports whether each of the words to scan for begins a word of the document's searched text. It fails with
// errTooManyScans if the cost exceeds p.maxScans.
func (p *searchPlan) matches(c *collection, doc []byte) (bool, error) {
	if p.scanned += 1 + int64(len(doc))/1024; p.maxScans > 0 && p.scanned > p.maxScans {
		return false, errTooManyScans
	}
	missing := -1
	if !bytes.Contains(doc, []byte(`\u`)) { // MissingText does not decode escapes, which can be letters
		missing = store.MissingText(doc, p.scan) // faster, and rejects most documents
	}
	if missing < 0 {
		p.text = p.text[:0]
		for _, path := range c.spec.Search {
			p.text = append(p.appendText(doc, path), ' ')
		}
		missing = store.MissingWord(p.text, p.scan)
	}
	if missing > 0 { // check for this word earlier in the next document
		p.scan[missing-1], p.scan[missing] = p.scan[missing], p.scan[missing-1]
	}
	return missing < 0, nil
}

// appendText appends the string at the path of a JSON object to p.text and returns the result. Other values are ignored.
func (p *searchPlan) appendText(object []byte, path string) []byte {
	for name := range strings.SplitSeq(path, ".") {
		object = p.property(object, name)
	}
	text, err := jsontext.AppendUnquote(p.text, object)
	if err != nil { // no string
		return p.text
	}
	return text
}

// property returns the JSON of a property of a JSON object; nil if object has none or is not an object.
func (p *searchPlan) property(object []byte, name string) []byte {
	p.decoder.Reset(bytes.NewBuffer(object), trusted)
	if start, err := p.decoder.ReadToken(); err != nil || start.Kind() != '{' {
		return nil
	}
	for p.decoder.PeekKind() == '"' {
		field, _ := p.decoder.ReadValue()
		found := string(field[1:len(field)-1]) == name
		if value, err := p.decoder.ReadValue(); found || err != nil {
			return value
		}
	}
	return nil
}
