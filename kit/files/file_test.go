package files_test

import (
	"encoding/json"
	"testing"

	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store"
)

func TestViews(t *testing.T) {
	t.Parallel()
	id, ok := store.ParseID("65f0c1d2e3a4b5c6d7e8f905")
	if !ok {
		t.Fatal("the ID is invalid")
	}
	image := files.File{ID: id, Name: "a.png", Type: "image/png", Size: 3, SHA256: "00", Width: 2, Height: 1}
	text := files.File{ID: id, Name: "a.txt", Type: "text/plain", Size: 4, SHA256: "01"}
	var none *files.File
	for name, test := range map[string]struct {
		view any
		want string
	}{
		"image": {image.View("/x/1/cover"), `{"name":"a.png","type":"image/png","size":3,"sha256":"00","width":2,"height":1,"url":"/x/1/cover"}`},
		"none":  {none.View("/x/1/cover"), `null`},
		"empty": {files.Views(nil, "/x/1/files"), `[]`},
		"list": {files.Views([]files.File{text}, "/x/1/files"),
			`[{"id":"65f0c1d2e3a4b5c6d7e8f905","name":"a.txt","type":"text/plain","size":4,"sha256":"01","url":"/x/1/files/65f0c1d2e3a4b5c6d7e8f905"}]`},
	} {
		got, err := json.Marshal(test.view)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}
