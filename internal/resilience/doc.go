// Package resilience tests the guarantees of docs/reliability.md under load for minutes, and under failures of the process, the
// disk, the database connection, the clock, the email server and the identity providers. It has only tests.
package resilience
