package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store"
)

// parts is a multipart body with files, which is read as a stream: first up to the first file, and the rest when the files are allowed.
type parts struct {
	fields  []files.Field
	maxText int64
	reserve func() error // see SetParts

	source *partSource
	reader *multipart.Reader
	file   *multipart.Part // the file that is read next; nil: the body has been read
	body   io.Reader       // the bytes of file
	count  int             // parts so far
	text   int64           // bytes of the parameters so far
	params Params
}

// upload is what a request may receive and has received, which must be dropped at its end.
type upload struct {
	allowed     *AllowFiles // nil: not yet
	reservation *files.Reservation
	files       []*files.File
}

// AllowFiles says how the files of a request are received.
type AllowFiles struct {
	Files     *files.Files
	LateQuota bool         // Bind returns the error of a quota that is used up, instead of Body, which then receives the files all the same
	Done      func() error // is called when all files were received; its error is that of Body or ReceiveFile
}

// SetAllowFiles lets Body receive the files of a multipart body on its next call. The middleware calls it after authentication.
func SetAllowFiles(g *gin.Context, allow AllowFiles) { requestOf(g).upload.allowed = &allow }

// received are the parts of a body for one field for files.
type received struct {
	files     []*files.File
	fieldErrs []apperr.Field
}

// SetParts lets the request have a multipart body with files for the fields. The parameters in the body have at most maxText bytes.
// reserve is called before they take more than a small part of the memory. The middleware of a route with route.Files calls SetParts.
func SetParts(g *gin.Context, fields []files.Field, maxText int64, reserve func() error) {
	requestOf(g).parts = &parts{fields: fields, maxText: maxText, reserve: reserve}
}

// HasParts reports whether the body has files that were not received yet. Call it after Body.
func HasParts(g *gin.Context) bool {
	p := requestOf(g).parts
	return p != nil && p.file != nil
}

// TextBytes returns the size in bytes of the parameters of a multipart body with files.
func TextBytes(g *gin.Context) int64 {
	if p := requestOf(g).parts; p != nil {
		return p.text
	}
	return 0
}

// receiveParts reads the rest of a multipart body with files, and receives the files. Before that, it reserves the caller's quota.
// For the errors, see Body and files.Files.Reserve; those of single files are for Bind.
func (r *request) receiveParts(g *gin.Context) error {
	p, allowed := r.parts, r.upload.allowed
	size := int64(0)
	for _, field := range p.fields {
		size += field.MaxTotal()
	}
	if g.Request.ContentLength >= 0 {
		size = min(size, g.Request.ContentLength)
	}
	err := r.reserve(g, allowed.Files, size)
	if allowed.LateQuota && apperr.Is(err, apperr.QuotaExceeded) {
		p.params.late, err = err, nil
	}
	for err == nil && p.file != nil {
		if err = p.receive(g.Request.Context(), &r.upload); err == nil {
			err = p.next()
		}
	}
	g.Request.Body = consumed{}
	if err == nil {
		err = allowed.Done()
	}
	return err
}

// reserve reserves bytes of the quota of the caller. After QuotaExceeded, the reservation can receive files, too.
func (r *request) reserve(g *gin.Context, f *files.Files, size int64) (err error) {
	var uploader *store.ID
	if r.caller.IsUser() {
		uploader = &r.caller.UserID
	}
	r.upload.reservation, err = f.Reserve(g.Request.Context(), uploader, size)
	return err
}

// DropFiles discards the files that the request has received and not stored, and frees the reservation of the quota.
func DropFiles(g *gin.Context) {
	u := requestOf(g).upload
	for _, f := range u.files {
		f.Discard()
	}
	if u.reservation != nil {
		u.reservation.Free(g.Request.Context())
	}
}

// begin reads the body up to the first file, and returns the parameters before it.
func (p *parts) begin(g *gin.Context) (Params, error) {
	_, params, err := mime.ParseMediaType(g.GetHeader("Content-Type"))
	if err := checkCoding(g.Request); err != nil {
		return Params{}, err
	}
	if err != nil || params["boundary"] == "" {
		return Params{}, malformed("The multipart body has no boundary.")
	}
	p.source = &partSource{from: g.Request.Body}
	p.reader = multipart.NewReader(p.source, params["boundary"])
	p.params.form = url.Values{}
	err = p.next()
	return p.params, err
}

// next reads parameters up to the next file, or to the end of the body.
func (p *parts) next() error {
	afterFile := p.file != nil
	p.file, p.body = nil, nil
	for {
		part, err := p.source.next(p.reader)
		if errors.Is(err, io.EOF) {
			return p.source.drain()
		}
		if err != nil {
			return err
		}
		if p.count++; p.count > maxParams {
			return tooManyParams()
		}
		name := part.FormName()
		switch {
		case name == "":
			return malformed("A part of the multipart body has no name.")
		case !utf8.ValidString(name):
			return malformed("The body is not valid UTF-8.")
		case isFile(part):
			empty, err := p.begins(part)
			if empty && err == nil {
				continue
			}
			p.file = part
			return err
		case afterFile && name == Credential:
			return apperr.New(apperr.Unauthorized, "access_token follows a file. Send it before the first file, or in the header Authorization: Bearer.")
		}
		if err := p.parameter(name, part); err != nil {
			return err
		}
	}
}

