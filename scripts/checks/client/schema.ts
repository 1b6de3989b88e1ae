// Compares the types of the generated client with those that openapi-typescript makes from the same document. Nothing here is run.

import type * as ours from './generated/schema.js'
import type * as independent from './generated/independent.js'

/** True only for two types that are the same: two that are assignable both ways can differ in optional properties. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

true satisfies Same<ours.paths, independent.paths>
true satisfies Same<ours.components, independent.components>
// @ts-expect-error: another optional property is a difference
true satisfies Same<ours.paths, independent.paths & { '/other'?: never }>
