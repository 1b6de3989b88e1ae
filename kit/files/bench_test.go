package files_test

import (
	"bytes"
	"fmt"
	"testing"

	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// BenchmarkUpload receives and stores files, with what the database does for each of them.
func BenchmarkUpload(b *testing.B) {
	for _, mb := range []int64{1, 100} {
		b.Run(fmt.Sprintf("%dMB", mb), func(b *testing.B) {
			s, user := newService(b, testdb.Open(b), 0), store.NewID()
			field := files.Field{Name: "cover", MaxBytes: mb * 1_000_000}
			data := bytes.Repeat([]byte("\x00binary "), int(field.MaxBytes)/8)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := s.files.Reserve(b.Context(), &user, field.MaxBytes)
				s.must(err)
				file, err := r.Receive(b.Context(), bytes.NewReader(data), field, "a.bin", "")
				s.must(err)
				s.must(s.files.Put(b.Context(), files.Owner{Collection: "pages", Field: "cover", Record: store.NewID(), Uploader: &user}, file))
				s.must(s.files.Attach(b.Context(), file))
				r.Free(b.Context())
				s.must(s.local.Delete(b.Context(), file.ID))
			}
		})
	}
}

// BenchmarkReceive receives files without storing them.
func BenchmarkReceive(b *testing.B) {
	s := newService(b, testdb.Open(b), 0)
	r, err := s.files.Reserve(b.Context(), nil, 0)
	s.must(err)
	for _, mb := range []int64{1, 100} {
		for name, part := range map[string]string{"binary": "\x00binary ", "text": "text \u00fc\n"} {
			b.Run(fmt.Sprintf("%dMB %s", mb, name), func(b *testing.B) {
				field := files.Field{Name: "cover", MaxBytes: mb * 1_000_000}
				data := bytes.Repeat([]byte(part), int(field.MaxBytes)/len(part))
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					file, err := r.Receive(b.Context(), bytes.NewReader(data), field, "a.bin", "")
					s.must(err)
					file.Discard()
				}
			})
		}
	}
}
