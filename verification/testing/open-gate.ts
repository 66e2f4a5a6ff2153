import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Action, isSettled, type Principal } from '@countersign/core'
import { pino } from 'pino'
import { type Clock, systemClock } from '../../packages/server/src/clock.ts'
import { type ConfigInput, openConfig } from '../../packages/server/src/config/index.ts'
import { type Engine, openEngine } from '../../packages/server/src/engine.ts'
import { viewAction } from '../../packages/server/src/gate/index.ts'
import { actions } from '../../packages/server/src/store/index.ts'
import type { CodedTool } from '../../packages/toolkit/src/define.ts'

export const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['admin'] }
export const ben: Principal = { id: 'prn_ben', kind: 'person', name: 'Ben', roles: ['approver'] }

/** The time as it is; waiting takes a hundredth of what was asked for. */
export const hurriedClock: Clock = { ...systemClock, after: (delayMs, callback) => systemClock.after(delayMs / 100, callback) }

/**
 * A {@link hurriedClock} that a test puts forward. By itself it goes on by 2 ms with each wait that ends: nothing becomes due because a test takes
 * long.
 */
export function leapingClock(): Clock & { leap(ms: number): void } {
  let nowMs = systemClock.nowMs()
  const leap = (ms: number) => {
    nowMs += ms
  }
  return {
    nowMs: () => nowMs,
    after: (delayMs, callback) =>
      hurriedClock.after(delayMs, () => {
        leap(2)
        callback()
      }),
    leap,
  }
}

/** An engine over tools of a test's own, without agents. */
export interface OpenGate extends AsyncDisposable {
  readonly engine: Engine
  readonly dataDir: string
  /** Proposes a call of `own.<tool>`, approves it, and answers it as it is settled. */
  runAttempt(tool: string, args?: Record<string, string>): Promise<Action>
  /** Proposes and approves, and does not wait. */
  approve(tool: string, args?: Record<string, string>): Promise<Action>
  /** The action as soon as `isThere`, by default as it is settled. */
  until(actionId: string, isThere?: (action: Action) => boolean): Promise<Action>
}

export interface OpenGateOptions {
  /** Default: a folder of its own, which goes with the gate. */
  dataDir?: string
  /** Default: {@link hurriedClock}. */
  clock?: Clock
  /** Further groups of tools, as a configuration has them. */
  tools?: NonNullable<ConfigInput['tools']>
}

export async function openGate(
  own: readonly CodedTool[],
  { dataDir: given, clock = hurriedClock, tools: others = {} }: OpenGateOptions = {},
): Promise<OpenGate> {
  const dataDir = given ?? (await mkdtemp(join(tmpdir(), 'countersign-gate-')))
  const { tools, policy } = await openConfig({ tools: { ...others, own: { tools: [...own] } } }, { environment: {}, folder: dataDir })
  const engine = await openEngine({
    database: { kind: 'sqlite', dataDir },
    agents: [],
    tools,
    policy,
    log: pino({ level: 'silent' }),
    clock,
  })
  for (const principal of [ana, ben]) await engine.savePrincipal(principal)

  async function until(actionId: string, isThere = ({ state }: Action) => isSettled(state)): Promise<Action> {
    let moved = Promise.withResolvers<void>()
    const stop = await engine.hub.onAction(actionId, () => moved.resolve())
    try {
      for (;;) {
        const action = await engine.store.read(function* () {
          const row = yield* actions.findAction.first({ id: actionId })
          return row && (yield* viewAction(row, { nowMs: engine.clock.nowMs() }))
        })
        if (action && isThere(action)) return action
        await moved.promise
        moved = Promise.withResolvers()
      }
    } finally {
      stop()
    }
  }

  async function approve(tool: string, args: Record<string, string> = {}): Promise<Action> {
    const { id } = await engine.gate.propose({ tool: `own.${tool}`, arguments: args }, { principal: ana })
    return engine.gate.decide(id, { verdict: 'approve' }, { principal: ana })
  }

  return {
    engine,
    dataDir,
    approve,
    until,
    runAttempt: async (tool, args) => until((await approve(tool, args)).id),
    async [Symbol.asyncDispose]() {
      await engine.drain(0)
      await engine.close()
      if (given === undefined) await rm(dataDir, { recursive: true })
    },
  }
}