// begins sets the bytes of the file that is read next. empty reports whether there is no file, because it is a file input of a page in
// which none was chosen.
func (p *parts) begins(part *multipart.Part) (empty bool, err error) {
	p.body = part
	if part.FileName() != "" || !p.isField(part.FormName()) {
		return false, nil
	}
	var first [1]byte
	switch _, err := io.ReadFull(part, first[:]); {
	case errors.Is(err, io.EOF):
		return true, nil
	case err != nil:
		return false, bodyError(err)
	}
	p.body = io.MultiReader(bytes.NewReader(first[:]), part)
	return false, nil
}

// isField reports whether there is a field for files with the name.
func (p *parts) isField(name string) bool {
	return slices.ContainsFunc(p.fields, func(f files.Field) bool { return f.Name == name })
}

// isFile reports whether a part is a file: it has a file name, which can be empty.
func isFile(part *multipart.Part) bool {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	_, named := params["filename"]
	return named && err == nil
}

// smallText is the size in bytes above which the parameters reserve memory.
const smallText = 16 << 10

// parameter reads a part that is not a file.
func (p *parts) parameter(name string, part *multipart.Part) error {
	limit := min(p.maxText, smallText)
	if p.reserve == nil {
		limit = p.maxText
	}
	var value []byte
	for {
		data, err := readAll(io.LimitReader(part, limit-p.text+1), -1)
		if err != nil {
			return err
		}
		value, p.text = append(value, data...), p.text+int64(len(data))
		switch {
		case p.text <= limit:
			if !utf8.Valid(value) {
				return malformed("The body is not valid UTF-8.")
			}
			p.params.form.Add(name, string(value))
			return nil
		case p.text > p.maxText:
			return apperr.New(apperr.PayloadTooLarge, "The parameters of the body are larger than %d bytes.", p.maxText)
		}
		if err := p.reserve(); err != nil {
			return err
		}
		p.reserve, limit = nil, p.maxText
	}
}

// receive receives the next file.
func (p *parts) receive(ctx context.Context, u *upload) error {
	name := p.file.FormName()
	i := slices.IndexFunc(p.fields, func(f files.Field) bool { return f.Name == name })
	if i < 0 {
		p.params.invalid = append(p.params.invalid, apperr.Field{In: "body", Param: name, Code: apperr.Type, Message: "Must be a string, not a file."})
		return p.skip()
	}
	field := p.fields[i]
	if p.params.files == nil {
		p.params.files = map[string]*received{}
	}
	to := p.params.files[name]
	if to == nil {
		to = &received{}
		p.params.files[name] = to
	}
	switch n := len(to.files); {
	case field.List && n == files.MaxItems:
		return apperr.New(apperr.Conflict, "A record has at most %d files in %s.", files.MaxItems, name)
	case !field.List && n+len(to.fieldErrs) > 0:
		to.fieldErrs = append(to.fieldErrs, apperr.Field{In: "body", Param: name, Code: apperr.Type, Message: "Must be given once."})
		return p.skip()
	}
	f, err := u.receive(ctx, p.body, field, p.file.Header.Get("Content-Disposition"), "", p.file.Header.Get("Content-Type"))
	var invalid *apperr.Error
	if errors.As(err, &invalid) && invalid.Code == apperr.ValidationFailed {
		to.fieldErrs = append(to.fieldErrs, invalid.Fields...)
		return nil
	}
	if err == nil {
		to.files = append(to.files, f)
	}
	return err
}

// receive receives a file.
func (u *upload) receive(ctx context.Context, body io.Reader, field files.Field, disposition, query, declared string) (*files.File, error) {
	f, err := u.reservation.Receive(ctx, body, field, files.CleanName(disposition, query), declared)
	if err != nil {
		var failed *apperr.Error
		if !errors.As(err, &failed) {
			err = bodyError(err)
		}
		return nil, err
	}
	u.files = append(u.files, f)
	return f, nil
}

// skip reads the rest of a file that is not received.
func (p *parts) skip() error {
	if _, err := io.Copy(io.Discard, p.file); err != nil {
		return bodyError(err)
	}
	return nil
}

// maxPartHeader is the maximum size in bytes of the header of a part, with what precedes the first boundary.
const maxPartHeader = 16 << 10

// partSource is the source of a multipart.Reader. It limits the headers of parts, for which package multipart allows 10 MiB each.
type partSource struct {
	from   io.Reader
	header int64 // bytes that may be read before the next part begins
	inPart bool
}

var errPartHeader = errors.New("rest: the header of a part is too large")

func (s *partSource) Read(b []byte) (int, error) {
	if !s.inPart {
		if s.header <= 0 {
			return 0, errPartHeader
		}
		b = b[:min(int64(len(b)), s.header)]
	}
	n, err := s.from.Read(b)
	s.header -= int64(n)
	return n, err
}

// next returns the next part. The part before it must have been read. io.EOF: there is none.
func (s *partSource) next(reader *multipart.Reader) (*multipart.Part, error) {
	s.header, s.inPart = maxPartHeader, false
	part, err := reader.NextPart()
	s.inPart = true
	var failed *apperr.Error
	switch {
	case err == nil || err == io.EOF: //nolint:errorlint // a wrapped io.EOF is a body that ends early
		return part, err
	case errors.As(bodyError(err), &failed) && failed.Code != apperr.MalformedBody:
		return nil, failed
	case errors.Is(err, errPartHeader):
		return nil, malformed("The header of a part of the multipart body is larger than 16 KiB.")
	}
	return nil, malformed("The body is not a valid multipart form.").WithCause(err)
}

// drain reads what follows the last part, so that the connection can be used again.
func (s *partSource) drain() error {
	if _, err := io.Copy(io.Discard, s.from); err != nil {
		return bodyError(err)
	}
	return nil
}
