import { z } from 'zod'
import { MAX_TASK_ID_CHARACTERS } from './limits.ts'

/** The polling interval if the server does not set one. */
const POLL_MS = 1_000
const MIN_POLL_MS = 250
const MAX_POLL_MS = 30_000

/** The state of a task as the server reports it (protocol 2025-11-25), with only the members that are used here. */
export const TaskState = z.object({
  taskId: z.string().min(1).max(MAX_TASK_ID_CHARACTERS),
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  statusMessage: z.string().optional().catch(undefined),
  pollInterval: z.number().optional().catch(undefined),
})
export type TaskState = z.output<typeof TaskState>

/** The answer to a call that began a task. */
export const TaskBegun = z.object({ task: TaskState })

/** The result of the call itself. `readResult` reads its content. */
export const CallResult = z.looseObject({ content: z.array(z.unknown()), isError: z.boolean().optional() })
export type CallResult = z.output<typeof CallResult>

/** Returns how long to wait before the next poll of a task, in ms: the interval that the server asks for, within bounds. */
export const pollAfterMs = ({ pollInterval = POLL_MS }: Pick<TaskState, 'pollInterval'>): number =>
  Math.min(Math.max(pollInterval, MIN_POLL_MS), MAX_POLL_MS)
