// Package attack tests attacks on the whole service that cross modules, as a stranger or another user would make them.
// Attacks on one module are in that module's tests. Each failure message says what the attacker gained. Attacks that
// measure time need the build tag timing.
package attack
