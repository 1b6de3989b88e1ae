package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
)

// ReceiveFile receives the file of a request to a route with route.Upload. It first reserves the quota of the caller. A multipart body
// has one part, whose name is that of the field; any other body is the file. The file is discarded at the end of the request, unless
// it was stored with files.Files.Put. UnsupportedMediaType: the body is compressed. ValidationFailed: see files.Reservation.Receive, or
// the parts have other names. PayloadTooLarge: the file is larger than the field allows, or the quota is used up. MalformedBody,
// RequestTimeout: see Body. Unavailable: there is no room for the file. Unauthorized: the credential has ended while the file was
// received. Call rest.Caller after ReceiveFile again.
func ReceiveFile(g *gin.Context, f *files.Files, field files.Field) (*files.File, error) {
	r := requestOf(g)
	if r.raw == nil {
		return nil, fmt.Errorf("rest: ReceiveFile: add route.Upload to the route %s %s", g.Request.Method, g.FullPath())
	}
	if err := checkCoding(g.Request); err != nil {
		return nil, err
	}
	mediaType, params, err := mime.ParseMediaType(g.GetHeader("Content-Type"))
	isForm := err == nil && mediaType == typeMultipart
	size := field.MaxBytes
	if length := g.Request.ContentLength; length >= 0 && (isForm || length <= size) {
		size = min(size, length)
	} else if length > size {
		return nil, apperr.New(apperr.PayloadTooLarge, "The file is larger than %d bytes.", size)
	}
	if err := r.reserve(g, f, size); err != nil {
		return nil, err
	}
	var file *files.File
	query := Query(g).Get("filename")
	if isForm {
		file, err = receivePart(g, &r.upload, field, params["boundary"], query)
	} else {
		file, err = r.upload.receive(g.Request.Context(), g.Request.Body, field, g.GetHeader("Content-Disposition"), query, mediaType)
	}
	if allowed := r.upload.allowed; err == nil && allowed != nil {
		err = allowed.Done()
	}
	return file, err
}

// receivePart receives the file of a multipart body.
func receivePart(g *gin.Context, u *upload, field files.Field, boundary, query string) (file *files.File, err error) {
	if boundary == "" {
		return nil, malformed("The multipart body has no boundary.")
	}
	source := &partSource{from: g.Request.Body}
	reader := multipart.NewReader(source, boundary)
	for {
		part, err := source.next(reader)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch name := part.FormName(); {
		case name == field.Name && file == nil:
			file, err = u.receive(g.Request.Context(), part, field, part.Header.Get("Content-Disposition"), query, part.Header.Get("Content-Type"))
			if err != nil {
				return nil, err
			}
		case name == field.Name:
			return nil, apperr.Invalid(apperr.Field{In: "body", Param: name, Code: apperr.Type, Message: "Must be given once."})
		default:
			return nil, apperr.Invalid(unknown("body", []string{name}, []string{field.Name}, "")...)
		}
	}
	if file == nil {
		return nil, apperr.Invalid(apperr.Field{In: "body", Param: field.Name, Code: apperr.Required, Message: "Must be given, as a file."})
	}
	return file, source.drain()
}

// inline lists the media types that browsers may show. They can run no code.
var inline = []string{
	"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "video/mp4", "video/webm", "audio/mp4", "audio/webm", "video/ogg", "audio/ogg",
	"application/ogg", "audio/mpeg", "audio/wav", "application/pdf", "text/plain",
}

