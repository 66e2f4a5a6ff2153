import { resolve } from 'node:path'
import { Duration, durationMs } from '@countersign/core'
import { z } from 'zod'

const atLeast = (least: string) =>
  Duration.refine((text) => (durationMs(text) ?? 0) >= (durationMs(least) ?? 0), `must be at least ${least}`)

/** When the server archives by itself. Without this section it never does. */
export const ArchiveSection = z.strictObject({
  /** How long nothing has happened in a session whose events are moved. */
  olderThan: atLeast('P1D').default('P30D'),
  /** How often the server archives. */
  every: atLeast('PT1H').default('P1D'),
  /** Where the files go. Default: `archive` in the data folder. */
  to: z.string().min(1).optional(),
})

/** The section as the server needs it. */
export interface ArchiveSettings {
  olderThanMs: number
  everyMs: number
  /** Absolute; undefined for the default place. */
  folder: string | undefined
}

/** @param folder What a relative path is meant from. */
export const readArchive = ({ olderThan, every, to }: z.output<typeof ArchiveSection>, folder: string): ArchiveSettings => ({
  olderThanMs: durationMs(olderThan) ?? 0,
  everyMs: durationMs(every) ?? 0,
  folder: to === undefined ? undefined : resolve(folder, to),
})
