import { z } from 'zod'
import { MAX_TASK_ID_CHARACTERS } from './limits.ts'

/** Where a server does not say how often it wants to be asked. */
const POLL_MS = 1_000
const MIN_POLL_MS = 250
const MAX_POLL_MS = 30_000

/** What a server says of a task (protocol 2025-11-25). Only what has a meaning here. */
export const TaskState = z.object({
  taskId: z.string().min(1).max(MAX_TASK_ID_CHARACTERS),
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  statusMessage: z.string().optional().catch(undefined),
  pollInterval: z.number().optional().catch(undefined),
})
export type TaskState = z.output<typeof TaskState>

/** What a call that began a task is answered. */
export const TaskBegun = z.object({ task: TaskState })

/** What the call itself would have been answered. Read further by `readResult`. */
export const CallResult = z.looseObject({ content: z.array(z.unknown()), isError: z.boolean().optional() })
export type CallResult = z.output<typeof CallResult>

/** How long to wait before a task is asked after again: as the server wishes, but neither in a hurry nor for good. */
export const pollAfterMs = ({ pollInterval = POLL_MS }: Pick<TaskState, 'pollInterval'>): number =>
  Math.min(Math.max(pollInterval, MIN_POLL_MS), MAX_POLL_MS)
