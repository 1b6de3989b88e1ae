package sqlite

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/ginseng/kit/store/textsearch"
)

// scan checks documents for words.
type scan struct {
	words []string // scan.matches moves words that are often missing to the front
	paths []string // the searched fields
	cost  int64    // total cost of the documents checked so far; see maxReaderScans
	max   int64    // maximum of cost; 0 means no limit

	decoder jsontext.Decoder
	text    []byte // buffer for the searched text of a document
}

// scanner returns the scan for p.scan; nil if there are no words to scan for. p may be nil.
func (p *searchPlan) scanner(c *collection) *scan {
	if !p.needsScan() {
		return nil
	}
	return &scan{words: p.scan, paths: c.spec.Search, max: p.maxScans}
}

// pay adds the cost of checking a document to s.cost. It returns false if s.cost then exceeds s.max.
func (s *scan) pay(doc []byte) bool {
	s.cost += 1 + int64(len(doc))/1024
	return s.max == 0 || s.cost <= s.max
}

// matches reports whether each of the words begins a word of the document's searched text.
func (s *scan) matches(doc []byte) bool {
	missing := -1
	if !bytes.Contains(doc, []byte(`\u`)) { // MissingText does not decode escapes, which can be letters
		missing = textsearch.MissingText(doc, s.words) // faster than MissingWord, and rejects most documents
	}
	if missing < 0 {
		s.text = s.text[:0]
		for _, path := range s.paths {
			s.text = append(s.appendText(doc, path), ' ')
		}
		missing = textsearch.MissingWord(s.text, s.words)
	}
	if missing > 0 { // check for this word earlier in the next document
		s.words[missing-1], s.words[missing] = s.words[missing], s.words[missing-1]
	}
	return missing < 0
}

// appendText appends the string at the path of a JSON object to s.text and returns the result. It ignores values other than
// strings.
func (s *scan) appendText(object []byte, path string) []byte {
	for name := range strings.SplitSeq(path, ".") {
		object = s.property(object, name)
	}
	text, err := jsontext.AppendUnquote(s.text, object)
	if err != nil { // not a string
		return s.text
	}
	return text
}

// property returns the JSON of the property with the name; nil if object has no such property or is not a JSON object.
func (s *scan) property(object []byte, name string) []byte {
	s.decoder.Reset(bytes.NewBuffer(object), trusted)
	if start, err := s.decoder.ReadToken(); err != nil || start.Kind() != '{' {
		return nil
	}
	for s.decoder.PeekKind() == '"' {
		field, _ := s.decoder.ReadValue()
		found := string(field[1:len(field)-1]) == name
		if value, err := s.decoder.ReadValue(); found || err != nil {
			return value
		}
	}
	return nil
}
