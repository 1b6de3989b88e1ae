package main

import (
	"net/http"
	"regexp"
	"strings"
)

// pageFile matches the address of a file of the admin page.
var pageFile = regexp.MustCompile(`(?:href|src)="([^"]+)"`)

// findPage finds the files of the first screen of the admin page. An older binary has no such page.
func (s *service) findPage() error {
	page := "/admin/"
	response, text, err := send(s.addr, request("GET", page, "", ""))
	if err != nil {
		if response != nil && response.StatusCode == http.StatusNotFound {
			return nil
		}
		return err
	}
	s.page = []string{page}
	for _, match := range pageFile.FindAllStringSubmatch(string(text), -1) {
		s.page = append(s.page, page+match[1])
	}
	return nil
}

// pageFiles returns a request for each file of the first screen of the admin page, as a browser sends it.
func (s *service) pageFiles() [][]byte {
	return each(s.page, func(path string) []byte {
		return []byte(strings.Replace(string(request("GET", path, "", "")), "\r\n\r\n", "\r\nAccept-Encoding: gzip\r\n\r\n", 1))
	})
}
