import type { Tool } from '@countersign/core'
import { type ListToolsResult, type Tool as McpTool, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { APPROVE_TOOL, WAIT_TOOL } from './answers.ts'

/** Large enough for most lists: many clients read the first page only. */
const PAGE = 250

/** The longest that one call of {@link WAIT_TOOL} waits: clients give up after 60 s. */
export const MAX_WAIT_SECONDS = 50

const WAIT: McpTool = {
  name: WAIT_TOOL,
  description:
    'Waits for a call that needs a person’s approval and gives its result. Use it with the actionId of an answer that says "waiting for approval". It decides nothing and changes nothing.',
  inputSchema: {
    type: 'object',
    required: ['actionId'],
    additionalProperties: false,
    properties: {
      actionId: { type: 'string', description: 'act_… as it was answered' },
      seconds: { type: 'number', minimum: 0, maximum: MAX_WAIT_SECONDS, description: 'how long to wait at most; default 20' },
    },
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
}

const APPROVE: McpTool = {
  name: APPROVE_TOOL,
  description: 'For --permission-prompt-tool of Claude Code: asks people whether a call may run. It is not for a model; it runs nothing.',
  inputSchema: {
    type: 'object',
    required: ['tool_name', 'input'],
    properties: { tool_name: { type: 'string' }, input: { type: 'object' }, tool_use_id: { type: 'string' } },
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
}

/**
 * Returns the hints that the server vouches for: they follow from the configured effect, whatever the tool's own source declared. Writes
 * may be destructive.
 */
const viewTool = ({ modelName, name, description, inputSchema, effect, idempotent, destination }: Tool): McpTool => ({
  name: modelName,
  title: name,
  description,
  inputSchema: { ...inputSchema, type: 'object' },
  annotations: {
    readOnlyHint: effect === 'read',
    destructiveHint: effect === 'write',
    idempotentHint: idempotent,
    openWorldHint: destination !== 'local',
  },
})

/**
 * Returns a page of the tools; the built-in tools come first, so that a client that reads one page has them.
 * @param answersPrompts True to offer the tool for permission prompts.
 */
export function listTools(tools: readonly Tool[], cursor: string | undefined, answersPrompts: boolean): ListToolsResult {
  const start = cursor === undefined ? 0 : placeAfter(tools, cursor)
  const page = tools.slice(start, start + PAGE)
  const last = page.at(-1)
  const isMore = start + PAGE < tools.length
  return {
    tools: [...(cursor === undefined ? [WAIT, ...(answersPrompts ? [APPROVE] : [])] : []), ...page.map(viewTool)],
    ...(isMore && last && { nextCursor: Buffer.from(last.modelName).toString('base64url') }),
  }
}

/** Returns the position after a cursor, which names the last tool of the previous page: the list may have changed since. */
function placeAfter(tools: readonly Tool[], cursor: string): number {
  const name = Buffer.from(cursor, 'base64url').toString()
  const at = tools.findIndex(({ modelName }) => modelName === name)
  if (at < 0) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'this cursor belongs to another list: begin again without one')
  return at + 1
}
