package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
	"golang.org/x/image/webp"

	"example.com/ginseng/kit/apperr"
)

// Media types that have rules.
const (
	anyBytes = "application/octet-stream"
	anyText  = "text/plain"
	anyZip   = "application/zip"
)

// headerBytes is the size of the beginning of a file that has its signature.
const headerBytes = 3072

// images are the types of Field.Image, with functions that read the size in pixels from the header.
var images = map[string]func(io.Reader) (image.Config, error){
	"image/png": png.DecodeConfig, "image/jpeg": jpeg.DecodeConfig, "image/gif": gif.DecodeConfig, "image/webp": webp.DecodeConfig,
}

// signedTexts are the text types that have a signature.
var signedTexts = []string{"text/html", "image/svg+xml", "text/xml", "text/rtf", "text/vcard", "text/calendar", "text/vtt"}

// content has what Receive finds out about the type of a file while it reads the bytes.
type content struct {
	header []byte // the first headerBytes
	text   textCheck
}

// Write adds bytes of the file. It never fails.
func (c *content) Write(p []byte) (int, error) {
	if missing := headerBytes - len(c.header); missing > 0 {
		c.header = append(c.header, p[:min(missing, len(p))]...)
	}
	return c.text.Write(p)
}

// detect returns the type of the content by its signature, or text/plain for other UTF-8 text, or application/octet-stream. container
// is text/plain or application/zip if the content can have a type that its bytes do not show.
func (c *content) detect() (mediaType, container string) {
	m := mimetype.Detect(c.header)
	if m.Is("image/apng") { // an animated PNG is a PNG
		return "image/png", ""
	}
	for parent := m; parent != nil; parent = parent.Parent() {
		switch {
		case parent.Is(anyZip):
			return withoutParameters(m.String()), anyZip
		case slices.ContainsFunc(signedTexts, parent.Is) && c.text.valid():
			return withoutParameters(m.String()), anyText
		case slices.ContainsFunc(signedTexts, parent.Is):
			return withoutParameters(m.String()), ""
		case (parent.Is(anyText) || m.Is(anyBytes)) && c.text.valid():
			return anyText, anyText
		case parent.Is(anyText):
			return anyBytes, ""
		}
	}
	return withoutParameters(m.String()), ""
}

func withoutParameters(mediaType string) string {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	return mediaType
}

// typeOf returns the type of the content in the field. declared is the type that the client says; it counts only for text and for zip
// containers, and only if the content of this type is text or a zip container. ok is false if the field does not allow the type.
func (c *content) typeOf(field Field, declared string) (mediaType string, ok bool) {
	mediaType, container := c.detect()
	if field.Image {
		return mediaType, images[mediaType] != nil && field.allows(mediaType)
	}
	declared, _, err := mime.ParseMediaType(declared)
	if err == nil && container != "" && isIn(declared, container) && field.allows(declared) {
		return declared, true
	}
	return mediaType, field.allows(mediaType)
}

// allows reports whether the field allows a type. Types can have several names, such as application/xml and text/xml.
func (f Field) allows(mediaType string) bool {
	m := mimetype.Lookup(mediaType)
	return f.Types == nil || slices.Contains(f.Types, mediaType) || m != nil && slices.ContainsFunc(f.Types, m.Is)
}

const maxTypeBytes = 255 // of a declared type

// isIn reports whether files of a type can be files of the container type. Types without a known signature can; the types of request
// bodies say nothing about the file.
func isIn(mediaType, container string) bool {
	if len(mediaType) > maxTypeBytes || mediaType == anyBytes || mediaType == "application/x-www-form-urlencoded" || strings.HasPrefix(mediaType, "multipart/") {
		return false
	}
	m := mimetype.Lookup(mediaType)
	if m == nil {
		return true
	}
	for ; m != nil; m = m.Parent() {
		if m.Is(container) {
			return true
		}
	}
	return false
}

// measure returns the size of an image in pixels, by its header; 0, 0 if the content is no image that has a readable header.
func measure(mediaType string, from io.Reader) (width, height int64) {
	read := images[mediaType]
	if read == nil {
		return 0, 0
	}
	config, err := read(bufio.NewReader(from))
	if err != nil || config.Width <= 0 || config.Height <= 0 {
		return 0, 0
	}
	return int64(config.Width), int64(config.Height)
}

// textCheck finds out whether the bytes that are written to it are UTF-8 without NUL.
type textCheck struct {
	rest   []byte // the beginning of a character
	failed bool
}

func (c *textCheck) Write(p []byte) (int, error) {
	n := len(p)
	if c.failed {
		return n, nil
	}
	c.failed = bytes.IndexByte(p, 0) >= 0
	for len(c.rest) > 0 && len(p) > 0 && !c.failed {
		c.rest, p = append(c.rest, p[0]), p[1:]
		if utf8.FullRune(c.rest) {
			c.failed = !utf8.Valid(c.rest)
			c.rest = c.rest[:0]
		}
	}
	end := len(p)
	for i := len(p) - 1; i >= max(len(p)-utf8.UTFMax, 0); i-- {
		if utf8.RuneStart(p[i]) {
			if !utf8.FullRune(p[i:]) {
				end = i
			}
			break
		}
	}
	c.failed = c.failed || !utf8.Valid(p[:end])
	c.rest = append(c.rest, p[end:]...)
	return n, nil
}

func (c *textCheck) valid() bool { return !c.failed && len(c.rest) == 0 }

// invalid returns the error of a field.
func (f Field) invalid(code apperr.FieldCode, expected any, format string, args ...any) error {
	return apperr.Invalid(apperr.Field{In: "body", Param: f.Name, Code: code, Message: fmt.Sprintf(format, args...), Expected: expected})
}

// wrongType returns the error for content of a type that the field does not allow.
func (f Field) wrongType() error {
	if f.Image && f.Types == nil {
		return f.invalid(apperr.Type, nil, "Must be a PNG, JPEG, GIF or WebP image.")
	}
	return f.invalid(apperr.Type, f.Types, "Must be a file of type %s.", strings.Join(f.Types, " or "))
}

// tooLarge returns the error for a file that is longer than the field allows.
func (f Field) tooLarge() error {
	return apperr.New(apperr.PayloadTooLarge, "The file %s is larger than %d bytes.", f.Name, f.MaxBytes)
}

var errNoRoom = errors.New("files: the directory for temporary files cannot be written; see FILES_TMP")
