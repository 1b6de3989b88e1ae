package middleware

import (
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/store"
)

// ourTag is what etag makes, plain or compressed.
var ourTag = regexp.MustCompile(`^"([0-9a-f]{24})-(\d{1,18})-\w*View(?:` + gzipSuffix + `)?"$`)

// gzipSuffix is what the compressed form of an answer bears in its ETag, as it is another representation (RFC 9110
// section 8.8.3.3).
const gzipSuffix = "-gzip"

// etag names one state of a record in one view: its id, which an address such as /users/me does not tell, its version and
// the view's type.
func etag(record store.Meta, view any) string {
	return `"` + record.ID.Hex() + "-" + strconv.FormatInt(record.Version, 10) + "-" + reflect.TypeOf(view).Name() + `"`
}

// Record answers 200 with the view of a record and the ETag of its state; or, to a GET, 304 if the caller has it.
func Record(c *gin.Context, record store.Meta, view any) error {
	if unchanged(c, etag(record, view)) {
		return nil
	}
	return answer(c, http.StatusOK, view)
}

// unchanged tells the caller the tag of what is about to be answered. To a GET of somebody who has that already it answers
// 304, and reports so.
func unchanged(c *gin.Context, tag string) bool {
	c.Header("ETag", tag)
	if c.Request.Method != http.MethodGet || !lists(joined(c, "If-None-Match"), tag) {
		return false
	}
	c.Status(http.StatusNotModified)
	c.Writer.WriteHeaderNow()
	return true
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

// joined is the value of a header that may come in several lines (RFC 9110 section 5.3).
func joined(c *gin.Context, name string) string {
	return strings.Join(c.Request.Header.Values(name), ",")
}

// IfMatch is the versions of a record for which the caller wants the change (RFC 9110 section 13.1.1): nil if the header
// is absent or *. A weak tag, or one that is not ours or of another record, is no version.
func IfMatch(c *gin.Context, id store.ID) store.Versions {
	header := strings.TrimSpace(joined(c, "If-Match"))
	if header == "" || header == "*" {
		return nil
	}
	versions := store.Versions{}
	for item := range strings.SplitSeq(header, ",") {
		if m := ourTag.FindStringSubmatch(strings.TrimSpace(item)); m != nil && m[1] == id.Hex() {
			version, _ := strconv.ParseInt(m[2], 10, 64) // up to 18 digits
			versions = append(versions, version)
		}
	}
	return versions
}
