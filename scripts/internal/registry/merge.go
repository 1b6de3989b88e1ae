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

// Merge returns source with the modules that are in the registry from, but not in source. Each is inserted before the modules
// that follow it in that registry.
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
