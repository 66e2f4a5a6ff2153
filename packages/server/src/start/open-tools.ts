import type { PolicyDocument } from '@countersign/core'
import type { OwnFile, ToolSource } from '@countersign/toolkit'
import type { ToolRegistry } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import { openObjectiveStore } from '../objectives/index.ts'
import { openPinStore } from '../pin-store.ts'
import { openPolicies, type Policies, requireUsable, seedPolicy } from '../policy/index.ts'
import { openRegisteredTools, type RegisteredTools } from '../registered/index.ts'
import type { Store } from '../store/index.ts'

export interface ToolOptions {
  store: Store
  clock: Clock
  log: Logger
  configured: ToolRegistry
  sources: Iterable<ToolSource>
  /** Files of the server that no tool may change. */
  ownFiles: readonly OwnFile[]
  /** The first version, for a new database. */
  policy: PolicyDocument
  agents: readonly string[]
}

/**
 * Opens the tools and the policy about them: before work of an earlier process is executed with these tools.
 * @throws Error when the policy names tools or agents that are not there.
 */
export async function openTools({
  store,
  clock,
  log,
  configured,
  sources,
  ownFiles,
  policy,
  agents,
}: ToolOptions): Promise<{ registered: RegisteredTools; policies: Policies }> {
  for (const source of sources)
    await source.attach?.({ log, pins: openPinStore(store, clock), objectives: openObjectiveStore(store, clock), ownFiles })
  const registered = await openRegisteredTools({ store, clock, log, configured })
  await seedPolicy(store, policy, clock.nowMs())
  const policies = await openPolicies(store)
  requireUsable(policies.current, { tools: registered.tools, agents })
  return { registered, policies }
}
