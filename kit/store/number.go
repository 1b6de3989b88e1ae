package store

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Decimal is an exact number with up to 12 digits before the decimal point and 6 after it. Compare values with ==, < and >. For
// arithmetic, see Big. In JSON a Decimal is a string without trailing zeros. Databases store the number of millionths plus
// 2·10^18. A client cannot send an integer this large, so a migration can distinguish stored decimals from integers.
type Decimal int64

const (
	decimalPlaces = 6
	decimalUnits  = 1_000_000
	decimalOffset = 2_000_000_000_000_000_000
)

// StoredDecimal returns the decimal that a database stores as n; ok is false if n is not a stored decimal.
func StoredDecimal(n int64) (d Decimal, ok bool) {
	return Decimal(n - decimalOffset), n > decimalOffset/2 && n < decimalOffset/2*3
}

// Stored returns the integer that engines store for d; StoredDecimal is the inverse.
func (d Decimal) Stored() int64 { return int64(d) + decimalOffset }

func (d *Decimal) setStored(n int64) error {
	stored, ok := StoredDecimal(n)
	if !ok {
		return fmt.Errorf("store: %d is not a stored decimal", n)
	}
	*d = stored
	return nil
}

// MarshalBSONValue returns the stored integer.
func (d Decimal) MarshalBSONValue() (byte, []byte, error) {
	typ, data, err := bson.MarshalValue(d.Stored())
	return byte(typ), data, err
}

// UnmarshalBSONValue parses the stored integer.
func (d *Decimal) UnmarshalBSONValue(typ byte, data []byte) error {
	var n int64
	if err := bson.UnmarshalValue(bson.Type(typ), data, &n); err != nil {
		return err
	}
	return d.setStored(n)
}

// Big returns d as a decimal.Decimal, for arithmetic with any number of digits. NewDecimal converts the result back. To divide,
// use DivRound, because Div rounds to decimal.DivisionPrecision.
func (d Decimal) Big() decimal.Decimal { return decimal.New(int64(d), -decimalPlaces) }

var decimalLimit = decimal.New(1, 12)

// NewDecimal converts n. It fails if n has more than 12 digits before the decimal point or more than 6 after it. Before
// converting a product or a quotient, round it with Round (half away from zero), RoundBank (half to even) or Truncate.
func NewDecimal(n decimal.Decimal) (Decimal, error) {
	if !n.Truncate(decimalPlaces).Equal(n) {
		return 0, fmt.Errorf("store: %.40s has more than 6 decimal places; round the number", n)
	}
	if n.Abs().GreaterThanOrEqual(decimalLimit) {
		return 0, fmt.Errorf("store: %.40s has more than 12 digits before the decimal point", n)
	}
	return Decimal(n.Shift(decimalPlaces).IntPart()), nil
}

// ParseDecimal parses a number such as -12.5 or 1e-05. It fails if s has more digits than a Decimal can have.
func ParseDecimal(s string) (Decimal, error) {
	n, ok := parseNumber(s)
	if !ok || len(n.whole) > 12 || len(n.fraction) > decimalPlaces {
		return 0, fmt.Errorf("store: %.40q is not a number of at most 12 digits and 6 decimal places", s)
	}
	units, err := strconv.ParseInt(n.sign+n.whole+n.fraction+strings.Repeat("0", decimalPlaces-len(n.fraction)), 10, 64)
	return Decimal(units), err
}

// ParseInt parses an integer such as -12, also if it is written as 12.0 or 1.2e1. It fails if s is not an integer or does not fit
// into 64 bits.
func ParseInt(s string) (int64, error) {
	i, err := strconv.ParseInt(s, 10, 64)
	if err == nil {
		return i, nil
	}
	if n, ok := parseNumber(s); ok && n.fraction == "" {
		return strconv.ParseInt(n.sign+"0"+n.whole, 10, 64)
	}
	return 0, err
}

// number is a decimal number without exponent. whole has no zeros at its beginning, and fraction none at its end.
type number struct{ sign, whole, fraction string }

// numberPattern matches a number of JSON (RFC 8259, section 6). The exponent has at most three digits, which limits the zeros that
// parseNumber adds.
var numberPattern = regexp.MustCompile(`^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$`)

func parseNumber(s string) (n number, ok bool) {
	m := numberPattern.FindStringSubmatch(s)
	if m == nil {
		return n, false
	}
	exponent, _ := strconv.Atoi(m[4]) // cannot fail, except without an exponent
	digits, point := m[2]+m[3], len(m[2])+exponent
	if point < 0 {
		digits, point = strings.Repeat("0", -point)+digits, 0
	}
	if missing := point - len(digits); missing > 0 {
		digits += strings.Repeat("0", missing)
	}
	return number{m[1], strings.TrimLeft(digits[:point], "0"), strings.TrimRight(digits[point:], "0")}, true
}

// String returns d without trailing zeros.
func (d Decimal) String() string {
	text := big.NewRat(int64(d), decimalUnits).FloatString(decimalPlaces)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// MarshalJSON returns d as a JSON string.
func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(`"` + d.String() + `"`), nil }

// UnmarshalJSON parses a JSON string or number as ParseDecimal does. It also accepts the stored integer. null leaves d unchanged.
func (d *Decimal) UnmarshalJSON(b []byte) (err error) {
	if string(b) == "null" {
		return nil
	}
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil && d.setStored(n) == nil {
		return nil
	}
	*d, err = ParseDecimal(strings.Trim(string(b), `"`))
	return err
}
