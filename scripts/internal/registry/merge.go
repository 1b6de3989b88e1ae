package registry

import (
	"slices"
)

// Keep returns the source of a registry without the modules for which keep returns false. It returns the errors of Parse and
// Remove.
func Keep(source []byte, keep func(Module) bool) ([]byte, error) {
	r, err := Parse(source)
	if err != nil {
		return nil, err
	}
	for _, m := range slices.Backward(r.Modules()) {
		if keep(m) {
			continue
		}
		if source, err = r.Remove(m); err != nil {
			return nil, err
		}
		if r, err = Parse(source); err != nil {
			return nil, err
		}
	}
	return source, nil
}

// Merge adds to the registry source the modules that only the registry from has. It inserts each module before the modules that
// follow it in from.
func Merge(source, from []byte) ([]byte, error) {
	other, err := Parse(from)
	if err != nil {
		return nil, err
	}
	var following []string
	for _, m := range slices.Backward(other.Modules()) {
		r, err := Parse(source)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(r.Modules(), func(o Module) bool { return o.Import == m.Import }) {
			if source, err = r.Insert(m, following...); err != nil {
				return nil, err
			}
		}
		following = append([]string{m.Variable}, following...)
	}
	return source, nil
}
