package appointment

import (
	"context"

	"github.com/shopspring/decimal"

	"example.com/ginseng/kit/store"
)

// Invoices are the invoices of appointments.
type Invoices interface {
	// CreateFirst stores the first invoice of an appointment.
	CreateFirst(ctx context.Context, appointmentID store.ID, amount store.Decimal) error
}

var perMinute = decimal.RequireFromString("1.35")

// fee returns the amount of the first invoice.
func fee(minutes int64) store.Decimal {
	amount, _ := store.NewDecimal(perMinute.Mul(decimal.NewFromInt(minutes))) // at most 480 minutes
	return amount
}
