import { resolve } from 'node:path'
import { Duration, durationMs } from '@countersign/core'
import { z } from 'zod'

const atLeast = (least: string) =>
  Duration.refine((text) => (durationMs(text) ?? 0) >= (durationMs(least) ?? 0), `must be at least ${least}`)

/** When the server archives by itself. Without this section it never does. */
export const ArchiveSection = z.strictObject({
  /** The age of events that are moved: nothing has happened in their session for this long. */
  olderThan: atLeast('P1D').default('P30D'),
  /** How often the server archives. */
  every: atLeast('PT1H').default('P1D'),
  /** Where the files go. Default: `archive` in the data folder. */
  to: z.string().min(1).optional(),
})

/** The section in the form that the server uses. */
export interface ArchiveSettings {
  olderThanMs: number
  everyMs: number
  /** Absolute; undefined for the default place. */
  folder: string | undefined
}

/** @param folder The base of relative paths. */
export const readArchive = ({ olderThan, every, to }: z.output<typeof ArchiveSection>, folder: string): ArchiveSettings => ({
  olderThanMs: durationMs(olderThan) ?? 0,
  everyMs: durationMs(every) ?? 0,
  folder: to === undefined ? undefined : resolve(folder, to),
})
