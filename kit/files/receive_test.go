package files_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/testkit/testdb"
)

// encoded returns an image of 3 × 2 pixels.
func encoded(t testing.TB, encode func(io.Writer, image.Image) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White})); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hugePNG returns the header of a PNG with these dimensions.
func hugePNG(width, height uint32) string {
	header := []byte("IHDR")
	header = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(header, width), height)
	header = append(header, 8, 2, 0, 0, 0)
	all := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1a\n"), uint32(len(header)-4))
	return string(binary.BigEndian.AppendUint32(append(all, header...), crc32.ChecksumIEEE(header)))
}

// hugeGIF returns the beginning of a GIF with these dimensions.
func hugeGIF(width, height uint16) string {
	b := binary.LittleEndian.AppendUint16([]byte("GIF89a"), width)
	b = binary.LittleEndian.AppendUint16(b, height)
	return string(append(b, 0x80, 0, 0, 0, 0, 0, 255, 255, 255, ',', 0, 0, 0, 0))
}

// webp3x2 is the beginning of a WebP with an extended header: 3 × 2 pixels.
const webp3x2 = "RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x01\x00\x00"

func zipped(t testing.TB, name, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err == nil {
		_, err = io.WriteString(f, content)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestReceiveTypes checks that the type is what the content is.
func TestReceiveTypes(t *testing.T) {
	t.Parallel()
	s := newService(t, testdb.Open(t), 0)
	r, err := s.files.Reserve(t.Context(), nil, 0)
	s.must(err)
	pngFile, gifFile := encoded(t, png.Encode), encoded(t, func(w io.Writer, m image.Image) error { return gif.Encode(w, m, nil) })
	jpegFile := encoded(t, func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) })
	const (
		html = "<!DOCTYPE html><script>alert(1)</script>"
		svg  = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
		pdf  = "%PDF-1.7\n1 0 obj"
	)
	const (
		rtf      = "{\\rtf1\\ansi Hi}"
		vCard    = "BEGIN:VCARD\r\nVERSION:4.0\r\nEND:VCARD\r\n"
		calendar = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n"
		subtitle = "WEBVTT\n\n00:00.000 --> 00:01.000\nHi\n"
		avif     = "\x00\x00\x00\x1cftypavif\x00\x00\x00\x00avifmif1miaf"
	)
	picture := files.Field{Name: "cover", Image: true, MaxBytes: 10_000}
	only := func(types ...string) files.Field {
		return files.Field{Name: "cover", Image: true, Types: types, MaxBytes: 10_000}
	}
	file := func(types ...string) files.Field { return files.Field{Name: "doc", Types: types, MaxBytes: 10_000} }
	for _, test := range []struct {
		name, content, declared string
		field                   files.Field
		want                    string           // the type
		code                    apperr.FieldCode // of the error
	}{
		{"PNG", pngFile, "text/html", picture, "image/png", ""},
		{"GIF", gifFile, "", picture, "image/gif", ""},
		{"JPEG", jpegFile, "", picture, "image/jpeg", ""},
		{"WebP", webp3x2, "", picture, "image/webp", ""},
		{"PNG, allowed", pngFile, "", only("image/png"), "image/png", ""},
		{"GIF where only PNG is allowed", gifFile, "image/png", only("image/png"), "", apperr.Type},
		{"AVIF, allowed by types only", avif, "", only("image/avif"), "", apperr.Type},
		{"HTML as PNG", html, "image/png", picture, "", apperr.Type},
		{"SVG as image", svg, "image/png", picture, "", apperr.Type},
		{"SVG, declared", svg, "image/svg+xml", picture, "", apperr.Type},
		{"only the signature of a PNG", "\x89PNG\r\n\x1a\n" + html, "image/png", picture, "", apperr.Type},
		{"only the signature of a JPEG", "\xff\xd8\xff" + html, "image/jpeg", picture, "", apperr.Type},
		{"PNG, then HTML", pngFile + html, "text/html", picture, "image/png", ""},
		{"GIF that is JavaScript", "GIF89a/*" + strings.Repeat(" ", 12000) + "*/=1;alert(1)", "", files.Field{Name: "cover", Image: true, MaxBytes: 20_000}, "", apperr.Max},
		{"GIF of 60,000 × 60,000", hugeGIF(60000, 60000), "", picture, "", apperr.Max},
		{"PNG of 2^31 × 2^31", hugePNG(1<<31-1, 1<<31-1), "", picture, "", apperr.Type},
		{"PNG of 50 megapixels", hugePNG(10000, 5000), "", picture, "image/png", ""},
		{"PNG of more", hugePNG(10001, 5000), "", picture, "", apperr.Max},
		{"PNG without width", hugePNG(0, 5000), "", picture, "", apperr.Type},
		{"huge GIF in another field", hugeGIF(60000, 60000), "", file(), "image/gif", ""},
		{"empty", "", "image/png", picture, "", apperr.Required},
		{"empty file", "", "text/plain", file("text/plain"), "", apperr.Required},
		{"one byte", "x", "", file(), "text/plain", ""},

		{"text", "Grüße\n", "", file(), "text/plain", ""},
		{"HTML", html, "", file(), "text/html", ""},
		{"HTML, declared as PNG", html, "image/png", file(), "text/html", ""},
		{"HTML, declared as PDF", html, "application/pdf", file("application/pdf"), "", apperr.Type},
		{"SVG", svg, "", file(), "image/svg+xml", ""},
		{"HTML, declared as text", html, "text/plain; charset=utf-8", file("text/plain"), "text/plain", ""},
		{"HTML, not declared", html, "", file("text/plain"), "", apperr.Type},
		{"RTF", rtf, "", file(), "text/rtf", ""},
		{"RTF, by its other name", rtf, "", file("application/rtf"), "text/rtf", ""},
		{"RTF with bytes that are no UTF-8", rtf + "\xff", "", file("text/rtf"), "text/rtf", ""},
		{"RTF, declared as text", rtf, "text/plain", file("text/plain"), "text/plain", ""},
		{"vCard", vCard, "", file("text/vcard"), "text/vcard", ""},
		{"iCalendar", calendar, "application/octet-stream", file("text/calendar"), "text/calendar", ""},
		{"subtitles", subtitle, "", file("text/vtt"), "text/vtt", ""},
		{"CSV, declared", "a,b\n1,2\n", "text/csv", file("text/csv"), "text/csv", ""},
		{"CSV, not declared", "a,b\n1,2\n3,4\n", "", file("text/csv"), "", apperr.Type},
		{"CSV as text", "a,b\n1,2\n3,4\n", "text/csv", file("text/plain"), "text/plain", ""},
		{"JSON, declared", `{"a":1}`, "application/json", file("application/json"), "application/json", ""},
		{"form as declared type", "text", "application/x-www-form-urlencoded", file(), "text/plain", ""},
		{"multipart as declared type", "text", "multipart/form-data; boundary=x", file(), "text/plain", ""},
		{"a type of 1 KB", "text", "x/" + strings.Repeat("y", 1024), file(), "text/plain", ""},
		{"a type with CR LF", "text", "text/x\r\nSet-Cookie: x", file(), "text/plain", ""},
		{"unknown type", "text", "application/toml", file("application/toml"), "application/toml", ""},
		{"NUL", "text\x00", "text/plain", file("text/plain"), "", apperr.Type},
		{"NUL after the header", strings.Repeat("text ", 1000) + "\x00", "text/plain", file(), "application/octet-stream", ""},
		{"Latin-1", "Gr\xfc\xdfe, gr\xfc\xdfe", "text/plain", file("text/plain"), "", apperr.Type},
		{"cut character", "Gr\xc3", "text/plain", file("text/plain"), "", apperr.Type},
		{"UTF-16", "\xff\xfeh\x00i\x00", "text/plain", file("text/plain"), "", apperr.Type},
		{"PDF", pdf, "text/plain", file("application/pdf"), "application/pdf", ""},
		{"PDF, declared as text", pdf + "\x00", "text/plain", file("text/plain"), "", apperr.Type},
		{"zip", zipped(t, "a.txt", "a"), "application/zip", file("application/zip"), "application/zip", ""},
		{"zip, declared as a spreadsheet", zipped(t, "a.txt", "a"), "application/vnd.oasis.opendocument.spreadsheet",
			file("application/vnd.oasis.opendocument.spreadsheet"), "application/vnd.oasis.opendocument.spreadsheet", ""},
		{"zip, declared as PNG", zipped(t, "a.txt", "a"), "image/png", file("image/png"), "", apperr.Type},
		{"Word as zip", zipped(t, "word/document.xml", "a"), "application/zip", file("application/zip"), "application/zip", ""},
		{"another name of the type", pngFile, "", file("image/x-png", "image/png"), "image/png", ""},
		{"another name of XML", `<?xml version="1.0"?><a/>`, "", file("application/xml"), "text/xml", ""},
	} {
		// A reader of single bytes cuts each character.
		for name, body := range map[string]io.Reader{"": strings.NewReader(test.content), ", in single bytes": iotest.OneByteReader(strings.NewReader(test.content))} {
			got, err := r.Receive(t.Context(), body, test.field, "", test.declared)
			if test.code != "" {
				var e *apperr.Error
				if !errors.As(err, &e) || len(e.Fields) != 1 || e.Fields[0].Code != test.code || e.Fields[0].Param != test.field.Name {
					t.Errorf("%s%s: %+v, %v, want %s", test.name, name, got, err, test.code)
				}
				continue
			}
			if err != nil || got.Type != test.want {
				t.Errorf("%s%s: %+v, %v, want %s", test.name, name, got, err, test.want)
				continue
			}
			hash := sha256.Sum256([]byte(test.content))
			if got.Size != int64(len(test.content)) || got.SHA256 != hex.EncodeToString(hash[:]) {
				t.Errorf("%s%s: %+v", test.name, name, got)
			}
			got.Discard()
		}
	}
	s.wantEmptyTemp()
}

