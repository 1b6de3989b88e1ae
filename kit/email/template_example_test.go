package email_test

import (
	"fmt"
	"testing/fstest"

	"example.com/ginseng/kit/email"
)

// A module embeds its templates, and passes them to NewTemplate with the layout of the service.
func ExampleTemplate() {
	files := fstest.MapFS{
		"emails/reminder.txt":  {Data: []byte("Subject: Your appointment on {day}\n\nDear {name},\nwe expect you in room {room}.\n")},
		"emails/reminder.html": {Data: []byte("<p>Dear {name},<br>we expect you in room {room}.</p>\n")},
	}
	reminder := email.NewTemplate(files, "reminder", "<!DOCTYPE html><title>{subject}</title>{content}")
	m := reminder.Message("ann@example.com", map[string]string{"day": "1 July", "name": "Ann & Co.", "room": "2.14"})
	fmt.Println(m.Subject)
	fmt.Println(m.Text)
	fmt.Println(m.HTML)
	// Output:
	// Your appointment on 1 July
	// Dear Ann & Co.,
	// we expect you in room 2.14.
	//
	// <!DOCTYPE html><title>Your appointment on 1 July</title><p>Dear Ann &amp; Co.,<br>we expect you in room 2.14.</p>
}
