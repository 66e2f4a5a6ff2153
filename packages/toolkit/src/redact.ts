import {
  type ExecuteContext,
  type JsonObject,
  type PreviewField,
  ToolError,
  type Verification,
  type VerifyContext,
} from '@countersign/core'
import type { Redactor } from './net/index.ts'
import { overlay } from './overlay.ts'
import type { ToolDraft } from './tool-draft.ts'

/** A coded tool whose results, previews and errors hold no secret of ours. (What a route table calls is redacted where its answer arrives.) */
export function redactTool(tool: ToolDraft, redactor: Redactor): ToolDraft {
  const { preview, verify, change } = tool
  const attempt = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw redactError(error, redactor)
    }
  }
  return overlay(tool, {
    execute: async (args: JsonObject, context: ExecuteContext) => redactor.json(await attempt(tool.execute(args, context))),
    ...(preview && {
      preview: async (args: JsonObject, signal: AbortSignal) => {
        const { fields, headline, ...rest } = await attempt(preview(args, signal))
        return {
          fields: fields.map((field) => redactField(field, redactor)),
          ...(headline !== undefined && { headline: redactor.text(headline) }),
          // The precondition is never shown, only hashed.
          ...rest,
        }
      },
    }),
    ...(change && { change: { ...change, fields: change.fields.map((field) => redactField(field, redactor)) } }),
    ...(verify && {
      verify: async (args: JsonObject, context: VerifyContext) => redactFound(await attempt(verify(args, context)), redactor),
    }),
  })
}

const redactField = (
  { field, oldValue, newValue, diff, currency, unverified, ofTool }: PreviewField,
  redactor: Redactor,
): PreviewField => ({
  field: redactor.text(field),
  ...(oldValue !== undefined && { oldValue: redactor.json(oldValue) }),
  ...(newValue !== undefined && { newValue: redactor.json(newValue) }),
  ...(diff !== undefined && { diff: redactor.text(diff) }),
  ...(currency !== undefined && { currency: redactor.text(currency) }),
  ...(unverified && { unverified }),
  ...(ofTool && { ofTool }),
})

const redactFound = (found: Verification, redactor: Redactor): Verification =>
  found.done === true && found.output !== undefined ? { done: true, output: redactor.json(found.output) } : found

function redactError(error: unknown, redactor: Redactor): unknown {
  if (!(error instanceof Error)) return new Error('the tool failed without an error')
  const message = redactor.text(error.message)
  if (message === error.message && error.cause === undefined) return error
  // Without its cause, which says the same words again, and its stack, which begins with them.
  return error.name === 'ToolError' ? copyOf(error as ToolError, message) : new Error(message)
}

const copyOf = ({ kind, retryable, impossible, retryAfterMs }: ToolError, message: string): ToolError =>
  new ToolError(kind, message, { retryable, impossible, retryAfterMs })
