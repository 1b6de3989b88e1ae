package exchange

import (
	"bytes"
	"encoding/csv"
	"io"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/ginseng/kit/store"
)

// Writer writes records to a file.
type Writer struct {
	out     io.Writer
	columns []Column
	whole   bool // NDJSON has the JSON encoding of the whole record
	buf     bytes.Buffer

	csv    *csv.Writer // writes lines to buf; nil for NDJSON
	cells  []string
	header bool // the header has been written
}

// NewWriter returns a Writer that writes the columns of structs. If whole is true, columns must have all fields of the struct;
// NDJSON then omits the same empty fields as the JSON encoding of the struct.
func NewWriter(out io.Writer, format Format, columns []Column, whole bool) *Writer {
	w := &Writer{out: out, columns: columns, whole: whole}
	if format == CSV {
		w.csv, w.cells = csv.NewWriter(&w.buf), make([]string, len(columns))
	}
	return w
}

// Write writes a record. It fails if the record cannot be encoded or the output cannot be written.
func (w *Writer) Write(record any) error {
	if w.csv != nil {
		return w.writeCSV(record)
	}
	w.buf.Reset()
	if err := w.encode(record); err != nil {
		return err
	}
	w.buf.WriteByte('\n')
	_, err := w.out.Write(w.buf.Bytes())
	return err
}

// encode appends the record as a JSON object to the buffer.
func (w *Writer) encode(record any) error {
	if w.whole {
		return store.EncodeJSON(&w.buf, record)
	}
	value := reflect.ValueOf(record)
	w.buf.WriteByte('{')
	for i, column := range w.columns {
		if i > 0 {
			w.buf.WriteByte(',')
		}
		w.buf.WriteString(`"` + column.Name + `":`)
		if err := store.EncodeJSON(&w.buf, value.FieldByIndex(column.Index).Interface()); err != nil {
			return err
		}
	}
	w.buf.WriteByte('}')
	return nil
}

func (w *Writer) writeCSV(record any) error {
	if err := w.writeHeader(); err != nil {
		return err
	}
	value := reflect.ValueOf(record)
	for i, column := range w.columns {
		w.buf.Reset()
		if err := store.EncodeJSON(&w.buf, value.FieldByIndex(column.Index).Interface()); err != nil {
			return err
		}
		w.cells[i] = cellOf(w.buf.Bytes())
	}
	return w.writeCells()
}

// writeCells writes the cells as a line that ends with CRLF (RFC 4180). It does not use csv.Writer.UseCRLF, which would also
// change line feeds inside cells.
func (w *Writer) writeCells() error {
	w.buf.Reset()
	if err := w.csv.Write(w.cells); err != nil {
		return err
	}
	w.csv.Flush()
	w.buf.Truncate(w.buf.Len() - 1)
	w.buf.WriteString("\r\n")
	_, err := w.out.Write(w.buf.Bytes())
	return err
}

func (w *Writer) writeHeader() error {
	if w.header {
		return nil
	}
	w.header = true
	for i, column := range w.columns {
		w.cells[i] = column.Name
	}
	return w.writeCells()
}

// Begin writes the header of a CSV file, so that a file without records also has a header. Without Begin, the first Write
// writes the header.
func (w *Writer) Begin() error {
	if w.csv == nil {
		return nil
	}
	return w.writeHeader()
}

// escape is the prefix of cells that spreadsheets or a Reader would misread.
const escape = "'"

// escaped lists the characters at the beginning of a value that require the prefix escape.
const escaped = "=+-@\t\r'"

// cellOf returns the CSV cell for a JSON value.
func cellOf(value []byte) string {
	text := string(value)
	switch value[0] {
	case 'n':
		return ""
	case '"':
		unquoted, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			panic(err) // unreachable: the encoder returned valid JSON
		}
		text = string(unquoted)
	}
	if text == "" || strings.ContainsRune(escaped, rune(text[0])) {
		return escape + text
	}
	return text
}
