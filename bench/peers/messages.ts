import type { Place, Verdicts } from './adapter.ts'

/** How a system's process is started. */
export interface WorkerOptions extends Omit<Place, 'effect'> {
  /** The URL of its `adapter.ts`. */
  adapter: string
  /** `note`: each effect is written to the file `effects` of the folder. `crash`: and the process is killed after it. */
  effects: 'none' | 'note' | 'crash'
}

/** A request of the parent. */
export type Work =
  | { do: 'block'; inFlight: number; durationMs: number }
  | { do: 'start'; message: string }
  | { do: 'decide'; sessionId: string; verdicts: Verdicts }
  | { do: 'finish'; sessionId: string }
  | { do: 'recover'; sessionId: string; verdicts: Verdicts }
  | { do: 'close' }

export type Job = Work & { id: number }

/** The answer to the job with that id; id 0 says that the system is open. */
export interface Reply {
  id: number
  value?: unknown
  error?: string
  /** When the answer was there, epoch ms. */
  atMs?: number
}
