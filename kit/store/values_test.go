package store

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// moments are times in ascending order, with their form in JSON.
var moments = []struct {
	time time.Time
	text string
}{
	{time.Time{}, "0001-01-01T00:00:00.000Z"},
	{time.Date(1969, time.December, 31, 23, 59, 59, 999e6, time.UTC), "1969-12-31T23:59:59.999Z"},
	{time.Unix(0, 0), "1970-01-01T00:00:00.000Z"},
	{time.UnixMilli(1), "1970-01-01T00:00:00.001Z"},
	{time.Date(2024, time.May, 17, 1, 30, 0, 0, time.FixedZone("", 2*3600)), "2024-05-16T23:30:00.000Z"},
	{time.Date(2024, time.May, 17, 12, 0, 0, 1999999, time.UTC), "2024-05-17T12:00:00.001Z"},
	{time.Date(2024, time.May, 17, 12, 0, 0, 120e6, time.UTC), "2024-05-17T12:00:00.120Z"},
	{time.Date(9999, time.December, 31, 23, 59, 59, 999e6, time.UTC), "9999-12-31T23:59:59.999Z"},
}

func TestTime(t *testing.T) {
	type holder struct {
		At  Time  `json:"at" bson:"at"`
		Due *Time `json:"due" bson:"due"`
	}
	var texts []string
	for _, m := range moments {
		at := At(m.time)
		texts = append(texts, at.String())
		if at.String() != m.text {
			t.Errorf("%v is written as %s, want %s", m.time, at, m.text)
		}
		if d := m.time.Sub(at.Time); d < 0 || d >= time.Millisecond || at.Location() != time.UTC {
			t.Errorf("At(%v) is %v", m.time, at.Time)
		}

		text, err := json.Marshal(holder{At: at, Due: &at})
		if want := `{"at":"` + m.text + `","due":"` + m.text + `"}`; err != nil || string(text) != want {
			t.Errorf("JSON is %s, %v; want %s", text, err, want)
		}
		var back holder
		if err := json.Unmarshal(text, &back); err != nil || back.At != at || *back.Due != at {
			t.Errorf("%s is read from JSON as %v, %v", m.text, back, err)
		}

		data, err := bson.Marshal(holder{At: at, Due: &at})
		if err != nil {
			t.Fatal(err)
		}
		if kind := bson.Raw(data).Lookup("at").Type; kind != bson.TypeDateTime {
			t.Errorf("BSON has %v, want a date", kind)
		}
		back = holder{}
		if err := bson.Unmarshal(data, &back); err != nil || back.At != at || *back.Due != at {
			t.Errorf("%s is read from BSON as %v, %v", m.text, back, err)
		}

		key, err := json.Marshal(map[Time]int{at: 1})
		if want := `{"` + m.text + `":1}`; err != nil || string(key) != want {
			t.Errorf("as a key JSON is %s, %v; want %s", key, err, want)
		}
	}
	if !slices.IsSorted(texts) {
		t.Errorf("the texts do not sort as the times do: %q", texts)
	}
}

func TestTimeAbsent(t *testing.T) {
	at := At(time.Unix(1, 0))
	if err := json.Unmarshal([]byte("null"), &at); err != nil || at != At(time.Unix(1, 0)) {
		t.Errorf("null makes it %v, %v", at, err)
	}
}

