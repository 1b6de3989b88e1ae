package rest

import (
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/store"
)

// GzipSuffix ends the ETag of a compressed response, which is another representation (RFC 9110 section 8.8.3.3).
const GzipSuffix = "-gzip"

// recordTag matches what etag returns, with or without GzipSuffix.
var recordTag = regexp.MustCompile(`^"([0-9a-f]{24})-(\d{1,18})-\w*View(?:` + GzipSuffix + `)?"$`)

// etag identifies a version of a record in a view. It has the ID because a path such as /users/me has none.
func etag(record store.Meta, view any) string {
	return `"` + record.ID.Hex() + "-" + strconv.FormatInt(record.Version, 10) + "-" + reflect.TypeOf(view).Name() + `"`
}

// NotModified sets the ETag of the response. For a GET whose If-None-Match has it, NotModified responds 304 and returns
// true.
func NotModified(c *gin.Context, tag string) bool {
	c.Header("ETag", tag)
	if c.Request.Method != http.MethodGet || !lists(joined(c, "If-None-Match"), tag) {
		return false
	}
	c.Status(http.StatusNotModified)
	c.Writer.WriteHeaderNow()
	return true
}

// lists reports whether an If-None-Match header has the tag, by weak comparison.
func lists(header, tag string) bool {
	for item := range strings.SplitSeq(header, ",") {
		item = strings.TrimPrefix(strings.TrimSpace(item), "W/")
		if item == "*" || item == tag || strings.Replace(item, GzipSuffix+`"`, `"`, 1) == tag {
			return true
		}
	}
	return false
}

// joined returns the value of a header that may have several lines (RFC 9110 section 5.3).
func joined(c *gin.Context, name string) string {
	return strings.Join(c.Request.Header.Values(name), ",")
}

// IfMatch returns the versions of a record that the request may change (RFC 9110 section 13.1.1): nil for any, if the
// header is absent or *. Tags that are weak, or not of this record, match no version.
func IfMatch(c *gin.Context, id store.ID) store.Versions {
	header := strings.TrimSpace(joined(c, "If-Match"))
	if header == "" || header == "*" {
		return nil
	}
	versions := store.Versions{}
	for item := range strings.SplitSeq(header, ",") {
		if m := recordTag.FindStringSubmatch(strings.TrimSpace(item)); m != nil && m[1] == id.Hex() {
			version, _ := strconv.ParseInt(m[2], 10, 64) // up to 18 digits
			versions = append(versions, version)
		}
	}
	return versions
}
