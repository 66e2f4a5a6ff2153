import type { JsonObject, Preview, PreviewField, Tool } from '@countersign/core'
import type { Clock } from '../../clock.ts'
import { withinTimeout } from '../execute/retry.ts'
import { readToolError } from '../execute/tool-error.ts'
import { preconditionOf } from './digest.ts'

/** How a target is read. */
export interface PreviewReading {
  clock: Clock
  /** A target that takes longer to be read gets a card without current values, and no start where values were shown. Default 5_000. */
  previewTimeoutMs?: number | undefined
}

/** The state of a target when it was read. */
export interface SeenTarget {
  preview: PreviewField[] | null
  /** The headline with the names and values that were read; null when it contains only arguments. */
  headline: string | null
  previewError: string | null
  previewedAtMs: number | null
  /** Hash of what has to be the same still when the action starts. */
  precondition: string | null
  /** The version of the target, for the attempt to be held against. */
  version: string | null
  /** Set where `previewError` says why the call cannot be done, even with approval: at all, or as long as the target cannot be read. */
  impossible: 'at all' | 'for now' | undefined
}

export const NOT_SEEN: SeenTarget = {
  preview: null,
  headline: null,
  previewError: null,
  previewedAtMs: null,
  precondition: null,
  version: null,
  impossible: undefined,
}

/** Reads what would change. A target that cannot be read is one with an error in words for the card. */
export async function readPreview(
  tool: Tool,
  args: JsonObject,
  { clock, previewTimeoutMs: timeoutMs = 5_000 }: PreviewReading,
): Promise<SeenTarget> {
  const { name, preview } = tool
  if (!preview) return NOT_SEEN
  const previewedAtMs = clock.nowMs()
  try {
    const { fields, headline, precondition, version } = await withinTimeout(clock, { name, timeoutMs }, (signal) =>
      preview.call(tool, args, signal),
    )
    return {
      preview: fields,
      previewError: null,
      previewedAtMs,
      headline: headline ?? null,
      precondition: restsOn(precondition, headline),
      version: version ?? null,
      impossible: undefined,
    }
  } catch (error) {
    const said = readToolError(error)
    if (!said) return { ...NOT_SEEN, previewError: 'the current values could not be read' }
    return { ...NOT_SEEN, previewError: said.message, impossible: said.impossible ? (said.retryable ? 'for now' : 'at all') : undefined }
  }
}

/** A headline is read like the values below it: an action with another one is another action. */
function restsOn(precondition: Preview['precondition'], headline: string | undefined): string | null {
  if (headline !== undefined) return preconditionOf({ headline, ...(precondition !== undefined && { precondition }) })
  return precondition === undefined ? null : preconditionOf(precondition)
}
