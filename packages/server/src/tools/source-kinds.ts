import type { SourceKind } from './source.ts'

/** The kinds of sources this version opens, by their name in the configuration. */
export const SOURCE_KINDS = {} as const satisfies Readonly<Record<string, SourceKind<never>>>
