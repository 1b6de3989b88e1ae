package s3

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error is the response of a server that rejects a request.
type Error struct {
	Status     int
	Code       string // of S3; "" if the response has none
	message    string
	request    string // method and URL
	retryAfter time.Duration
	skew       time.Duration // how far the clock of this machine is ahead of the server's; 0 if unknown
}

// The codes of errors, https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
const (
	codeNoKey    = "NoSuchKey"
	codeNoBucket = "NoSuchBucket"
	codeSkewed   = "RequestTimeTooSkewed"
)

// remedies say what an operator can do about an error.
var remedies = map[string]string{
	codeNoBucket:                   "create the bucket, or correct its name",
	"AccessDenied":                 "the keys need the permissions s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket for the bucket",
	"InvalidAccessKeyId":           "correct S3_ACCESS_KEY_ID",
	"SignatureDoesNotMatch":        "correct S3_SECRET_ACCESS_KEY, and the region",
	"AuthorizationHeaderMalformed": "correct the region",
	"PermanentRedirect":            "correct region and endpoint",
	"TemporaryRedirect":            "correct region and endpoint",
	"InvalidBucketName":            "correct the bucket, or set path-style=true",
	"QuotaExceeded":                "the bucket is full",
	"XMinioStorageFull":            "the storage is full",
}

// Error implements error. It contains no secrets.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %d", e.request, e.Status)
	if e.Code != "" {
		text += " " + e.Code
	}
	if e.message != "" {
		text += ": " + e.message
	}
	remedy := remedies[e.Code]
	switch {
	case e.Code == codeSkewed && e.skew > 0:
		remedy = fmt.Sprintf("the clock of this machine is %v ahead of the server's; synchronize it", e.skew)
	case e.Code == codeSkewed:
		remedy = fmt.Sprintf("the clock of this machine is %v behind the server's; synchronize it", -e.skew)
	case remedy == "" && e.Status == http.StatusInsufficientStorage:
		remedy = "the storage is full"
	}
	if remedy != "" {
		text += " (" + remedy + ")"
	}
	return text
}

// IsPermanent reports whether settings or permissions must be corrected.
func (e *Error) IsPermanent() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	return e.Status < http.StatusInternalServerError && e.Code != codeSkewed
}

// isNoKey reports whether the bucket has no file with the key. Other responses with 404 can mean that there is no bucket.
func isNoKey(err error) bool {
	rejected := (*Error)(nil)
	return errors.As(err, &rejected) && rejected.Code == codeNoKey
}

const maxErrorBody = 64 << 10

// rejected returns the error for a response.
func (s *Store) rejected(r *http.Request, response *http.Response) *Error {
	e := &Error{Status: response.StatusCode, request: r.Method + " " + r.URL.Scheme + "://" + r.URL.Host + r.URL.EscapedPath()}
	var body struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}
	if xml.NewDecoder(io.LimitReader(response.Body, maxErrorBody)).Decode(&body) == nil {
		e.Code, e.message = body.Code, strings.TrimSuffix(body.Message, ".")
	}
	now := s.now()
	after := response.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(after, 10, 31); err == nil {
		e.retryAfter = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(after); err == nil {
		e.retryAfter = max(0, at.Sub(now))
	}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		e.skew = now.Sub(date).Round(time.Second)
	}
	return e
}
