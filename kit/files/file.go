// Package files stores the files of records, and deletes them when no record refers to them. It also defines what a record stores
// of a file, how clients see it, and how a resource declares a field for files.
package files

import (
	"example.com/ginseng/kit/store"
)

// File is the value of a field for a file, in a document: *File for one file, []File for a list.
type File struct {
	ID     store.ID `json:"id"`
	Name   string   `json:"name"`             // base name, cleaned; by default the field name with an extension; at most 255 bytes
	Type   string   `json:"type"`             // media type without parameters
	Size   int64    `json:"size"`             // bytes
	SHA256 string   `json:"sha256"`           // 64 lower-case hexadecimal digits
	Width  int64    `json:"width,omitempty"`  // pixels; 0: not a PNG, JPEG, GIF or WebP with a readable header
	Height int64    `json:"height,omitempty"` // pixels; 0: not a PNG, JPEG, GIF or WebP with a readable header

	staged *staged // nil unless Receive has made the file; not stored
}

// View is the representation of a file in responses.
type View struct {
	ID     *store.ID `json:"id,omitempty" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f905"` // only in lists
	Name   string    `json:"name" example:"example.png"`
	Type   string    `json:"type" example:"image/png"` // media type without parameters
	Size   int64     `json:"size" example:"12345"`     // bytes
	SHA256 string    `json:"sha256" example:"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`
	Width  *int64    `json:"width,omitempty" extensions:"x-omitempty" example:"640"`  // pixels; only of images
	Height *int64    `json:"height,omitempty" extensions:"x-omitempty" example:"480"` // pixels; only of images
	URL    string    `json:"url" example:"/articles/65f0c1d2e3a4b5c6d7e8f901/cover"`
} //	@name	File

// View returns the representation of the file, whose path is url. It returns nil if there is no file.
func (f *File) View(url string) *View {
	if f == nil {
		return nil
	}
	v := &View{Name: f.Name, Type: f.Type, Size: f.Size, SHA256: f.SHA256, URL: url}
	if f.Width > 0 {
		v.Width, v.Height = &f.Width, &f.Height
	}
	return v
}

// Views returns the representations of a list of files. The path of a file is url, a slash and the ID of the file.
func Views(list []File, url string) []View {
	views := make([]View, len(list))
	for i, f := range list {
		views[i] = *f.View(url + "/" + f.ID.Hex())
		views[i].ID = &f.ID
	}
	return views
}

// The limits of the fields for files.
const (
	MaxBytes  = 5_000_000_000 // upper bound of Field.MaxBytes
	MaxItems  = 20            // files of a list
	MaxPixels = 50_000_000    // width × height of an image, as its header declares
)

// Field declares a field for files of a resource.
type Field struct {
	Name     string   `json:"name"`            // in the JSON of the view
	List     bool     `json:"list,omitempty"`  // the field has a list of at most MaxItems files
	Image    bool     `json:"image,omitempty"` // only PNG, JPEG, GIF and WebP of at most MaxPixels
	Types    []string `json:"types,omitempty"` // the allowed media types; nil: any
	MaxBytes int64    `json:"maxBytes"`        // the size of the largest file
}

// MaxTotal returns the maximum size in bytes of all files in the field together.
func (f Field) MaxTotal() int64 {
	if f.List {
		return MaxItems * f.MaxBytes
	}
	return f.MaxBytes
}
