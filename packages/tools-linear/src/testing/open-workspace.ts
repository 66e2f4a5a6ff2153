import { readFileSync } from 'node:fs'
import { assert, type JsonObject, type JsonValue, type Tool } from '@countersign/core'
import { openNetwork, type SourceOpening } from '@countersign/toolkit'
import { openTools } from '@countersign/toolkit/internal'
import { buildSchema, type GraphQLSchema } from 'graphql'
import { type StandIn, type StandInOptions, startStandIn } from '../../../../examples/linear/stand-in/server.ts'
import { linear } from '../index.ts'
import type { LinearInput } from '../source.ts'

export const API_KEY = 'lin_api_of_the_tests_0123456789'
export const NOW_MS = Date.parse('2026-11-22T12:00:00.000Z')

/** The part of Linear's schema that the example contains. */
export const exampleSchema: GraphQLSchema = buildSchema(
  readFileSync(new URL('../../../../examples/linear/stand-in/schema.graphql', import.meta.url), 'utf8'),
)

export interface OpenWorkspace extends AsyncDisposable {
  standIn: StandIn
  /** The names of all its tools. */
  names: readonly string[]
  tool(name: string): Tool
  /** Validates the arguments as the gate does, then runs the tool. @throws ToolError; Error when the arguments are invalid. */
  run(name: string, args: JsonObject, given?: { key?: string; version?: string | undefined }): Promise<JsonValue>
  /** Returns the preview of a call, with the precondition and version that the attempt is checked against. */
  look(
    name: string,
    args: JsonObject,
  ): Promise<{ fields: JsonValue; headline: string | undefined; precondition: JsonValue | undefined; version: string | undefined }>
}

/** Opens the tools of a new Linear workspace. */
export async function openWorkspace(
  given: Partial<Omit<StandInOptions, 'apiKey'>> & Pick<LinearInput, 'teams'> = {},
): Promise<OpenWorkspace> {
  const { teams, ...options } = given
  const standIn = await startStandIn({ schema: exampleSchema, nowMs: NOW_MS, ...options, apiKey: API_KEY })
  const network = openNetwork()
  const source = await linear.open(linear.schema.parse({ apiKey: API_KEY, baseUrl: standIn.url, teams }), openingOf(network))
  assert(source, 'the source opens')
  const tools = openTools({ plan: { prefix: true, source } }, network)
  const find = (name: string): Tool => {
    const tool = tools.byName(`plan.${name}`)
    assert(tool, `there is a tool ${name}`)
    return tool
  }
  const checked = (tool: Tool, args: JsonObject): JsonObject => {
    const check = tool.check(args)
    if (!check.ok) throw new Error(check.issues.map(({ message }) => message).join(' '))
    return check.value
  }
  return {
    standIn,
    names: tools.all().map(({ name }) => name.slice('plan.'.length)),
    tool: find,
    run(name, args, { key = 'act_1.1', version } = {}) {
      const tool = find(name)
      const signal = new AbortController().signal
      return tool.execute(checked(tool, args), { actionId: 'act_1', idempotencyKey: key, principalId: undefined, signal, version })
    },
    async look(name, args) {
      const tool = find(name)
      const seen = await tool.preview?.(checked(tool, args), new AbortController().signal)
      assert(seen, `${name} has a preview`)
      return {
        fields: seen.fields as unknown as JsonValue,
        headline: seen.headline,
        precondition: seen.precondition,
        version: seen.version,
      }
    },
    [Symbol.asyncDispose]: () => standIn[Symbol.asyncDispose](),
  }
}

function openingOf(network: SourceOpening['network']): SourceOpening {
  return {
    group: 'plan',
    folder: '.',
    network,
    report: ({ path, message }) => {
      throw new Error(`${path.join('.')} ${message}`)
    },
    fillSecret: (value) => ({ value, secrets: [value] }),
    fillAddress: (text) => text,
    inherit: () => ({}),
    refuseVariables: () => undefined,
  }
}