func TestParseTime(t *testing.T) {
	want := At(time.Date(2024, time.May, 17, 12, 0, 0, 123e6, time.UTC))
	for _, text := range []string{
		"2024-05-17T12:00:00.123Z", "2024-05-17T12:00:00.123456789Z", "2024-05-17T14:00:00.123+02:00",
		"2024-05-17T01:30:00.1239-10:30", "2024-05-17T12:00:00.123-00:00", "2024-05-18T11:59:00.123+23:59",
	} {
		if got, err := ParseTime(text); err != nil || got != want {
			t.Errorf("ParseTime(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "now", "2024-05-17", "2024-05-17T12:00:00", "2024-05-17 12:00:00Z", "2024-13-01T00:00:00Z",
		"2024-02-30T00:00:00Z", "24-05-17T12:00:00Z", "1715947200",
		"2024-05-17T1:00:00Z", "2024-05-17T1:00:00.5Z", "2024-05-17T1:00:00+02:00", "2024-05-17T12:00:00,5Z", "2024-05-17T12:00:00+24:00",
		"2024-05-17T12:00:00-24:00", "2024-05-17T12:00:00.5+24:00", "2024-05-17T12:00:00+00:60",
	} {
		if got, err := ParseTime(text); err == nil {
			t.Errorf("ParseTime(%q) = %v, want an error", text, got)
		}
	}
	for _, text := range []string{`"`, `""`, `1715947200`, `{}`, `true`, `"now"`} {
		var at Time
		if err := at.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("JSON %s is read as %v, want an error", text, at)
		}
	}
	data, err := bson.Marshal(bson.M{"at": true})
	if err != nil {
		t.Fatal(err)
	}
	if err := bson.Unmarshal(data, &struct{ At Time }{}); err == nil {
		t.Error("a boolean of BSON is read as a time")
	}
}

// TestTimeOutOfRange checks that a time whose string would not sort is rejected (RFC 3339, section 1: years 0 to 9999).
func TestTimeOutOfRange(t *testing.T) {
	for _, year := range []int{-1, 10_000} {
		at := At(time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC))
		if text, err := json.Marshal(at); err == nil || !strings.Contains(err.Error(), "year") {
			t.Errorf("the year %d is written as %s, %v; want an error", year, text, err)
		}
		if text, err := at.MarshalText(); err == nil {
			t.Errorf("the year %d is written as %s", year, text)
		}
	}
}

func TestID(t *testing.T) {
	a, b := NewID(), NewID()
	if a == b || a.Hex() >= b.Hex() {
		t.Errorf("NewID gives %s, then %s; want a greater one", a.Hex(), b.Hex())
	}
	for text, want := range map[string]bool{
		a.Hex(): true, strings.ToUpper(a.Hex()): true, strings.Repeat("0", 24): true,
		"": false, a.Hex()[1:]: false, a.Hex() + "0": false, strings.Repeat("g", 24): false, "me": false,
		strings.Repeat("0", 23) + "ä": false, " " + a.Hex()[1:]: false,
	} {
		got, ok := ParseID(text)
		if ok != want {
			t.Errorf("ParseID(%q) says %t, want %t", text, ok, want)
		}
		if ok && got.Hex() != strings.ToLower(text) {
			t.Errorf("ParseID(%q) = %s", text, got.Hex())
		}
	}
}

func TestEncodeJSON(t *testing.T) {
	t.Parallel()
	v := map[string]any{
		"id": NewID(), "ids": []ID{NewID()}, "at": At(time.Now()), "pointer": new(Time), "nil": (*ID)(nil),
		"text": "<b>&\u2028\x00\"", "list": []string(nil), "map": map[string]int{"b": 1, "a": 2}, "empty": struct {
			N int `json:"n,omitempty"`
		}{},
	}
	var got, want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	if err := EncodeJSON(&got, v); err != nil || got.String()+"\n" != want.String() {
		t.Errorf("%s, %v\nencoding/json: %s", &got, err, &want)
	}
	if err := EncodeJSON(&got, At(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))); err == nil {
		t.Error("a year of five digits has no error")
	}
}

