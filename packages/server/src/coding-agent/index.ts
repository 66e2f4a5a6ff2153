import type { SourceKind, ToolSource } from '@countersign/toolkit'
import { z } from 'zod'
import { hostTools } from './host-tools.ts'
import { codingAgentStarter } from './starter.ts'

export { isOwnAffair, toArguments, toHostInput } from './host-input.ts'
export { isHostTool } from './host-tools.ts'
export { CANARY_TOOL, HOOK_HOSTS, HOST_NAMES, HOSTS, type HookHost, type Host, type HostTool, type Kind } from './hosts.ts'
export { codingAgentStarter } from './starter.ts'

const CodingAgentSection = z.strictObject({})

/** The settings under `coding-agent` in the configuration: none. The hosts are connected with `countersign connect`. */
export type CodingAgentInput = z.input<typeof CodingAgentSection>

/** The calls of coding agents on their own machines, as tools that policy can match. */
export const codingAgent: SourceKind<z.output<typeof CodingAgentSection>> = {
  starter: codingAgentStarter,
  schema: CodingAgentSection,
  open: (): ToolSource => ({
    kind: 'coding-agent',
    secrets: [],
    drafts: hostTools,
    check: async () => [{ level: 'ok', message: 'coding agents ask at /hooks/<host>; countersign doctor in their folder tries it' }],
  }),
}
export { runFolder } from './shell/run-folder.ts'
