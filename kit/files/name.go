package files

import (
	"errors"
	"mime"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

const maxNameBytes = 255

// CleanName returns the name of an uploaded file: the parameter filename* or filename of a Content-Disposition header or, if there
// is none, the name of the query. See cleanName. The result is "" if neither has a name.
func CleanName(disposition, query string) string {
	kind, params, err := mime.ParseMediaType(disposition)
	if errors.Is(err, mime.ErrInvalidMediaParameter) {
		kind, params, err = mime.ParseMediaType(unquoted.ReplaceAllString(disposition, `$1"$2"$3`))
	}
	if err == nil { // filename has the value of filename*, if there is one
		name := params["filename"]
		if kind == "form-data" && !strings.Contains(strings.ToLower(disposition), "filename*") {
			name = formEscapes.Replace(name)
		}
		if name = cleanName(name); name != "" {
			return name
		}
	}
	return cleanName(query)
}

// unquoted matches a filename that should have quotes because it is not ASCII, but has none.
var unquoted = regexp.MustCompile(`(?i)(;\s*filename=)([^\s";]+)(\s*(?:;|$))`)

// formEscapes decodes the three escapes of browsers in the names of multipart forms (HTML Living Standard, "multipart form data").
var formEscapes = strings.NewReplacer("%22", `"`, "%0D", "", "%0A", "")

// cleanName returns the last segment of a path, without control and bidirectional characters, cut to 255 bytes at a character. It
// returns "" for names that are paths, such as "..".
func cleanName(path string) string {
	path = strings.ToValidUTF8(path, string(utf8.RuneError))
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	name := strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, path))
	if len(name) > maxNameBytes {
		end := maxNameBytes
		for !utf8.RuneStart(name[end]) {
			end--
		}
		name = strings.TrimSpace(name[:end])
	}
	if name == "." || name == ".." {
		return ""
	}
	return name
}

// nameOf returns the name of a file: the cleaned name or, if it is "", the name of the field with the extension of the type.
func nameOf(name, field, mediaType string) string {
	if name = cleanName(name); name != "" {
		return name
	}
	if m := mimetype.Lookup(mediaType); m != nil {
		field += m.Extension()
	}
	return field
}
