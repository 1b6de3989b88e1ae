package rest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// Asset is a file that is part of the service, such as a script of a web page.
type Asset struct {
	contentType, tag string
	content          []byte
	compressed       bool // content is compressed with gzip
}

// NewAsset returns an Asset with the content.
func NewAsset(contentType string, content []byte) Asset {
	return Asset{contentType: contentType, tag: ContentTag(content), content: content}
}

// GzipAsset returns an Asset whose content is compressed with gzip. Clients that do not accept gzip receive it uncompressed.
func GzipAsset(contentType string, content []byte) Asset {
	a := NewAsset(contentType, content)
	a.compressed = true
	return a
}

// Content returns the content, compressed if the Asset is.
func (a Asset) Content() []byte { return a.content }

// NotModified makes clients revalidate a cached asset. If the client has the asset, NotModified responds 304 and returns true.
func (a Asset) NotModified(g *gin.Context) bool {
	g.Header("Cache-Control", "no-cache")
	return NotModified(g, a.tag)
}

// Serve responds with the asset, or with 304 if the client has it.
func (a Asset) Serve(g *gin.Context) {
	switch {
	case a.NotModified(g):
	case !a.compressed:
		g.Data(http.StatusOK, a.contentType, a.content)
	case acceptsGzip(g.GetHeader("Accept-Encoding")):
		g.Header("ETag", strings.TrimSuffix(a.tag, `"`)+GzipSuffix+`"`)
		g.Header("Content-Encoding", "gzip")
		g.Data(http.StatusOK, a.contentType, a.content)
	default:
		g.Header("Content-Type", a.contentType)
		unzip(g.Writer, a.content)
	}
}

// unzip writes the uncompressed content in small parts, so that only a part is in memory while a client reads slowly. It stops if
// a write fails.
func unzip(w io.Writer, content []byte) {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		panic(err) // unreachable: the content is part of the service
	}
	_, _ = io.Copy(w, reader) // fails if the client has disconnected
}

// acceptsGzip reports whether an Accept-Encoding header accepts gzip (RFC 9110 section 12.5.3).
func acceptsGzip(header string) bool {
	for item := range strings.SplitSeq(header, ",") {
		coding, weight, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(item, " ", "")), ";")
		if coding == "gzip" {
			return strings.Trim(weight, "q=0.") != "" || weight == ""
		}
	}
	return false
}
