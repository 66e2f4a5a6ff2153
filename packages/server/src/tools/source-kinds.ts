import { github } from './github/index.ts'
import { linear } from './linear/index.ts'
import { mcp } from './mcp/index.ts'
import { objectives } from './objectives/index.ts'
import { openapi } from './openapi/index.ts'
import type { AnySourceKind } from './source.ts'
import { workspace } from './workspace/index.ts'

/** The kinds of sources this version opens, by their name in the configuration. */
export const SOURCE_KINDS = {
  github,
  linear,
  mcp,
  objectives,
  openapi,
  workspace,
} as const satisfies Readonly<Record<string, AnySourceKind>>
