// Package service tests the reference service as a whole: what depends on several of its modules, or on its guides.
package service
