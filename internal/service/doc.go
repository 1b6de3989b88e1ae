// Package service has end-to-end tests of the reference service: they test features that involve several modules, and features
// that a guide describes.
package service
