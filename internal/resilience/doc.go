// Package resilience tests what the service guarantees (docs/reliability.md) while its dependencies fail: process, disk,
// database connection, clock, mail server and identity providers; and under load for minutes. It has only tests.
package resilience
