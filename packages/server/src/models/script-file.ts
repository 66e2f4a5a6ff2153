import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MODEL_ERROR_CODES } from '@countersign/core'
import { parse } from 'yaml'
import { z } from 'zod'
import { type Script, type ScriptedModel, scriptedModel } from './scripted.ts'

const FinishReason = z.enum(['stop', 'tool_calls', 'length', 'content_filter', 'other', 'none'])
const Usage = z.strictObject({
  inputTokens: z.int().nonnegative(),
  cachedInputTokens: z.int().nonnegative().default(0),
  cacheWriteTokens: z.int().nonnegative().optional(),
  outputTokens: z.int().nonnegative(),
})

const ScriptStep = z.strictObject({
  expect: z.strictObject({ lastUser: z.string().optional(), lastToolResult: z.string().optional() }).optional(),
  reasoning: z.string().optional(),
  text: z.string().optional(),
  calls: z
    .array(z.strictObject({ tool: z.string().min(1), arguments: z.union([z.record(z.string(), z.json()), z.string()]).default({}) }))
    .optional(),
  error: z.union([z.string(), z.strictObject({ code: z.enum(MODEL_ERROR_CODES), message: z.string(), retryable: z.boolean() })]).optional(),
  finish: FinishReason.optional(),
  usage: Usage.optional(),
  chunkDelayMs: z.number().nonnegative().optional(),
})
const ScriptSteps = z.strictObject({ steps: z.array(ScriptStep).min(1) })

/**
 * Reads a script: a module (`.ts`, `.mjs`, `.js`) whose default export is `defineScript(…)`, or `.yaml`, `.yml` or `.json` with `steps`.
 * @throws Error when the file cannot be read or is not a script.
 */
export async function loadScript(file: string): Promise<Script> {
  const extension = extname(file)
  const isModule = ['.ts', '.mts', '.js', '.mjs'].includes(extension)
  if (!isModule && !['.yaml', '.yml', '.json'].includes(extension)) {
    throw new Error(`the script ${file} is neither a module (.ts, .mjs, .js) nor .yaml or .json`)
  }
  let content: unknown
  try {
    content = isModule ? (await import(pathToFileURL(file).href)).default : parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new Error(`the script ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
  if (isModule && typeof content === 'object' && content !== null && 'reply' in content && typeof content.reply === 'function') {
    return content as Script
  }
  const script = ScriptSteps.safeParse(content)
  if (!script.success) throw new Error(`the script ${file} is not valid: ${z.prettifyError(script.error)}`)
  return script.data
}

/** Opens the model that plays a script. `file` is relative to `directory`, by default the working directory. */
export async function openScript(id: string, file: string, directory = '.'): Promise<ScriptedModel> {
  return scriptedModel({ id, ...(await loadScript(resolve(directory, file))) })
}
