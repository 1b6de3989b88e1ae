package middleware

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/internal/store"
)

// gzipSuffix is what the compressed form of an answer bears in its ETag, as it is another representation (RFC 9110
// section 8.8.3.3).
const gzipSuffix = "-gzip"

// etag names one state of a record in one view: its version and the view's type.
func etag(version int64, view any) string {
	return `"` + strconv.FormatInt(version, 10) + "-" + reflect.TypeOf(view).Name() + `"`
}

// Record answers 200 with the view of a record and the ETag of its version; or, to a GET, 304 if the caller has it.
func Record(c *gin.Context, version int64, view any) error {
	tag := etag(version, view)
	c.Header("ETag", tag)
	if c.Request.Method == http.MethodGet && lists(c.GetHeader("If-None-Match"), tag) {
		c.Status(http.StatusNotModified)
		c.Writer.WriteHeaderNow()
		return nil
	}
	return answer(c, http.StatusOK, view)
}

// lists reports whether an If-None-Match names the tag, by the weak comparison.
func lists(header, tag string) bool {
	for item := range strings.SplitSeq(header, ",") {
		item = strings.TrimPrefix(strings.TrimSpace(item), "W/")
		if item == "*" || item == tag || strings.Replace(item, gzipSuffix+`"`, `"`, 1) == tag {
			return true
		}
	}
	return false
}

// IfMatch is the versions for which the caller wants the change (RFC 9110 section 13.1.1): nil if the header is absent
// or *. A weak or foreign tag is no version.
func IfMatch(c *gin.Context) store.Versions {
	header := strings.TrimSpace(c.GetHeader("If-Match"))
	if header == "" || header == "*" {
		return nil
	}
	versions := store.Versions{}
	for item := range strings.SplitSeq(header, ",") {
		item, strong := strings.CutPrefix(strings.TrimSpace(item), `"`)
		number, _, _ := strings.Cut(strings.TrimSuffix(item, `"`), "-")
		if version, err := strconv.ParseInt(number, 10, 64); strong && err == nil {
			versions = append(versions, version)
		}
	}
	return versions
}
