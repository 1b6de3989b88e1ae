package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
)

// sample has a field of every type that resources have.
type sample struct {
	ID      store.ID      `json:"id"`
	Text    string        `json:"text"`
	Maybe   *string       `json:"maybe"`
	Int     *int64        `json:"int"`
	Float   float64       `json:"float"`
	Bool    *bool         `json:"bool"`
	At      *store.Time   `json:"at"`
	On      store.Date    `json:"on"`
	Price   store.Decimal `json:"price"`
	UUID    store.UUID    `json:"uuid"`
	Object  store.Object  `json:"object"`
	Strings []string      `json:"strings"`
	Ints    []int64       `json:"ints"`
	IDs     []store.ID    `json:"ids"`
}

// samples returns records with values that a format could change by mistake.
func samples() (all []sample) {
	texts := []string{
		"", "plain", "'", "''", "'quoted", "=1+1", "+1", "-1", "@x", "\ttab", "\rcr", "a\r\nb", "a\r\n\r\nb\n", "\r\n", "\n", "a\rb", `"`, `a,"b"`, "null",
		"true", "[1]", `{"a":1}`, "日本語", "<&>\u2028", " spaces ", "x\r", `\.`, "0012", "1e3",
	}
	for _, text := range texts {
		all = append(all, sample{ID: store.NewID(), Text: text, Maybe: &text, Object: store.Object{text + "k": text}, Strings: []string{text, "x"}})
	}
	one, zero, yes, no, at := int64(-5), int64(0), true, false, store.Time{}
	all = append(all, sample{
		Int: &one, Float: -0.5, Bool: &yes, At: &at, On: "2026-01-02", Price: -1_500_000, UUID: "11111111-0000-4000-8000-000000000001",
		Object: store.Object{"a": []any{1.5, "x", map[string]any{}}}, Strings: []string{}, Ints: []int64{-1, 9007199254740991}, IDs: []store.ID{store.NewID()},
	}, sample{Int: &zero, Bool: &no})
	return all
}

func write(t *testing.T, format Format, columns []Column, whole bool, records ...sample) []byte {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out, format, columns, whole)
	err := w.Begin()
	for _, r := range records {
		err = errors.Join(err, w.Write(r))
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(t *testing.T, format Format, file string) (records []Record) {
	t.Helper()
	r, err := NewReader(strings.NewReader(file), format, reflect.TypeFor[sample]())
	for err == nil {
		var record Record
		record, err = r.Next()
		record.JSON = bytes.Clone(record.JSON)
		records = append(records, record)
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return records[:max(0, len(records)-1)]
}

// TestRoundTrip checks that records are equal after they were written and read. Absent and null are the same.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	columns := Columns(reflect.TypeFor[sample](), nil)
	for _, format := range []Format{NDJSON, CSV} {
		file := write(t, format, columns, true, samples()...)
		records := read(t, format, string(file))
		if len(records) != len(samples()) {
			t.Fatalf("%s: %d records, want %d:\n%s", format, len(records), len(samples()), file)
		}
		all := samples()
		for i, record := range records {
			var got sample
			if err := json.Unmarshal(record.JSON, &got); err != nil || record.Err != nil {
				t.Fatalf("%s: %v %v: %s", format, err, record.Err, record.JSON)
			}
			all[i].ID = got.ID // each call of samples creates new IDs
			all[i].IDs, got.IDs = nil, nil
			if !reflect.DeepEqual(got, all[i]) {
				t.Errorf("%s: %+v, want %+v", format, got, all[i])
			}
		}
	}
}

// TestFormulas checks that no cell can be a formula of a spreadsheet.
func TestFormulas(t *testing.T) {
	t.Parallel()
	minus := int64(-5)
	file := write(t, CSV, Columns(reflect.TypeFor[sample](), []string{"text", "int"}), false,
		sample{Text: "=HYPERLINK(1)", Int: &minus}, sample{Text: ""}, sample{Text: "@a,b"})
	if want := "text,int\r\n'=HYPERLINK(1),'-5\r\n',\r\n\"'@a,b\",\r\n"; string(file) != want {
		t.Errorf("%q, want %q", file, want)
	}
	if file := write(t, NDJSON, Columns(reflect.TypeFor[sample](), []string{"text", "int"}), false, sample{Text: "="}); string(file) != "{\"text\":\"=\",\"int\":null}\n" {
		t.Errorf("%s", file)
	}
}

// TestReadErrors checks the lines of records and errors.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		format Format
		file   string
		want   []Record // a Record without JSON stands for any error
	}{
		{NDJSON, "\n{\"a\":1}\r\n\n  \nnonsense", []Record{{Line: 2, Number: 1, JSON: []byte(`{"a":1}`)}, {Line: 5, Number: 2, JSON: []byte("nonsense")}}},
		{NDJSON, strings.Repeat("x", MaxLine) + "\r\n", []Record{{Line: 1, Number: 1, JSON: []byte(strings.Repeat("x", MaxLine))}}},
		{NDJSON, strings.Repeat("x", MaxLine+1) + "\n{}", []Record{{Line: 1, Number: 1}, {Line: 2, Number: 2, JSON: []byte("{}")}}},
		{CSV, "\xef\xbb\xbfint,text,other\n5,\"a\nb\",'=\nx,,\n1\n\"\xff\",,\n2,,", []Record{
			{Line: 2, Number: 1, JSON: []byte(`{"int":5,"text":"a\nb","other":"="}`)},
			{Line: 4, Number: 2, JSON: []byte(`{"int":"x"}`)},
			{Line: 5, Number: 3},
			{Line: 6, Number: 4},
			{Line: 7, Number: 5, JSON: []byte(`{"int":2}`)},
		}},
		{CSV, "text\na\"b\n\"open\nc", []Record{{Line: 2, Number: 1}, {Line: 3, Number: 2}}},
		{CSV, "text,int\r\na\"b,1\r\n\"a\"b,1\r\nx,2\r\n\"\"\"\",3\r\n", []Record{ // a misplaced quote does not change the next lines
			{Line: 2, Number: 1},
			{Line: 3, Number: 2},
			{Line: 4, Number: 3, JSON: []byte(`{"text":"x","int":2}`)},
			{Line: 5, Number: 4, JSON: []byte(`{"text":"\"","int":3}`)},
		}},
		{CSV, "text,int\r\"a\rb\",1\r\r\"c\"\"\r\nd\",2\re,3", []Record{ // the line ends of old Macs
			{Line: 2, Number: 1, JSON: []byte(`{"text":"a\rb","int":1}`)},
			{Line: 4, Number: 2, JSON: []byte(`{"text":"c\"\r\nd","int":2}`)},
			{Line: 6, Number: 3, JSON: []byte(`{"text":"e","int":3}`)},
		}},
		{CSV, "bool,text\nTRUE,TRUE\nFalse,\n'true,", []Record{
			{Line: 2, Number: 1, JSON: []byte(`{"bool":true,"text":"TRUE"}`)},
			{Line: 3, Number: 2, JSON: []byte(`{"bool":false}`)},
			{Line: 4, Number: 3, JSON: []byte(`{"bool":true}`)},
		}},
	} {
		got := read(t, test.format, test.file)
		if len(got) != len(test.want) {
			t.Errorf("%.50q: %d records", test.file, len(got))
			continue
		}
		for i, want := range test.want {
			if got[i].Line != want.Line || got[i].Number != want.Number || string(got[i].JSON) != string(want.JSON) || (got[i].Err == nil) != (want.JSON != nil) {
				t.Errorf("%.50q: %+v %s, want %+v %s", test.file, got[i], got[i].JSON, want, want.JSON)
			}
		}
	}
}

