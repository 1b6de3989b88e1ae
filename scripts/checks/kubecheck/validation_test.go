package kubecheck

import (
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"example.com/ginseng/kit/selector/v1beta1"
)

// generated is the number of strings that are validated as keys and as values, and compared with Kubernetes.
const generated = 200_000

// nearly returns a valid or almost valid string: parts with valid lengths and characters, sometimes modified.
func nearly(r *rand.Rand) string {
	const lower, name = "abcz0189", "abczABCZ0189-_."
	part := func(alphabet string, limit int) string {
		length := 1 + r.IntN(5)
		switch r.IntN(8) {
		case 0:
			length = limit - 1 + r.IntN(3)
		case 1:
			length = r.IntN(3)
		}
		b := make([]byte, length)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
			if i == 0 || i == length-1 {
				b[i] = lower[r.IntN(len(lower))]
			}
		}
		return string(b)
	}
	s := part(name, 63)
	if r.IntN(2) == 0 {
		prefix := part(lower+"-", 253)
		for range r.IntN(4) {
			prefix += "." + part(lower+"-", 60)
		}
		s = prefix + "/" + s
	}
	accidents := []string{
		"*", "/", "-", "_", ".", "..", "-.", " ", "\n", "\x00", "A", "é", "\xff", ",", "=", "@", "[", "`", "{",
	}
	for r.IntN(5) < 2 {
		i := r.IntN(len(s) + 1)
		switch r.IntN(4) {
		case 0: // delete a character
			s = s[:i] + s[min(i+1, len(s)):]
		case 1: // truncate
			s = s[:i]
		default: // insert a string, often at an end
			i = []int{0, i, len(s)}[r.IntN(3)]
			s = s[:i] + accidents[r.IntN(len(accidents))] + s[i:]
		}
	}
	return s
}

func TestValidation(t *testing.T) {
	t.Parallel()
	good := func(key, value string) bool {
		return v1beta1.Validate(&v1beta1.WorkloadSelector{MatchLabels: map[string]string{key: value}}) == nil
	}
	r := rand.New(rand.NewPCG(1, 1))
	var keys, values int
	for range generated {
		s := nearly(r)
		key := good(s, "")
		if want := len(validation.IsQualifiedName(s)) == 0; key != want {
			t.Errorf("key %q: valid %v, by Kubernetes %v", s, key, want)
		}
		if key {
			keys++
		}
		if r.IntN(4) > 0 {
			s = s[strings.LastIndex(s, "/")+1:]
		}
		value := good("key", s)
		if want := len(validation.IsValidLabelValue(s)) == 0; value != want {
			t.Errorf("value %q: valid %v, by Kubernetes %v", s, value, want)
		}
		if value {
			values++
		}
	}
	t.Logf("of %d strings, %d are valid keys and %d valid values", generated, keys, values)
	for _, valid := range []int{keys, values} {
		if valid < generated/5 || valid > generated*4/5 {
			t.Errorf("%d valid strings of %d say little", valid, generated)
		}
	}
}
