import type { RunRow } from '../store/index.ts'

/** The id of a step's message is fixed by its run and number: after a crash the same step streams into the same message again. */
export const stepMessageId = (run: RunRow): string => `msg_${run.id.slice('run_'.length)}_${run.steps + 1}`
