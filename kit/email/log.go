package email

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode"
)

// logSender sends nothing: it shows a mail to whoever develops, or says that there was one.
type logSender struct {
	print io.Writer // nil in production
	log   *slog.Logger
}

// Send prints the mail as text, ready to be copied.
func (s *logSender) Send(ctx context.Context, m Message) error {
	if _, err := m.recipient(); err != nil {
		return err
	}
	if s.print == nil {
		s.log.WarnContext(ctx, "a mail was not sent, because MAIL_URL is log:")
		return nil
	}
	text := strings.Map(printable, fmt.Sprintf("To: %s\nSubject: %s\n\n%s", m.To, m.Subject, strings.TrimSpace(m.Text)))
	_, err := fmt.Fprintf(s.print, "\n----- a mail, not sent because MAIL_URL is log: -----\n%s\n----- end of the mail -----\n\n", text)
	if err != nil {
		return failed(true, "the mail cannot be printed: %w", err)
	}
	return nil
}

// printable leaves out what would steer a terminal.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}