// TestFiles checks that a file that cannot be imported is rejected with the reason.
func TestFiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		format     Format
		file, want string
	}{
		{CSV, "", "the file is empty"},
		{CSV, "text,text\n", "twice"},
		{CSV, "text,\n", "has no name"},
		{CSV, "\"\n", "the header"},
		{CSV, "text;int\n", "semicolons"},
		{CSV, "text;int\r", "semicolons"},
		{CSV, "\"text\";\"int, or none\";\"other\"\r\n", "semicolons"},
		{CSV, "text\tint\n", "tabs"},
		{CSV, "\xff\xfet\x00\n\x00", "UTF-16"},
		{CSV, "\xfe\xff\x00t\x00\n", "UTF-16"},
		{NDJSON, "\xff\xfe{\x00}\x00", "UTF-16"},
		{NDJSON, "{\x00}\x00", "UTF-16"},
		{CSV, "text,gr\xf6\xdfe\n", "not valid UTF-8"},
		{CSV, "Text,other\n1,2\n", "the fields are at, bool, float"},
		{CSV, "text," + strings.Repeat(",", MaxColumns-1), "line 1 has more than 1000 fields"},
	} {
		if _, err := NewReader(strings.NewReader(test.file), test.format, reflect.TypeFor[sample]()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.20q: %v, want %q", test.file, err, test.want)
		}
	}
}

// TestLimits checks that a CSV file cannot fill the memory with one record, such as one with an unclosed quote.
func TestLimits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x\n", 50) + strings.Repeat("x", MaxLine-200)
	for line, want := range map[string]string{
		strings.Repeat("x", MaxLine) + "\r\n":          "",
		`"` + long + "\"\n":                            "",
		`"` + long + strings.Repeat("x", 200) + "\"\n": "line 3 is longer than 16777216 bytes",
		strings.Repeat(",", MaxColumns) + "\n":         "line 3 has more than 1000 fields",
		`"` + strings.Repeat(",", MaxColumns) + "\"\n": "",
		strings.Repeat(",", MaxColumns-1) + "\n":       "",
		strings.Repeat(",\n", MaxColumns) + "\"x\"\n":  "",
	} {
		r, err := NewReader(strings.NewReader("text\nfirst\n"+line), CSV, reflect.TypeFor[sample]())
		for err == nil {
			_, err = r.Next()
		}
		if want == "" && !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", line, err, want)
		}
		if _, again := r.Next(); !errors.Is(again, err) {
			t.Errorf("%.20q: %v after %v", line, again, err)
		}
	}
}

func TestFormatOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file, name string
		want       Format
	}{
		{"a.ndjson", "", NDJSON}, {"a.JSONL", "", NDJSON}, {"a.csv", "", CSV}, {"a.csv", "ndjson", NDJSON}, {"-", "csv", CSV}, {"-", "", ""}, {"a.txt", "", ""},
		{"a.csv", "xml", ""},
	} {
		if got, err := FormatOf(test.file, test.name); got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s %s: %s, %v", test.file, test.name, got, err)
		}
	}
}
