import type { CampaignDatabase } from '../crash/database.ts'

export interface PartOptions {
  seed: number
  /** No new work begins after this long; default: as long as the part takes. */
  minutes: number | undefined
  /** Default: both, one after the other. */
  database: CampaignDatabase['kind'] | undefined
  /** Only the planted bugs whose names fit this regular expression. */
  bug: string | undefined
  /** Only kills at the points whose names fit this regular expression; of the features, faults such as `pause github sent`. */
  point: string | undefined
  /** Only the source files that this glob names, for the part that mutates them. */
  files: string | undefined
  /** A line on how far it is. */
  say(line: string): void
}

/** The result of one part of the campaign. */
export interface PartReport {
  /** Sentences about what is not as promised. */
  violations: string[]
  /** Events that the part should have seen and did not: without them the rest shows little. */
  missing: string[]
  /** Counts, times, seeds. */
  figures: unknown
}

export type Part = (options: PartOptions) => Promise<PartReport>
