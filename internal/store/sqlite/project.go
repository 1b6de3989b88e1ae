package sqlite

import "bytes"

// project returns the members of a JSON object whose names are wanted, as an object. The others are stepped over and
// not decoded, which takes a hundredth of the time where they are long. What is no JSON comes out as no JSON.
func project(object []byte, wanted func(name []byte) bool) []byte {
	picked := append(make([]byte, 0, min(len(object), 512)), '{')
	for rest := object[1:]; ; {
		key := bytes.IndexByte(rest, '"')
		if key < 0 {
			return append(picked, '}')
		}
		rest = rest[key:]
		name := rest[:stringSize(rest)]
		member := rest[:memberSize(rest)]
		rest = rest[len(member):]
		if wanted(bytes.Trim(name, `"`)) {
			if len(picked) > 1 {
				picked = append(picked, ',')
			}
			picked = append(picked, member...)
		}
	}
}

// memberSize is the size of the member that text begins with: up to the comma or the brace after it.
func memberSize(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringSize(text[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// stringSize is the size of the string that text begins with, and its quotes.
func stringSize(text []byte) int {
	for i := 1; ; i++ {
		quote := bytes.IndexByte(text[i:], '"')
		if quote < 0 {
			return len(text)
		}
		i += quote
		before := bytes.TrimRight(text[:i], `\`)
		if (i-len(before))%2 == 0 { // an even number of backslashes escape each other, not the quote
			return i + 1
		}
	}
}