// ServeFile responds to a GET or HEAD request with a file, or with the range of it that the request asks for (RFC 9110 section 14). A
// request for several ranges, or with a malformed Range header, gets the whole file. cache is the Cache-Control of the response. open
// is called only if bytes are sent. RangeNotSatisfiable: the range begins after the end of the file. ServeFile also returns the errors
// of open. The route must have route.Download.
func ServeFile(g *gin.Context, file files.File, open func() (io.ReadSeekCloser, error), cache string) error {
	header := g.Writer.Header()
	tag := `"` + file.SHA256 + `"`
	header.Set("ETag", tag)
	header.Set("Cache-Control", cache)
	header.Set("Accept-Ranges", "bytes")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	if hasTag(headerValue(g, "If-None-Match"), tag) {
		g.Status(http.StatusNotModified)
		g.Writer.WriteHeaderNow()
		return nil
	}
	start, end, part, err := byteRange(g, tag, file.Size)
	if err != nil {
		header.Set("Content-Range", "bytes */"+strconv.FormatInt(file.Size, 10))
		header.Del("ETag")
		header.Set("Cache-Control", "no-store")
		return err
	}
	var content io.ReadSeekCloser
	if g.Request.Method != http.MethodHead {
		if content, err = open(); err == nil {
			defer func() { _ = content.Close() }()
			_, err = content.Seek(start, io.SeekStart)
		}
		if err != nil {
			header.Del("ETag")
			header.Set("Cache-Control", "no-store")
			return err
		}
	}
	header.Set("Content-Type", contentType(file.Type))
	header.Set("Content-Disposition", disposition(file))
	header.Set("Content-Length", strconv.FormatInt(end-start, 10))
	status := http.StatusOK
	if part {
		header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, end-1, file.Size))
		status = http.StatusPartialContent
	}
	g.Status(status)
	g.Writer.WriteHeaderNow()
	if content != nil {
		if _, err := io.CopyN(g.Writer, content, end-start); err != nil {
			if client := (*net.OpError)(nil); errors.As(err, &client) {
				err = errors.Join(context.Canceled, err) // for the level of the log
			}
			_ = g.Error(fmt.Errorf("the file was not sent completely: %w", err))
			panic(http.ErrAbortHandler) // closes the connection, so that the client notices
		}
	}
	return nil
}

// singleRange matches a Range header with one range of bytes.
var singleRange = regexp.MustCompile(`^(?i:bytes)=[ \t]*(\d{0,18})-(\d{0,18})[ \t]*$`)

// byteRange returns the part of a file of size bytes that the request asks for, from start to before end. part is false for the whole
// file. The tag is that of the file.
func byteRange(g *gin.Context, tag string, size int64) (start, end int64, part bool, err error) {
	ifRange := strings.TrimSpace(headerValue(g, "If-Range"))
	m := singleRange.FindStringSubmatch(headerValue(g, "Range"))
	if m == nil || m[1]+m[2] == "" || ifRange != "" && ifRange != tag { // a weak tag and a date do not match (RFC 9110 section 13.1.5)
		return 0, size, false, nil
	}
	first, _ := strconv.ParseInt("0"+m[1], 10, 64) // cannot fail: at most 18 digits
	last, _ := strconv.ParseInt("0"+m[2], 10, 64)
	switch {
	case m[1] == "" && last > 0: // the last bytes
		return max(0, size-last), size, true, nil
	case m[1] == "" || first >= size:
		return 0, 0, false, apperr.New(apperr.RangeNotSatisfiable, "The file has only %d bytes.", size)
	case m[2] == "":
		return first, size, true, nil
	case last < first: // invalid (RFC 9110 section 14.1.1)
		return 0, size, false, nil
	}
	return first, min(last+1, size), true, nil
}

// contentType returns the Content-Type of a file. Text is UTF-8; see files.Reservation.Receive.
func contentType(mediaType string) string {
	if strings.HasPrefix(mediaType, "text/") {
		return mediaType + "; charset=utf-8"
	}
	return mediaType
}

// quotable matches file names that need no filename* parameter.
var quotable = regexp.MustCompile(`^[\w!#$&+.^` + "`" + `|~ (),;=@\[\]{}-]*$`)

// disposition returns the Content-Disposition of a file (RFC 6266): with a name in ASCII for old clients, and the name itself.
func disposition(file files.File) string {
	kind := "attachment"
	if slices.Contains(inline, file.Type) {
		kind = "inline"
	}
	if quotable.MatchString(file.Name) {
		return kind + `; filename="` + file.Name + `"`
	}
	ascii := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\%/`, r) {
			return '_'
		}
		return r
	}, file.Name)
	return kind + `; filename="` + ascii + `"; filename*=UTF-8''` + strings.ReplaceAll(url.QueryEscape(file.Name), "+", "%20")
}
