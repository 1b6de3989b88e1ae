package s3

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Config says where the files are.
type Config struct {
	Endpoint  *url.URL // scheme and host of the service, without the bucket
	Bucket    string
	Prefix    string // of all keys; "" or without slashes at the ends
	Region    string
	PathStyle bool // the bucket is in the path, and otherwise part of the host
}

const example = ", for example s3://BUCKET/PREFIX?region=eu-central-1"

var (
	bucketForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$`)
	regionForm = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
)

// maxPrefix is the length of a prefix in bytes. A key has at most 1,024.
const maxPrefix = 900

// Parse parses s3://BUCKET/PREFIX?endpoint=URL&region=REGION&path-style=true. Without endpoint, it is that of AWS in the region. The
// errors do not quote the address.
func Parse(address string) (c Config, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Fragment != "" {
		return c, errors.New("must be s3://, a bucket and a region" + example)
	}
	if u.User != nil {
		return c, errors.New("must not contain keys; set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY")
	}
	if c.Bucket = u.Host; !bucketForm.MatchString(c.Bucket) {
		return c, errors.New("must have the name of a bucket after s3://" + example)
	}
	if c.Prefix = strings.Trim(u.Path, "/"); !validPrefix(c.Prefix) {
		return c, fmt.Errorf("must have a prefix of at most %d printable characters, none of whose parts is empty, . or .. itself", maxPrefix)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return c, errors.New("must have a valid query" + example)
	}
	for name, values := range query {
		switch {
		case name != "endpoint" && name != "region" && name != "path-style":
			return c, errors.New("can only have the parameters endpoint, region and path-style" + example)
		case len(values) > 1:
			return c, fmt.Errorf("must have one %s", name)
		}
	}
	if c.Region = query.Get("region"); !regionForm.MatchString(c.Region) {
		return c, errors.New("must have a region" + example + "; if your storage has no regions, use region=us-east-1")
	}
	if style := query.Get("path-style"); style != "" && style != "true" && style != "false" {
		return c, errors.New("must have path-style=true or path-style=false")
	}
	c.PathStyle = query.Get("path-style") == "true"
	c.Endpoint, err = parseEndpoint(query.Get("endpoint"), c)
	return c, err
}

func validPrefix(prefix string) bool {
	if len(prefix) > maxPrefix || !utf8.ValidString(prefix) || strings.ContainsFunc(prefix, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return false
	}
	for part := range strings.SplitSeq(prefix, "/") {
		if part == "." || part == ".." || part == "" && prefix != "" {
			return false
		}
	}
	return true
}

func parseEndpoint(endpoint string, c Config) (*url.URL, error) {
	if endpoint == "" {
		endpoint = "https://s3." + c.Region + ".amazonaws.com"
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.TrimSuffix(endpoint, "/") != u.Scheme+"://"+u.Host {
		return nil, errors.New("must have an endpoint with a scheme, a host and possibly a port, without the bucket, for example endpoint=https://s3.example.com")
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil && !c.PathStyle {
		return nil, errors.New("has an IP address as endpoint, which requires path-style=true")
	}
	u.Path = ""
	return u, nil
}
