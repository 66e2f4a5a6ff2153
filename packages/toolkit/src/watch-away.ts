import { type ExecuteContext, type JsonObject, ToolError } from '@countersign/core'
import { overlay } from './overlay.ts'
import type { OutboundContext, ToolSource } from './source.ts'
import type { ToolDraft } from './tool-draft.ts'

const FIRST_CHECK_MS = 1_000
const LONGEST_MS = 60_000
const CHECK_TIMEOUT_MS = 15_000
const MAX_WHY = 300

/** Calls back once, after a delay in ms, and returns what prevents it. It must not keep the process alive. */
export type CallLater = (run: () => void, ms: number) => () => void

const callLater: CallLater = (run, ms) => {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}

/**
 * Returns the source with `away`, for one whose calls alone show that it cannot be reached: from the first call that could not be sent until one
 * is answered. Meanwhile it is checked by itself, more and more seldom: people should not learn from the next call that it is back.
 */
export function watchAway(source: ToolSource, later: CallLater = callLater): ToolSource {
  let away: { sinceMs: number; why: string } | undefined
  let way: OutboundContext | undefined
  let cancelCheck = () => {}
  const closing = new AbortController()

  function isBack(): void {
    away = undefined
    cancelCheck()
  }
  function sawFailure(error: unknown): void {
    if (!(error instanceof ToolError) || error.kind !== 'unreachable') return
    const text = error.message.replace(/\s+/g, ' ').trim()
    const why = (way?.redactor.text(text) ?? text).slice(0, MAX_WHY)
    if (away) away = { ...away, why }
    else {
      away = { sinceMs: Date.now(), why }
      checkIn(FIRST_CHECK_MS)
    }
  }
  function checkIn(ms: number): void {
    if (closing.signal.aborted) return
    cancelCheck()
    cancelCheck = later(() => void check(ms), ms)
  }
  async function check(afterMs: number): Promise<void> {
    if (!way) return
    const signal = AbortSignal.any([AbortSignal.timeout(CHECK_TIMEOUT_MS), closing.signal])
    const findings = await source.check(way, signal).catch(() => undefined)
    if (!away) return
    if (findings?.every(({ level }) => level !== 'problem')) isBack()
    else checkIn(Math.min(afterMs * 2, LONGEST_MS))
  }
  async function watching<T>(work: Promise<T>): Promise<T> {
    return await work.catch((error: unknown) => {
      sawFailure(error)
      throw error
    })
  }
  function watched(draft: ToolDraft): ToolDraft {
    const { preview } = draft
    return overlay(draft, {
      async execute(args: JsonObject, context: ExecuteContext) {
        const answer = await watching(draft.execute(args, context))
        isBack()
        return answer
      },
      // A preview may not ask the source, so that only its failure says something.
      ...(preview && { preview: (args: JsonObject, signal: AbortSignal) => watching(preview(args, signal)) }),
    })
  }

  return {
    kind: source.kind,
    secrets: source.secrets,
    get isKnown() {
      return source.isKnown ?? true
    },
    get away() {
      return away
    },
    drafts(given, report) {
      way = given
      return source.drafts(given, report).map(watched)
    },
    onChange: (onToolsChanged) => source.onChange?.(onToolsChanged),
    attach: (services) => source.attach?.(services),
    check: (given, signal) => source.check(given, signal),
    async close() {
      closing.abort()
      cancelCheck()
      await source.close?.()
    },
  }
}
