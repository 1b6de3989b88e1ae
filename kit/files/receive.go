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
	stored      bool     // Put has begun to store the row and the bytes
}

// Receive reads a file for the field from body, and writes it to a temporary file, which Discard removes. name and declared are the
// file name and the Content-Type that the client sent. It reads no more than one byte beyond Field.MaxBytes.
//
// Errors: ValidationFailed for the field, with the code Required (the file is empty), Type (the field does not allow the type, or the
// size of an image cannot be read) or Max (too many pixels); PayloadTooLarge if the file is larger than Field.MaxBytes; Unavailable
// if the temporary file cannot be written, or after Close; the errors of body, and of the database when the reservation is renewed.
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

// spool copies body to the temporary file and to sink, and returns the number of bytes. It renews the reservation meanwhile. Writes
// to sink must never fail.
func (r *Reservation) spool(ctx context.Context, sink io.Writer, temp *os.File, body io.Reader) (size int64, err error) {
	buffer := make([]byte, spoolBuffer)
	for {
		n, readErr := body.Read(buffer)
		_, _ = sink.Write(buffer[:n])
		if _, err := temp.Write(buffer[:n]); err != nil {
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

// IsStaged reports whether the bytes are in a temporary file: Receive has written it, Put has not begun to store it, and Discard has
// not removed it.
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
