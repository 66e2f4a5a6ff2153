import { tmpdir } from 'node:os'
import type { JsonObject, JsonValue, Tool } from '@countersign/core'
import { openNetwork, type Pin, type PinStore, type SetupProblem, type SourceOpening } from '@countersign/toolkit'
import { openTools, type ToolRegistry } from '@countersign/toolkit/internal'
import { onTestFinished } from 'vitest'
import { NO_OBJECTIVES } from '../../../toolkit/src/testing/no-objectives.ts'
import { mcp } from '../index.ts'
import type { McpSource } from '../mcp-source.ts'
import type { Pace } from '../pace.ts'
import { type McpInput, McpSection } from '../section.ts'

/** Returns pins in memory, in place of the database. */
export function memoryPins(): PinStore {
  const groups = new Map<string, Map<string, Pin>>()
  const of = (group: string) => groups.get(group) ?? groups.set(group, new Map()).get(group) ?? new Map<string, Pin>()
  return {
    all: async (group) => [...of(group).values()],
    async keep(group, pins) {
      for (const pin of pins) if (!of(group).has(pin.tool)) of(group).set(pin.tool, pin)
    },
    async replace(group, pin) {
      of(group).set(pin.tool, pin)
    },
  }
}

export interface OpenedSource {
  source: McpSource
  tools: ToolRegistry
  /** The logged events, as `event {facts}`. */
  said: string[]
  /** Resolves when the log has a matching event, past or future. */
  hears(words: string | RegExp): Promise<string>
  tool(name: string): Tool
  call(name: string, args: JsonObject, signal?: AbortSignal): Promise<JsonValue>
}

/**
 * Opens a server as the configuration would, in the group `s`, and attaches it. It is closed when the test ends.
 * @param environment The variables that its address may come from.
 * @param pace Shorter times than its own.
 */
export async function openSource(
  written: McpInput,
  pins: PinStore = memoryPins(),
  { folder = tmpdir(), environment = {}, pace = {} }: { folder?: string; environment?: Record<string, string>; pace?: Partial<Pace> } = {},
): Promise<OpenedSource> {
  const problems: SetupProblem[] = []
  const opening: SourceOpening = {
    group: 's',
    folder,
    network: openNetwork(),
    report: (problem) => problems.push(problem),
    fillSecret: (text) => ({ value: text, secrets: [] }),
    fillAddress: (text) => text.replace(/^\$\{(\w+)\}/, (_, name) => environment[name] ?? 'http://unset.invalid'),
    refuseVariables: () => {},
    // The compile cache makes a second start of the same program faster.
    inherit: (names) =>
      Object.fromEntries([...names, 'NODE_COMPILE_CACHE'].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
  }
  // On a busy machine the first answer of a real server took more than the default of 10 s.
  const section = McpSection.parse({ startWithinMs: 60_000, ...written })
  const source = await mcp.open(section, opening, pace)
  if (!source) throw new Error(JSON.stringify(problems))
  onTestFinished(() => source.close())
  const said: string[] = []
  const waiting = new Set<() => void>()
  const tell = (facts: object, event: string) => {
    said.push(`${event} ${JSON.stringify(facts)}`)
    for (const look of waiting) look()
  }
  const tools = openTools({ s: { prefix: true, source } })
  await source.attach({ log: { info: tell, warn: tell }, pins, objectives: NO_OBJECTIVES, ownFiles: [] })
  const tool = (name: string) => {
    const found = tools.byName(`s.${name}`)
    if (!found) throw new Error(`there is no tool ${name}: ${tools.all().map((one) => one.name)}; ${said.join('\n')}`)
    return found
  }
  return {
    source,
    tools,
    said,
    tool,
    hears: (words) => {
      const { promise, resolve } = Promise.withResolvers<string>()
      const look = () => {
        const found = said.find((line) => (typeof words === 'string' ? line.includes(words) : words.test(line)))
        if (found === undefined) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
      return promise
    },
    call: (name, args, signal = new AbortController().signal) =>
      tool(name).execute(args, { actionId: 'act_1', idempotencyKey: 'act_1.1', principalId: undefined, signal }),
  }
}
