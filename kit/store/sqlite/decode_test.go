package sqlite

import (
	"encoding/json"
	"reflect"
	"testing"

	"example.com/ginseng/kit/store"
)

// sample has a field of each kind that documents have.
type sample struct {
	store.Meta
	Text   string            `json:"text"`
	Ref    store.ID          `json:"ref,omitempty"`
	Number float64           `json:"number"`
	Maybe  *string           `json:"maybe"`
	List   []string          `json:"list"`
	Map    map[string]string `json:"map"`
	Inside struct{ A, B string }
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, object := range []string{
		`{}`,
		`{"unknown":1}`,
		`{"id":"65f0c1d2e3a4b5c6d7e8f902","version":7,"createdAt":"2026-01-02T15:04:05.678Z","text":"plain"}`,
		`{"text":"a","version":1,"unknown":2,"ref":"65f0c1d2e3a4b5c6d7e8f902","number":1.5e3}`,
		`{"unknown":{"text":"b","list":[{"version":2}]},"Inside":{"A":"x","B":"}"},"list":["}","]",",\""]}`,
		`{"unknown":"\"text\":1,\\","text":"\\\"}\\\\ \u00e9","maybe":"\\"}`,
		`{"map":{"text":"c"},"list":[],"maybe":null,"text":null,"version":null,"ref":null,"createdAt":null}`,
		` { "text" : "a" , "list" : [ "1" , "2" ] , "version" : 3 } `,
		`{"text":1}`, `{"version":"1"}`, `{"version":1.5}`, `{"ref":"no id"}`, `{"ref":1}`, `{"createdAt":"yesterday"}`, `{"list":{}}`,
	} {
		var got, want sample
		err, wantErr := new(decoder).decode([]byte(object), &got, nil), json.Unmarshal([]byte(object), &want)
		if (err == nil) != (wantErr == nil) {
			t.Errorf("%s: %v, want %v", object, err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("of %s there is %+v, want %+v", object, got, want)
		}
	}
}

func TestDecodeWanted(t *testing.T) {
	t.Parallel()
	var got sample
	object := []byte(`{"version":"is not looked at","text":"wanted","list":["not"],"number":1}`)
	err := new(decoder).decode(object, &got, func(name []byte) bool { return string(name) == "text" })
	if want := (sample{Text: "wanted"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v (%v), want %+v", got, err, want)
	}
}

// TestDecodeOthers reads what is no struct, and a struct that reads JSON by itself.
func TestDecodeOthers(t *testing.T) {
	t.Parallel()
	object := []byte(`{"text":"a"}`)
	var text json.RawMessage
	var members map[string]any
	var itself struct{ json.RawMessage }
	for _, into := range []any{&text, &members, &itself} {
		if err := new(decoder).decode(object, into, nil); err != nil {
			t.Errorf("%T: %v", into, err)
		}
	}
	if string(text) != string(object) || members["text"] != "a" || string(itself.RawMessage) != string(object) {
		t.Errorf("%s, %v, %s", text, members, itself.RawMessage)
	}
}

// FuzzDecode checks the decoder against encoding/json, and that it survives what is no JSON.
func FuzzDecode(f *testing.F) {
	f.Add(`{"text":"x","list":["x","\\\""],"version":15,"number":1.5e3,"maybe":null}`)
	f.Add(`{"text`)
	f.Fuzz(func(t *testing.T, text string) {
		var d decoder
		_ = d.decode([]byte(text), new(sample), nil)
		var members map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &members) != nil {
			return
		}
		for name := range members { // encoding/json takes TEXT for text
			if _, ok := d.layout(reflect.TypeFor[sample]())[name]; !ok {
				delete(members, name)
			}
		}
		object, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		var got, want sample
		err, wantErr := d.decode(object, &got, nil), json.Unmarshal(object, &want)
		if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("of %s there is %+v (%v), want %+v (%v)", object, got, err, want, wantErr)
		}
	})
}
