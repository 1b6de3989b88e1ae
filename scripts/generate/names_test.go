package main

import (
	"strings"
	"testing"

	"example.com/ginseng/scripts/internal/naming"
)

func TestPlural(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"article": "articles", "blog-post": "blog-posts", "person": "people", "sales-person": "sales-people", "category": "categories",
		"day": "days", "box": "boxes", "hero": "heroes", "photo": "photos", "bus": "buses", "class": "classes", "dish": "dishes",
		"match": "matches", "quiz": "quizzes", "analysis": "analyses", "axis": "axes", "news": "news", "sheep": "sheep", "series": "series",
		"child": "children", "woman": "women", "fireman": "firemen", "human": "humans", "wolf": "wolves", "roof": "roofs", "buzz": "buzzes",
		"y": "ys", "topaz": "topazes", "index": "indices", "criterion": "criteria", "words": "words", "people": "people",
		"video": "videos", "gizmo": "gizmos", "studio": "studios", "piano": "pianos", "euro": "euros", "casino": "casinos", "zero": "zeros", "avocado": "avocados",
		"cello": "cellos", "two": "twos", "info": "infos", "tango": "tangos", "logos": "logos", "zoo": "zoos", "home-video": "home-videos",
		"potato": "potatoes", "tomato": "tomatoes", "echo": "echoes", "veto": "vetoes", "torpedo": "torpedoes", "mosquito": "mosquitoes",
		"embargo": "embargoes", "cargo": "cargoes", "volcano": "volcanoes", "superhero": "superheroes", "heroes": "heroes", "air-cargo": "air-cargoes",
		"toe": "toes", "shoe": "shoes", "canoe": "canoes", "octopus": "octopuses",
		"memo": "memos", "shop-memo": "shop-memos", "memos": "memos", "logo": "logos", "repo": "repos", "todo": "todos", "tempo": "tempos",
	} {
		if got := plural(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][3]string{
		"article":   {"Article", "article", "an article"},
		"blog-post": {"BlogPost", "blogPost", "a blog post"},
		"api-key":   {"APIKey", "apiKey", "an API key"},
		"image-url": {"ImageURL", "imageURL", "an image URL"},
		"id2":       {"ID2", "id2", "an ID2"},
		"mp-3":      {"Mp3", "mp3", "a mp 3"},
		"user":      {"User", "user", "a user"},
		"unit":      {"Unit", "unit", "a unit"},
		"hour":      {"Hour", "hour", "an hour"},
		"urn":       {"Urn", "urn", "an urn"},
	} {
		if got := [3]string{goName(name), variableName(name), withArticle(inWords(name))}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestInitialisms checks the initialisms of staticcheck (ST1003).
func TestInitialisms(t *testing.T) {
	t.Parallel()
	for _, word := range strings.Fields(`acl api ascii cpu css dns eof guid html http https id ip json qps ram rpc sla smtp sql ssh tcp
		tls ttl udp ui gid uid uuid uri url utf8 vm xml xmpp xsrf xss sip rtp amqp db ts`) {
		if got := goName("my-" + word); got != "My"+strings.ToUpper(word) {
			t.Errorf("my-%s: %s", word, got)
		}
	}
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"flaot": "float", "strng": "string", "sting": "string", "x": "", "Int": "int", "decimal": "",
	} {
		want = "did you mean " + want + "?"
		if want == "did you mean ?" {
			want = "use one of string, int, float"
		}
		if got := naming.Suggest(word, []string{"string", "int", "float"}); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
	for name, want := range map[string][2]string{
		"API-key": {"api-key", "apiKey"}, "größe": {"groesse", "groesse"}, "BlogPost": {"blog-post", "blogPost"},
		"blog_post": {"blog-post", "blogPost"}, "../x": {"x", "x"}, "a/b": {"a-b", "aB"}, "café": {"cafe", "cafe"},
		"": {"blog-post", "firstName"}, "日本": {"blog-post", "firstName"}, "Title": {"title", "title"},
	} {
		if got := [2]string{naming.Kebab(name, "blog-post"), suggestCamel(name)}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
