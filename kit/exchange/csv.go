package exchange

import (
	"bufio"
	"fmt"
)

// csvLines passes a CSV file to csv.Reader. It changes line ends that csv.Reader would misread: outside quotes, a carriage return
// that is not followed by a line feed becomes a line feed. Inside quotes, a carriage return before a line feed is doubled, because
// csv.Reader removes one. Read fails if a record is longer than MaxLine or has more than MaxColumns fields.
type csvLines struct {
	in    *bufio.Reader
	again bool  // the last byte was a carriage return that must be doubled
	err   error // the error of all later reads

	place  place
	line   int // number of the current line; the first line is 1
	begin  int // number of the first line of the current record
	size   int // bytes of the current record so far
	commas int // commas between the fields of the current record so far
}

// place is the state of the parser before the next byte, as csv.Reader parses.
type place int

const (
	fieldBegin place = iota
	unquoted
	quoted
	afterQuote // after a quote inside quotes, which ends the field or begins an escaped quote
	invalid    // after a misplaced quote: csv.Reader ignores the rest of the line
)

// Read implements io.Reader.
func (l *csvLines) Read(p []byte) (n int, err error) {
	for n < len(p) && l.err == nil && (n == 0 || l.again || l.in.Buffered() > 0) {
		if l.again {
			p[n], l.again = '\r', false
		} else if p[n], l.err = l.next(); l.err != nil {
			break
		}
		n++
	}
	return n, l.err
}

// next returns the next byte for csv.Reader.
func (l *csvLines) next() (byte, error) {
	b, err := l.in.ReadByte()
	if err != nil {
		return 0, err
	}
	if b == '\r' {
		following, _ := l.in.Peek(1)
		isPair := string(following) == "\n"
		if l.again = isPair && l.place == quoted; !isPair && l.place != quoted {
			b = '\n'
		}
	}
	return b, l.count(b)
}

// count updates the place and the numbers. It fails if the record exceeds a limit.
func (l *csvLines) count(b byte) error {
	if b != '\r' || l.place == quoted { // outside quotes, next returns a carriage return only before a line feed
		l.size++
	}
	if b == ',' && l.place != quoted {
		l.commas++
	}
	l.place = l.place.after(b)
	if b == '\n' {
		l.line++
		if l.place == fieldBegin {
			l.begin, l.size, l.commas = l.line, 0, 0
		}
	}
	switch {
	case l.size > MaxLine:
		return fmt.Errorf("the record in line %d is longer than %d bytes; a quote may be missing", l.begin, MaxLine)
	case l.commas >= MaxColumns:
		return fmt.Errorf("the record in line %d has more than %d fields", l.begin, MaxColumns)
	}
	return nil
}

// after returns the place after the byte b.
func (p place) after(b byte) place {
	switch {
	case p == quoted && b != '"':
		return quoted
	case p == quoted:
		return afterQuote
	case b == '\n':
		return fieldBegin
	case p == invalid:
		return invalid
	case b == ',':
		return fieldBegin
	case b == '"' && p != unquoted:
		return quoted
	case b == '"', p == afterQuote && b != '\r':
		return invalid
	}
	return unquoted
}
