package main

import "testing"

func TestPlural(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"article": "articles", "blog-post": "blog-posts", "person": "people", "sales-person": "sales-people", "category": "categories",
		"day": "days", "box": "boxes", "hero": "heroes", "photo": "photos", "bus": "buses", "class": "classes", "dish": "dishes",
		"match": "matches", "quiz": "quizzes", "analysis": "analyses", "axis": "axes", "news": "news", "sheep": "sheep", "series": "series",
		"child": "children", "woman": "women", "fireman": "firemen", "human": "humans", "wolf": "wolves", "roof": "roofs", "buzz": "buzzes",
		"y": "ys", "topaz": "topazzes", "index": "indices", "criterion": "criteria",
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
		"imageUrl":  {"ImageURL", "imageUrl", "an image URL"},
		"id2":       {"ID2", "id2", "an id2"},
		"mp-3":      {"Mp3", "mp3", "a mp 3"},
		"user":      {"User", "user", "a user"},
		"unit":      {"Unit", "unit", "a unit"},
		"hour":      {"Hour", "hour", "an hour"},
		"urn":       {"Urn", "urn", "an urn"},
	} {
		if got := [3]string{goName(name), camelName(name), withArticle(spoken(name))}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"flaot": "float", "strng": "string", "sting": "string", "requird": "", "x": "", "Int": "int", "decimal": "",
	} {
		if got := nearest(word, typeWords); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
