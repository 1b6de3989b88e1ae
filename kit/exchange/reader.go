package exchange

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/ginseng/kit/store"
)

// Limits of a file.
const (
	MaxLine    = 16 << 20 // bytes of a line of NDJSON, or of a record of CSV, without the line end
	MaxColumns = 1000     // fields of a record of CSV
)

// Record is a record of a file.
type Record struct {
	Line   int    // number of the first line of the record; the first line of the file is 1
	Number int    // number of the record in the file; the first record is 1
	JSON   []byte // a JSON object; for NDJSON, the line of the file, which may be invalid JSON
	Err    error  // if not nil, the reason that the record cannot be read; JSON is then nil
}

// Reader reads records from a file.
type Reader struct {
	format Format
	lines  *bufio.Reader
	csv    *csv.Reader
	names  []string        // of the columns, from the header of a CSV file
	isText map[string]bool // by field name: whether the values of the field are JSON strings

	line, number int
}

// NewReader returns a Reader for records with the fields of the struct type t. NewReader fails if the file begins like UTF-16, or
// if the header of a CSV file cannot be read or is invalid.
func NewReader(in io.Reader, format Format, t reflect.Type) (*Reader, error) {
	r := &Reader{format: format, lines: bufio.NewReaderSize(in, 64<<10)}
	mark, _ := r.lines.Peek(3)
	switch {
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")), bytes.IndexByte(mark, 0) >= 0:
		return nil, errors.New("the file is UTF-16; save it as UTF-8")
	case string(mark) == ByteOrderMark:
		_, _ = r.lines.Discard(len(mark))
	}
	if format != CSV {
		return r, nil
	}
	return r, r.readHeader(t)
}

// readHeader reads the header of a CSV file. It fails if the header is invalid, or has no field of the struct type t.
func (r *Reader) readHeader(t reflect.Type) error {
	if err := checkSeparator(r.lines); err != nil {
		return err
	}
	r.csv = csv.NewReader(&csvLines{in: r.lines, line: 1, begin: 1})
	r.csv.ReuseRecord = true
	header, err := r.csv.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty; the first line of a CSV file must have the names of the fields")
	} else if err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	r.names, r.isText = slices.Clone(header), textFields(t)
	known := false
	for i, name := range r.names {
		if !utf8.ValidString(name) {
			return errors.New("the header is not valid UTF-8; save the file as UTF-8")
		}
		if name == "" {
			return fmt.Errorf("column %d of the header has no name", i+1)
		}
		if slices.Contains(r.names[:i], name) {
			return fmt.Errorf("the header has the field %q twice", name)
		}
		_, ok := r.isText[name]
		known = known || ok
	}
	if !known {
		return fmt.Errorf("the first line has no name of a field; the fields are %s", strings.Join(slices.Sorted(maps.Keys(r.isText)), ", "))
	}
	return nil
}

// checkSeparator fails if the first line of the file seems to have another separator than commas.
func checkSeparator(file *bufio.Reader) error {
	line, _ := file.Peek(file.Size())
	if end := bytes.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	commas := bytes.Count(line, []byte(","))
	switch {
	case bytes.Count(line, []byte(";")) > commas:
		return errors.New("the header has semicolons between the fields; save the file with commas")
	case bytes.Count(line, []byte("\t")) > commas:
		return errors.New("the header has tabs between the fields; save the file with commas")
	}
	return nil
}

// textFields returns, for the name of each field of the struct type t, whether the values of the field are JSON strings.
func textFields(t reflect.Type) map[string]bool {
	isText := make(map[string]bool)
	for _, column := range Columns(t, nil) {
		of := t.FieldByIndex(column.Index).Type
		for of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		var zero bytes.Buffer
		err := store.EncodeJSON(&zero, reflect.Zero(of).Interface())
		isText[column.Name] = err == nil && zero.Bytes()[0] == '"'
	}
	return isText
}

// Next returns the next record, or io.EOF at the end of the file. Any other error means that the file cannot be read. If only
// the record cannot be read, Record.Err has the reason. Next does not check that a line of NDJSON is valid JSON.
func (r *Reader) Next() (Record, error) {
	if r.csv != nil {
		return r.nextCSV()
	}
	for {
		line, tooLong, err := r.readLine()
		if err != nil {
			return Record{}, err
		}
		r.line++
		if tooLong {
			return r.record(r.line, nil, fmt.Errorf("the line is longer than %d bytes", MaxLine)), nil
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return r.record(r.line, line, nil), nil
		}
	}
}

func (r *Reader) record(line int, object []byte, err error) Record {
	r.number++
	return Record{Line: line, Number: r.number, JSON: object, Err: err}
}

// readLine returns the next line, or io.EOF. tooLong reports whether the line is longer than MaxLine.
func (r *Reader) readLine() (line []byte, tooLong bool, err error) {
	for {
		part, err := r.lines.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > MaxLine+len("\r\n"); !tooLong {
			line = append(line, part...)
		}
		switch {
		case err == nil, errors.Is(err, io.EOF) && (len(line) > 0 || tooLong):
			return line, tooLong || len(bytes.TrimRight(line, "\r\n")) > MaxLine, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}

func (r *Reader) nextCSV() (Record, error) {
	cells, err := r.csv.Read()
	var invalid *csv.ParseError
	switch {
	case errors.Is(err, csv.ErrFieldCount):
		line, _ := r.csv.FieldPos(0)
		return r.record(line, nil, fmt.Errorf("the line has %d fields, but the header has %d", len(cells), len(r.names))), nil
	case errors.As(err, &invalid):
		return r.record(invalid.StartLine, nil, invalid.Err), nil
	case err != nil:
		return Record{}, err
	}
	line, _ := r.csv.FieldPos(0)
	if slices.ContainsFunc(cells, func(cell string) bool { return !utf8.ValidString(cell) }) {
		return r.record(line, nil, errors.New("the line is not valid UTF-8")), nil
	}
	object := []byte("{")
	for i, cell := range cells {
		if cell == "" {
			continue
		}
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(appendString(object, r.names[i]), ':')
		object = r.appendValue(object, r.names[i], cell)
	}
	return r.record(line, append(object, '}'), nil), nil
}

// appendValue appends the JSON value of a cell. The cell must not be empty.
func (r *Reader) appendValue(object []byte, name, cell string) []byte {
	text := strings.TrimPrefix(cell, escape)
	if isText, known := r.isText[name]; known && !isText {
		if lower := strings.ToLower(text); lower == "true" || lower == "false" {
			return append(object, lower...) // Excel writes TRUE and FALSE
		}
		if json.Valid([]byte(text)) {
			return append(object, text...)
		}
	}
	return appendString(object, text) // a string, or a value of the wrong type, which validation rejects
}

func appendString(b []byte, s string) []byte {
	text, _ := json.Marshal(s) // cannot fail
	return append(b, text...)
}
