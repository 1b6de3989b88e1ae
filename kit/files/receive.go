package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"example.com/ginseng/kit/apperr"
)

// staged are the bytes of a File that Receive has written to a temporary file.
type staged struct {
	reservation *Reservation
	file        *os.File // nil after Discard
	stored      bool     // Put has stored the bytes
}

// Receive reads a file for the field from body, and writes it to a temporary file, which Discard removes. name and declared are the
// name and the Content-Type that the client says. It reads no more than one byte beyond Field.MaxBytes.
//
// Errors: ValidationFailed with the name of the field, because the file is empty (required), has a type that the field does not
// allow (type) or too many pixels (max); PayloadTooLarge if the file is larger than Field.MaxBytes;
// Unavailable if the temporary file cannot be written; the errors of body.
func (r *Reservation) Receive(ctx context.Context, body io.Reader, field Field, name, declared string) (_ *File, err error) {
	spool, err := r.files.spools.create()
	if err != nil {
		return nil, Unavailable(err)
	}
	f := &File{staged: &staged{reservation: r, file: spool}}
	defer func() {
		if err != nil {
			f.Discard()
		}
	}()
	var found content
	hash := sha256.New()
	f.Size, err = r.spool(ctx, io.MultiWriter(hash, &found), spool, io.LimitReader(body, field.MaxBytes+1))
	switch {
	case err != nil:
		return nil, err
	case f.Size > field.MaxBytes:
		return nil, field.tooLarge()
	case f.Size == 0:
		return nil, field.invalid(apperr.Required, nil, "Must be a file that is not empty.")
	}
	f.SHA256 = hex.EncodeToString(hash.Sum(nil))
	var allowed bool
	if f.Type, allowed = found.typeOf(field, declared); !allowed {
		return nil, field.wrongType()
	}
	f.Width, f.Height = measure(f.Type, io.NewSectionReader(spool, 0, f.Size))
	switch {
	case field.Image && f.Width == 0:
		return nil, field.wrongType()
	case field.Image && f.Width*f.Height > MaxPixels:
		return nil, field.invalid(apperr.Max, MaxPixels, "Must have at most %d pixels.", MaxPixels)
	}
	f.Name = nameOf(name, field.Name, f.Type)
	return f, nil
}

// spoolBuffer is the size of the buffer for the bytes of one upload.
const spoolBuffer = 64 << 10

// spool writes the bytes of body to the temporary file and to also, and returns their number. It keeps the reservation alive.
func (r *Reservation) spool(ctx context.Context, also io.Writer, to *os.File, body io.Reader) (size int64, err error) {
	buffer := make([]byte, spoolBuffer)
	for {
		n, readErr := body.Read(buffer)
		_, _ = also.Write(buffer[:n]) // never fails
		if _, err := to.Write(buffer[:n]); err != nil {
			return size, Unavailable(errors.Join(errNoRoom, err))
		}
		size += int64(n)
		if readErr == io.EOF {
			return size, nil
		}
		if readErr != nil {
			return size, readErr
		}
		if err := r.renew(ctx); err != nil {
			return size, err
		}
	}
}

// IsStaged reports whether the bytes of the file were received by this request, and are not stored yet.
func (f *File) IsStaged() bool {
	if f == nil || f.staged == nil {
		return false
	}
	return f.staged.file != nil && !f.staged.stored
}

// Discard removes the temporary file of Receive. It does not remove what Put has stored. It may be called repeatedly.
func (f *File) Discard() {
	if f == nil || f.staged == nil || f.staged.file == nil {
		return
	}
	f.staged.reservation.files.spools.remove(f.staged.file)
	f.staged.file = nil
}
