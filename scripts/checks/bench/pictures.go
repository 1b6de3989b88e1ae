package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
)

// pictureName is the name of the picture's file.
const pictureName = "picture.png"

// picture returns a PNG of 1 MB that cannot be compressed.
var picture = sync.OnceValue(func() string { return noise(577) })

// noise returns a PNG of random pixels.
func noise(width int) string {
	pixels := image.NewRGBA(image.Rect(0, 0, width, width))
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(pixels.Pix) // never fails
	for i := 3; i < len(pixels.Pix); i += 4 {
		pixels.Pix[i] = 0xff // opaque: three bytes per pixel
	}
	var file strings.Builder
	if err := png.Encode(&file, pixels); err != nil {
		panic(err) // a strings.Builder never fails
	}
	return file.String()
}

// isTransfer reports whether the requests of the row upload or download files.
func (r row) isTransfer() bool { return strings.HasSuffix(r.name, ", 1 MB") }

// storePictures stores a picture of each author. An older binary without the route has no pictures.
func (s *service) storePictures() error {
	small := requestWith("PUT", "/users/me/picture", "Bearer "+s.tokens[0], "image/png", noise(1))
	if response, _, err := send(s.addr, small); err != nil {
		if response != nil && response.StatusCode == http.StatusNotFound {
			return nil
		}
		return err
	}
	s.pictures = true
	for _, upload := range s.uploads()[:authors] {
		if _, _, err := send(s.addr, upload); err != nil {
			return err
		}
	}
	return nil
}

// pictureNames is the number of names with which an author uploads the picture, so that nearly every upload replaces the picture.
// Ginseng stores nothing otherwise.
const pictureNames = 10

// uploads returns requests in which the authors upload a picture in turn, with each name; none without the route.
func (s *service) uploads() (requests [][]byte) {
	if !s.pictures {
		return nil
	}
	for name := range pictureNames {
		requests = append(requests, each(s.tokens, func(token string) []byte {
			return requestWith("PUT", fmt.Sprintf("/users/me/picture?filename=%d.png", name), "Bearer "+token, "image/png", picture())
		})...)
	}
	return requests
}

// downloads returns requests in which each author downloads the own picture: at most 10 downloads of a user, or of a network without
// a user, are in progress at a time. None without the route.
func (s *service) downloads() [][]byte {
	if !s.pictures {
		return nil
	}
	return each(s.tokens, func(token string) []byte { return request("GET", "/users/me/picture", "Bearer "+token, "") })
}

// storePictures stores a picture of each account. If the accounts have no field avatar, it stores nothing.
func (p *peer) storePictures() error {
	for _, upload := range p.uploads() {
		_, body, err := send(p.addr, upload)
		if err != nil {
			return err
		}
		var account struct{ Avatar string }
		if err := json.Unmarshal(body, &account); err != nil {
			return err
		}
		if account.Avatar == "" {
			return nil
		}
		p.pictures = append(p.pictures, account.Avatar)
	}
	return nil
}

// uploads returns requests in which each account uploads a picture. Each upload gives the picture another name.
func (p *peer) uploads() (requests [][]byte) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, _ := form.CreateFormFile("avatar", pictureName) // a bytes.Buffer never fails
	_, _ = part.Write([]byte(picture()))
	_ = form.Close()
	for i, id := range p.users {
		requests = append(requests,
			requestWith("PATCH", "/api/collections/users/records/"+id, p.tokens[i], form.FormDataContentType(), body.String()))
	}
	return requests
}

// downloads returns requests in which each account downloads the picture that storePictures has stored.
func (p *peer) downloads() (requests [][]byte) {
	for i, name := range p.pictures {
		requests = append(requests, request("GET", fmt.Sprintf("/api/files/users/%s/%s", p.users[i], name), p.tokens[i], ""))
	}
	return requests
}
