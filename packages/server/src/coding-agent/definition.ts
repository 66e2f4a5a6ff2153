import type { JsonObject, PreviewField } from '@countersign/core'
import { z } from 'zod'
import { type HostRunTool, locked } from '../host-run.ts'
import { HOSTS, type Kind } from './hosts.ts'

/** A tool of the group. */
export interface Definition extends Omit<HostRunTool, 'reportWithinMs' | 'notHere' | 'complete'> {
  kind: Kind
  /** Arguments that follow from the others. */
  work?(args: JsonObject): JsonObject
  /** Why the tool does not take these arguments. */
  refuse?(args: JsonObject): string | undefined
}

export const Json = z.record(z.string(), z.json())
/** The host decides these by itself, and takes no other ones in an answer. */
export const About = {
  host: locked(z.enum(HOSTS)),
  hostTool: locked(z.string().min(1).max(200)),
  folder: locked(z.string().max(4_000)),
}

export const added = (field: string, value: unknown): PreviewField => ({ field, newValue: JSON.parse(JSON.stringify(value ?? null)) })

/** One row for each member of an object, named so that none passes for a row of ours. */
export const addedEach = (what: string, values: unknown): PreviewField[] =>
  Object.entries(values as JsonObject).map(([name, value]) => added(`${what} ${name}`, value))

const MAX_TITLE = 160
export function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE).toWellFormed()}…`
}
