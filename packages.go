// # Packages
//
// The packages, in reading order. The documentation of each package begins with its purpose. Most packages have an example.
//
//   - kit: what a module receives and provides
//   - server: runs a service, and has its commands
//   - kit/route: the table of routes: who may call them, and what they may cost
//   - kit/rest: reads requests and writes responses
//   - kit/resource: collections that enforce who sees and changes a record, and references between them
//   - kit/listing: lists with search, filters, sorting and pages
//   - kit/store: collections, filters and changes, on MongoDB and on an embedded database
//   - kit/access, middleware: callers, their roles and credentials
//   - kit/apperr: errors with a code that clients receive
//   - kit/signature, kit/once: verify received webhooks, and process each once
//   - kit/email, kit/email/address, kit/email/link, kit/ratelimit, kit/job, kit/settings: what their names say
//   - kit/migrate: changes of stored records
//   - kit/selector/v1beta1: the workload selector
//   - testkit: starts a service in a test, and calls it
//
// The service itself is in main.go, config and modules. Begin with modules/article. docs/modules.md explains how to add your own
// rules.
package main
