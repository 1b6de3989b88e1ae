package email

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode"
)

// logSender prints emails in development, and otherwise logs that one was not sent.
type logSender struct {
	print io.Writer // can be nil
	log   *slog.Logger
}

// Send implements Sender.
func (s *logSender) Send(ctx context.Context, m Message) error {
	if _, err := m.recipient(); err != nil {
		return err
	}
	if s.print == nil {
		s.log.WarnContext(ctx, "an email was not sent because MAIL_URL is not set or log:")
		return nil
	}
	text := strings.Map(printable, fmt.Sprintf("To: %s\nSubject: %s\n\n%s", m.To, m.Subject, strings.TrimSpace(m.Text)))
	_, err := fmt.Fprintf(s.print, "\n----- email, not sent because MAIL_URL is not set or log: -----\n%s\n----- end of email -----\n\n", text)
	if err != nil {
		return failed(true, "cannot print the email: %w", err)
	}
	return nil
}

// printable removes control characters.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}
