import { type ArgumentIssue, type JsonObject, type PreviewField, type RiskLevel, type Tool, ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'

/** An argument that people cannot edit: the program that runs the call would not hear of the change. */
export const locked = <Schema extends z.ZodType>(schema: Schema): Schema => schema.meta({ readOnly: true })

/** An argument that is worked out from the others, whatever a caller says. */
export const Worked = locked(z.unknown().optional())

/** A tool whose calls are run by the one that asks: the host of a coding agent, a gateway. Here it has only its arguments, card and risk. */
export interface HostRunTool {
  kind: string
  description: string
  effect: 'read' | 'write'
  input: z.ZodObject
  /** The host reports the result of a call within this time. After that the outcome is unknown; a late report still counts. */
  reportWithinMs: number
  /** Completes arguments that fit the schema, or says why the tool does not take them. */
  complete(args: JsonObject): { value: JsonObject } | { refused: ArgumentIssue }
  describe(args: JsonObject): string
  preview(args: JsonObject): PreviewField[]
  assess(args: JsonObject): { level: RiskLevel; reasons: string[] }
  grantRules?: Tool['grantRules']
  hostDecides?: Tool['hostDecides']
  /** A sentence that names the program that runs it instead of this server. */
  notHere: string
}

export function draftHostRun(tool: HostRunTool): ToolDraft {
  const { kind, description, effect, input, reportWithinMs, complete, describe, preview, assess, grantRules, hostDecides, notHere } = tool
  const strict = input.strict()
  return {
    name: kind,
    description,
    effect,
    inputSchema: copyOf(z.toJSONSchema(strict, { io: 'input' })),
    executor: 'client',
    isHostRun: true,
    idempotent: false,
    timeoutMs: reportWithinMs,
    destination: 'local',
    credential: 'none',
    definition: { kind, reading: 1 },
    check(args) {
      const read = strict.safeParse(args)
      if (!read.success) return { ok: false, issues: read.error.issues.map(toIssue) }
      const completed = complete(read.data as JsonObject)
      return 'refused' in completed ? { ok: false, issues: [completed.refused] } : { ok: true, value: copyOf(completed.value) }
    },
    describe,
    preview: async (args) => ({ fields: preview(args) }),
    assess,
    ...(grantRules && { grantRules }),
    ...(hostDecides && { hostDecides }),
    execute: async () => {
      throw new ToolError('broken', `${notHere} Nothing was run here.`)
    },
  }
}

/** The tool of this kind, by its name in whatever group. */
export const isHostRunTool = ({ isHostRun, name }: Pick<Tool, 'isHostRun' | 'name'>, kind: string): boolean =>
  isHostRun === true && (name === kind || name.endsWith(`.${kind}`))

/** Without what JSON leaves out, or cannot carry: a reading may have cut a text in the middle of a character. */
const copyOf = (value: object): JsonObject =>
  JSON.parse(JSON.stringify(value), (_, member) => (typeof member === 'string' ? member.toWellFormed() : member))

const toIssue = ({ path, message }: { path: PropertyKey[]; message: string }): ArgumentIssue => ({
  path: path.map((part) => `/${String(part)}`).join(''),
  message,
})