// TestParseDecimal parses numbers with and without an exponent.
func TestParseDecimal(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 1_000_001)
	for text, want := range map[string]string{
		"12.5": "12.5", "-0.000001": "-0.000001", "-0": "0", "999999999999.999999": "999999999999.999999",
		"1." + zeros: "1", "-0.000001" + zeros: "-0.000001", "12.5" + zeros: "12.5",
		"1e-05": "0.00001", "-1E-6": "-0.000001", "1.5e+3": "1500", "120e-7": "0.000012", "0.0000000001e10": "1", "1e11": "100000000000", "0e-999": "0",
		"1e-7": "", "15e-7": "", "1e12": "", "0.0000001": "", "1000000000000": "", "1e999999999": "", "1e-999999999": "", "1e99999999999999999999": "",
		"": "", "e1": "", "1e": "", "1e+": "", "1.e1": "", ".5": "", "5.": "", "+1": "", "0x10": "", "1_000": "", "Inf": "", "1e1.5": "", " 1": "", "1\n": "",
	} {
		d, err := ParseDecimal(text)
		if err == nil != (want != "") || err == nil && d.String() != want {
			t.Errorf("%.20s: %s, %v, want %q", text, d, err, want)
		}
	}
}

// TestParseInt parses integers in every form that JSON has for them.
func TestParseInt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"12": 12, "-12": -12, "+12": 12, "012": 12, "1.0": 1, "-1.000": -1, "1e3": 1000, "1.5E+3": 1500, "1000e-3": 1, "9007199254740991.0": 9007199254740991,
		"9223372036854775807.0": math.MaxInt64, "0e-999": 0, "1." + strings.Repeat("0", 1_000_001): 1,
	} {
		if n, err := ParseInt(text); err != nil || n != want {
			t.Errorf("%.20s: %d, %v, want %d", text, n, err, want)
		}
	}
	for _, text := range []string{
		"", "1.5", "4503599627370497.1", "15e-1", "1e19", "9223372036854775808", "1e999999999", "1e-999999999", "1.", ".0", "1e", "0x10", "1_000", " 1", "1.0\n", "true",
	} {
		if n, err := ParseInt(text); err == nil {
			t.Errorf("%s: %d, want an error", text, n)
		}
	}
}

// TestNewDecimal converts the results of arithmetic, up to the limits of a Decimal.
func TestNewDecimal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0", "-0.000001": "-0.000001", "1.5000000": "1.5", "1e3": "1000",
		"999999999999.999999": "999999999999.999999", "-999999999999.999999": "-999999999999.999999",
		"1000000000000": "", "-1000000000000": "", "0.0000001": "", "1e-30": "", "1e30": "", "9223372036854775807000001": "",
	} {
		d, err := NewDecimal(decimal.RequireFromString(text))
		if err == nil != (want != "") || err == nil && d.String() != want {
			t.Errorf("%s: %v, %v, want %q", text, d, err, want)
		}
		if err == nil && !d.Big().Equal(decimal.RequireFromString(want)) {
			t.Errorf("%s: Big returns %v", text, d.Big())
		}
	}
	tenth, err := ParseDecimal("0.1")
	if err != nil {
		t.Fatal(err)
	}
	sum := decimal.Zero
	for range 10 {
		sum = sum.Add(tenth.Big())
	}
	if d, err := NewDecimal(sum); err != nil || d.String() != "1" {
		t.Errorf("ten tenths are %v, %v", d, err)
	}
	if _, err := NewDecimal(tenth.Big().DivRound(decimal.NewFromInt(3), 7)); err == nil {
		t.Error("a quotient with 7 decimals is accepted")
	}
}

// TestDecimalJSON decodes a client's string and number, and the stored integer.
func TestDecimalJSON(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{`"12.5"`: "12.5", `12.5`: "12.5", `7`: "7", `2000000000012500000`: "12.5", `null`: "0", `1e-05`: "0.00001"} {
		var d Decimal
		if err := json.Unmarshal([]byte(data), &d); err != nil || d.String() != want {
			t.Errorf("%s: %s, %v, want %s", data, d, err, want)
		}
	}
	if err := json.Unmarshal([]byte(`1e-7`), new(Decimal)); err == nil {
		t.Error("a number with 7 decimals is accepted")
	}
}
