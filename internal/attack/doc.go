// Package attack attacks the whole service as a stranger or another user would, in tests. It holds what the modules' own
// tests do not; scripts/mutants lists the attacks of both, and shows of each that it succeeds where its defence is taken
// out. The failure of a test says what the attacker got. The attacks that measure time need the build tag timing.
package attack
