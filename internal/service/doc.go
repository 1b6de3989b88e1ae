// Package service has end-to-end tests of the reference service, of what depends on several modules or is described in a
// guide.
package service
