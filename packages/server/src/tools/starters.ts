import { githubStarter } from './github/starter.ts'
import { linearStarter } from './linear/starter.ts'
import { mcpStarter } from './mcp/starter.ts'
import { objectivesStarter } from './objectives/starter.ts'
import { openApiStarter } from './openapi/starter.ts'
import type { StarterRules } from './source.ts'
import type { SOURCE_KINDS } from './source-kinds.ts'
import { workspaceStarter } from './workspace/starter.ts'

/** For each kind of source the rules to start from: what looks runs, what changes something asks, what cannot be taken back is high risk. */
export const STARTERS: Readonly<Record<keyof typeof SOURCE_KINDS, (group: string) => StarterRules>> = {
  github: githubStarter,
  linear: linearStarter,
  mcp: mcpStarter,
  objectives: objectivesStarter,
  openapi: openApiStarter,
  workspace: workspaceStarter,
}
