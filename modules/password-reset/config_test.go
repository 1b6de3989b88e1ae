package passwordreset

import "testing"

func TestConfig(t *testing.T) {
	t.Parallel()
	for text, fine := range map[string]bool{
		"https://app.example.com": true, "http://localhost:5173": true, "https://[::1]:8443": true, "https://App.example.com": true,
		"https://app.example.com/": false, "https://app.example.com/reset": false, "app.example.com": false, "*": false, "https://*": true,
		"https://ada@app.example.com": false, "ftp://app.example.com": false, "https://": false, "https://:443": false, "javascript:x": false, "https://a?b": false,
	} {
		wrong := ""
		(&Config{LinkOrigins: []string{"https://x.example", text}}).Check(true, func(name, what string) { wrong = name })
		if want := map[bool]string{true: "", false: "RESET_LINK_ORIGINS"}[fine]; wrong != want {
			t.Errorf("%q: wrong is %q", text, wrong)
		}
	}
}
