package registry

import (
	"slices"
)

// Keep returns a registry without the modules for which keep returns false. Errors are those of Parse and Remove.
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

// Merge returns a registry with the modules of the registry from that it lacks. Each is inserted before the modules that
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
