import type { JsonObject } from '@countersign/core'
import { z } from 'zod'
import { Worked } from '../../host-run.ts'
import type { Assessment } from '../assess.ts'
import { About, added, addedEach, type Definition, Json, oneLine } from '../definition.ts'
import { mcpRule } from './mcp-rule.ts'
import { isServerNamed, type McpReading, readMcpCall, readMcpName } from './read-mcp.ts'

/** A call of a tool of an MCP server that the host is connected to. */
export const MCP: Definition = {
  kind: 'mcp',
  description: 'Calls a tool of an MCP server that the host is connected to.',
  effect: 'write',
  input: z.object({ ...About, server: Worked, name: Worked, input: Json, call: Worked }),
  work({ host, hostTool, input }) {
    const { server, name } = readMcpName(String(hostTool)) ?? { server: '', name: String(hostTool) }
    return { server, name, call: { ...readMcpCall({ host, server, name }, input as JsonObject) } }
  },
  describe({ host, server, name }) {
    const tool = oneLine(String(name))
    if (!isServerNamed(host)) return `Call ${tool} of an MCP server that Cursor does not name`
    return server === '' ? `Call an MCP tool whose server is not clear: ${tool}` : `Call ${tool} of the MCP server ${server}`
  },
  preview: (args) => [
    added('server', !isServerNamed(args.host) ? 'not named by Cursor' : args.server === '' ? 'not clear' : args.server),
    added('tool', args.name),
    ...(readingOf(args).understood ? [] : [added('cannot be read', readingOf(args).unclear.join('; '))]),
    ...addedEach('argument', args.input),
  ],
  assess: assessMcp,
  grantRules: {
    mayCover: isPlainCall,
    // A grant from a call of one tool is for that tool alone, whatever its condition says.
    binds: ({ host, hostTool }) => `args.host == ${JSON.stringify(host)} && args.hostTool == ${JSON.stringify(hostTool)}`,
    suggest: (calls) => mcpRule(calls.filter(isPlainCall)),
  },
}

/** The reading that `work` added to the arguments. */
const readingOf = ({ call }: JsonObject): McpReading => call as unknown as McpReading

/** False also for a call of an older version, which has no reading. */
function isPlainCall(args: JsonObject): boolean {
  const { understood, risks }: Partial<McpReading> = readingOf(args) ?? {}
  return understood === true && risks?.length === 0
}

/** Nobody knows here what a tool of another server does, so none is low risk. */
function assessMcp(args: JsonObject): Assessment {
  const { unclear, risks } = readingOf(args)
  const high = [...unclear, ...risks]
  return high.length > 0
    ? { level: 'high', reasons: high }
    : { level: 'medium', reasons: ['the effect of this MCP tool is not known here'] }
}
