package s3

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Keys are the credentials of an account.
type Keys struct{ ID, Secret string }

const (
	signTime  = "20060102T150405Z"
	algorithm = "AWS4-HMAC-SHA256"
)

// sign adds the headers of AWS Signature Version 4 to a request with the payload's SHA-256 in hexadecimal. The signature covers all
// headers that the request has. Path and query must be encoded with escape, and the query must be sorted.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
func sign(r *http.Request, keys Keys, region, payload string, now time.Time) {
	stamp := now.UTC().Format(signTime)
	r.Header.Set("X-Amz-Date", stamp)
	r.Header.Set("X-Amz-Content-Sha256", payload)
	headers := map[string]string{"host": r.URL.Host}
	names := []string{"host"}
	for name := range r.Header {
		lower := strings.ToLower(name)
		headers[lower], names = r.Header.Get(name), append(names, lower)
	}
	slices.Sort(names)
	var canonical strings.Builder
	canonical.WriteString(r.Method + "\n" + r.URL.EscapedPath() + "\n" + r.URL.RawQuery + "\n")
	for _, name := range names {
		canonical.WriteString(name + ":" + headers[name] + "\n")
	}
	signed := strings.Join(names, ";")
	canonical.WriteString("\n" + signed + "\n" + payload)
	sum := sha256.Sum256([]byte(canonical.String()))
	scope := stamp[:8] + "/" + region + "/s3/aws4_request"
	key := []byte("AWS4" + keys.Secret)
	for _, part := range []string{stamp[:8], region, "s3", "aws4_request"} {
		key = mac(key, part)
	}
	signature := mac(key, algorithm+"\n"+stamp+"\n"+scope+"\n"+hex.EncodeToString(sum[:]))
	r.Header.Set("Authorization", algorithm+" Credential="+keys.ID+"/"+scope+",SignedHeaders="+signed+",Signature="+hex.EncodeToString(signature))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text)) // never fails
	return h.Sum(nil)
}

// escape encodes all bytes except letters, digits and -._~ as a signature requires.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// escapePath is escape for the parts of a path.
func escapePath(path string) string { return strings.ReplaceAll(escape(path), "%2F", "/") }