func (s *service) wantEmptyTemp() {
	s.t.Helper()
	entries, err := os.ReadDir(s.temp)
	s.must(err)
	if len(entries) != 0 {
		s.t.Errorf("%d temporary files are left", len(entries))
	}
}

// TestReceive checks the limit of the size, the name, the pixels, and what a broken body leaves.
func TestReceive(t *testing.T) {
	t.Parallel()
	s := newService(t, testdb.Open(t), 0)
	r, err := s.files.Reserve(t.Context(), nil, 0)
	s.must(err)
	field := files.Field{Name: "cover", MaxBytes: 1000}
	if file, err := r.Receive(t.Context(), strings.NewReader(strings.Repeat("x", 1000)), field, "../a\u202e.txt", ""); err != nil || file.Name != "a.txt" {
		t.Errorf("the largest file: %+v, %v", file, err)
	} else {
		file.Discard()
		file.Discard()
	}
	endless := &counter{}
	if _, err := r.Receive(t.Context(), endless, field, "", ""); !apperr.Is(err, apperr.PayloadTooLarge) || endless.n > 1001 {
		t.Errorf("an endless body: %v after %d bytes", err, endless.n)
	}
	broken := errors.New("broken")
	if _, err := r.Receive(t.Context(), io.MultiReader(strings.NewReader("x"), iotest.ErrReader(broken)), field, "", ""); !errors.Is(err, broken) {
		t.Errorf("a broken body: %v", err)
	}
	file, err := r.Receive(t.Context(), strings.NewReader(encoded(t, png.Encode)), field, "..", "")
	s.must(err)
	if file.Name != "cover.png" || file.Width != 3 || file.Height != 2 {
		t.Errorf("%+v", file)
	}
	file.Discard()
	s.wantEmptyTemp()
	s.must(os.Remove(s.temp))
	if _, err := r.Receive(t.Context(), strings.NewReader("x"), field, "", ""); !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("without a directory: %v", err)
	}
}

// counter is an endless body.
type counter struct{ n int }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	c.n += len(p)
	return len(p), nil
}
