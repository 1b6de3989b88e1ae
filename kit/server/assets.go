package server

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"time"

	"golang.org/x/net/webdav"
)

// assets is a read-only webdav.FileSystem, which gin-swagger requires, of files in one directory.
type assets struct {
	files   map[string]file
	gzipped bool // serve compressed files without decompressing
}

func (assets) Mkdir(context.Context, string, os.FileMode) error  { return fs.ErrPermission }
func (assets) RemoveAll(context.Context, string) error           { return fs.ErrPermission }
func (assets) Rename(context.Context, string, string) error      { return fs.ErrPermission }
func (assets) Stat(context.Context, string) (os.FileInfo, error) { return nil, fs.ErrNotExist }
func (assetFile) Close() error                                   { return nil }
func (assetFile) Write([]byte) (int, error)                      { return 0, fs.ErrPermission }
func (assetFile) Readdir(int) ([]fs.FileInfo, error)             { return nil, fs.ErrInvalid }
func (f assetFile) Stat() (fs.FileInfo, error)                   { return assetInfo{f}, nil }
func (i assetInfo) Name() string                                 { return i.name }
func (i assetInfo) Size() int64                                  { return i.Reader.Size() }
func (assetInfo) Mode() fs.FileMode                              { return 0o444 }
func (assetInfo) ModTime() time.Time                             { return time.Time{} }
func (assetInfo) IsDir() bool                                    { return false }
func (assetInfo) Sys() any                                       { return nil }
func (i assetInfo) ETag(context.Context) (string, error)         { return i.tag, nil } // webdav.ETager

// OpenFile implements webdav.FileSystem.
func (a assets) OpenFile(_ context.Context, name string, _ int, _ os.FileMode) (webdav.File, error) {
	name = path.Base(name)
	f, ok := a.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if !f.compressed {
		return assetFile{bytes.NewReader(f.content), name, f.tag}, nil
	}
	if a.gzipped {
		return assetFile{bytes.NewReader(f.content), name, f.gzipTag()}, nil
	}
	content, err := unzip(f.content)
	return assetFile{bytes.NewReader(content), name, f.tag}, err
}

type assetFile struct {
	*bytes.Reader
	name, tag string
}

type assetInfo struct{ assetFile }
