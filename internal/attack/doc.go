// Package attack tests attacks on the whole service that involve several modules. The attacker has no account, or a user's
// account. Attacks on one module are in that module's tests. Tests that measure durations need the build tag timing.
package attack
