import { createHash } from 'node:crypto'
import { LineError } from '@countersign/toolkit/internal'
import { createTally, follows, gapOf, HEAD_FORMAT, type Head, type HeadGap, type HeadRef, headHashOf, headText, NO_HEAD } from './head.ts'
import { isSignedBy } from './key.ts'
import { type ExportEnd, type ExportedRow, type ExportStart, endText, FORMAT, readLine } from './line.ts'
import { dataHashOf, rowHashOf } from './row.ts'
import { createScopes, type Scopes } from './scopes.ts'

/** The result of verifying an exported record. */
export interface AuditVerdict {
  /** Where and how it first differs from its signatures; undefined when it is intact. */
  problem: string | undefined
  /** Every difference, in the order of the file; at most `MAX_PROBLEMS`. */
  problems: string[]
  /** How many differences there are beyond those. */
  unlisted: number
  rows: number
  /** Redacted rows: their existence is proved, but not their data. */
  redacted: number
  scopes: number
  /** Numbers of its first and last head; undefined without any. */
  heads: { first: number; last: number } | undefined
  /** The times of its first and last row; epoch ms. */
  time: { first: number; last: number } | undefined
  /** The keys that signed it. */
  keys: string[]
  /** Where a person accepted that the record before a head differs from the one that the server remembered. */
  gaps: (HeadGap & { head: number })[]
  /** Number of the newest head of the anchor that it holds; undefined without an anchor. */
  anchored: number | undefined
}

/** A head that was stored outside the server. `at` (epoch ms) is known of a completely stored one. */
export type Anchor = HeadRef & { at?: number }

export interface VerifyOptions {
  /** Heads that were stored elsewhere: the record has to hold them. Without one, the deletion of the newest rows goes undetected. */
  anchors?: readonly Anchor[]
}

/** How many differences are listed. */
const MAX_PROBLEMS = 100

interface Reading extends Omit<AuditVerdict, 'problem'> {
  line: number
  /** The keys that may have signed it; undefined accepts those that the file names. */
  trusted: readonly string[] | undefined
  /** The heads of each key that is not among them, and fit their own signature: how many, the first and the last. */
  untrusted: Map<string, { count: number; first: number; last: number }>
  start: ExportStart | undefined
  end: ExportEnd | undefined
  lastHead: Head | undefined
  headCount: number
  /** The hash that each head has by its fields, by its number. */
  hashes: Map<number, string>
  anchors: readonly Anchor[] | undefined
  lastId: number
  tally: ReturnType<typeof createTally>
  chains: Scopes
  /** Actions whose data was removed, and those with a row that records the removal. */
  blanked: Set<string>
  saidBlanked: Set<string>
}

/**
 * Verifies an exported record without a database, line by line: each row against its own hashes and the row before it in its scope, the
 * rows against their head, the heads against each other and their signatures, and that nothing is missing at the end. It goes on after a
 * difference: one that is known and was accepted must not hide another.
 * @param lines Its lines without their ends.
 * @param trusted Public keys that may have signed it. Without them those that the file names are accepted: then the result proves that the
 * file is consistent, and `keys` names the signers for comparison.
 */
export async function verifyExport(
  lines: AsyncIterable<string> | Iterable<string>,
  trusted?: readonly string[],
  { anchors }: VerifyOptions = {},
): Promise<AuditVerdict> {
  const digest = createHash('sha256')
  const reading: Reading = {
    ...{ problems: [], unlisted: 0, rows: 0, redacted: 0, scopes: 0, heads: undefined, time: undefined, keys: [], line: 0, headCount: 0 },
    ...{ trusted, start: undefined, end: undefined, lastHead: undefined, lastId: 0, tally: createTally(), chains: createScopes() },
    ...{ blanked: new Set<string>(), saidBlanked: new Set<string>(), untrusted: new Map() },
    ...{ gaps: [], anchored: undefined, hashes: new Map<number, string>(), anchors },
  }
  try {
    for await (const text of lines) {
      reading.line++
      const found = reading.end ? ['is after the end'] : takeLine(reading, text, () => digest.copy().digest('base64url'))
      note(reading, `line ${reading.line}: `, found)
      if (!reading.start) return verdictOf(reading)
      digest.update(`${text}\n`)
    }
  } catch (error) {
    if (!(error instanceof LineError)) throw error
    note(reading, `after line ${reading.line}: `, [error.message])
    note(reading, '', untrustedHeads(reading))
    return verdictOf(reading)
  }
  note(reading, '', untrustedHeads(reading))
  if (!reading.end) note(reading, '', ['its end is missing: lines were cut off'])
  else {
    note(reading, '', missing(reading))
    note(reading, '', checkAnchors(reading))
  }
  return verdictOf(reading)
}

function note(reading: Reading, where: string, problems: Iterable<string>): void {
  for (const problem of problems) {
    if (reading.problems.length < MAX_PROBLEMS) reading.problems.push(`${where}${problem}`)
    else reading.unlisted++
  }
}

function verdictOf({ problems, unlisted, rows, redacted, chains, heads, time, keys, gaps, anchored }: Reading): AuditVerdict {
  return { problem: problems[0], problems, unlisted, rows, redacted, scopes: chains.count, heads, time, keys, gaps, anchored }
}

/** Yields what is missing in a record that was read to its end. */
function* missing({ chains, heads, start, blanked, saidBlanked }: Reading): Iterable<string> {
  yield* chains.missing(start?.since === null || heads?.first === 1)
  // A redaction has its own row, later than the data: a record up to some time may not include it.
  if (start?.until !== null) return
  for (const actionId of blanked) if (!saidBlanked.has(actionId)) yield `the data of ${actionId} was removed, and no redaction is recorded`
}

function takeLine(reading: Reading, text: string, digestSoFar: () => string): string[] {
  const line = readLine(text)
  if (!line) return [reading.line === 1 ? 'this is not an exported record' : 'is not in the format of an export']
  if (reading.line === 1) {
    if (!('start' in line)) return ['this is not an exported record']
    reading.start = line.start
    return []
  }
  if ('row' in line) return takeRow(reading, line.row)
  if ('head' in line) return takeHead(reading, line.head)
  return 'end' in line ? takeEnd(reading, line.end, line.signature, digestSoFar()) : ['the file begins again']
}

function takeRow(reading: Reading, row: ExportedRow): string[] {
  const what = `row ${row.seq} of ${row.scope}`
  const problems = []
  if ((row.follows === undefined) === (reading.start?.format === FORMAT)) problems.push(`${what} is of another format than the file`)
  if (row.id <= reading.lastId) problems.push(`${what} is out of order or duplicated`)
  if ((row.data === null) !== (row.salt === null)) problems.push(`${what} is half redacted`)
  else if (row.data !== null && row.salt !== null && dataHashOf(row.salt, row.data) !== row.data_hash)
    problems.push(`the data of ${what} was changed`)
  if (rowHashOf(row) !== row.hash) problems.push(`${what} was changed`)
  for (const problem of reading.chains.take(row)) problems.push(`${what} ${problem}`)
  // Its head covers the stored hash: data that does not fit is a difference of this row alone.
  reading.tally.add({ ...row, follows: row.follows ?? null })
  reading.lastId = Math.max(reading.lastId, row.id)
  reading.rows++
  if (row.kind === 'redacted' && row.action_id !== null) reading.saidBlanked.add(row.action_id)
  if (row.data !== null) return problems
  if (row.action_id === null) return [...problems, `${what} is about no action, and was redacted nevertheless`]
  reading.blanked.add(row.action_id)
  reading.redacted++
  return problems
}

function takeHead(reading: Reading, head: Head): string[] {
  const what = `head ${head.number}`
  const problems = [...whyNotInPlace(reading, head), ...whyNotOver(reading, head)]
  const hash = headHashOf(head)
  const forged = hash === head.hash ? checkHeadSignature(reading, head) : ['was changed']
  problems.push(...forged)
  reading.tally = createTally()
  reading.lastHead = head
  reading.headCount++
  reading.hashes.set(head.number, hash)
  const gap = gapOf(head)
  if (gap && forged.length === 0) reading.gaps.push({ ...gap, head: head.number })
  reading.heads = { first: reading.heads?.first ?? head.number, last: head.number }
  reading.time = {
    first: Math.min(reading.time?.first ?? head.first_at, head.first_at),
    last: Math.max(reading.time?.last ?? head.last_at, head.last_at),
  }
  return problems.map((problem) => `${what} ${problem}`)
}

function whyNotInPlace({ lastHead, start }: Reading, head: Head): string[] {
  if (!lastHead && start?.since === null && !follows(head, NO_HEAD)) return ['is the first: those before it are missing']
  if (lastHead ? !follows(head, lastHead) : (head.number === 1) !== (head.prev === ''))
    return [`does not follow ${lastHead ? `head ${lastHead.number}` : 'what it says'}`]
  const isOfFormat = head.format <= HEAD_FORMAT && head.format >= (lastHead?.format ?? 1)
  return isOfFormat ? [] : ['is of another format than it should be']
}

function whyNotOver({ tally }: Reading, head: Head): string[] {
  const seen = tally.end(head.format)
  const isSame = Object.entries(seen).every(([name, value]) => head[name as keyof typeof seen] === value)
  return isSame ? [] : ['was signed over other rows: one of those before it was changed, left out, added or moved']
}

function takeEnd(reading: Reading, end: ExportEnd, signature: string, lines: string): string[] {
  const { start, headCount, rows, tally } = reading
  reading.end = end
  const problems = []
  if (tally.rowCount > 0) problems.push('there are rows without a head before the end')
  if (end.rows !== rows || end.heads !== headCount) problems.push(`there should be ${end.rows} rows and ${end.heads} heads`)
  else if (end.lines !== lines || end.exportedAt !== start?.exportedAt) problems.push('a line before the end was changed')
  for (const problem of checkSignature(reading, endText(end), signature, start?.publicKey ?? '')) problems.push(`the end ${problem}`)
  const lost = end.remembered ? whyNotHeld(reading, end.remembered, 'the server that exported it remembers') : undefined
  return lost === undefined ? problems : [...problems, lost]
}

/**
 * Returns why a head that is known to have been signed is not in the file; undefined when it is, or when this part of the record cannot
 * hold it.
 */
function whyNotHeld({ hashes, start, lastHead, heads, gaps }: Reading, { number, hash }: HeadRef, who: string): string | undefined {
  if (number === 0 || hashes.get(number) === hash) return undefined
  if (hashes.has(number)) return `head ${number} is another one than ${who}: the record was rewritten`
  if (number > (lastHead?.number ?? 0)) {
    if (start?.until !== null) return undefined
    return `it ends with ${lastHead ? `head ${lastHead.number}` : 'no head'}, and ${who} head ${number}: the end of the record was deleted`
  }
  // An excerpt of the record begins later; no head may be missing within it.
  if (start?.since !== null && number < (heads?.first ?? 0)) return undefined
  // Not more than a hint: whoever has the key can sign that, too, and an anchor is for those who have it.
  const gap = gaps.find(({ found, remembered }) => number > found.number && number <= remembered.number)
  const accepted =
    gap &&
    `: head ${gap.head} says that ${gap.by} accepted the loss of heads ${gap.found.number + 1} to ${gap.remembered.number}. If so, leave these heads out of the anchor`
  return `head ${number}, which ${who}, is missing${accepted ?? ''}`
}

/** Checks the record against heads that were stored elsewhere. */
function* checkAnchors(reading: Reading): Iterable<string> {
  const { anchors, end, hashes } = reading
  if (!anchors) return
  let isMissing = false
  for (const anchor of anchors) {
    // Signed after the export.
    if (anchor.at !== undefined && anchor.at > (end?.exportedAt ?? 0)) continue
    const problem = whyNotHeld(reading, anchor, 'the anchor has')
    if (problem !== undefined) {
      isMissing = true
      yield problem
    } else if (hashes.has(anchor.number)) reading.anchored = Math.max(reading.anchored ?? 0, anchor.number)
  }
  if (reading.anchored === undefined && !isMissing)
    yield 'no head of the anchor belongs to this part of the record: it proves nothing about it'
}

/** A head of a key that was not given is not called changed: the server may have had another key. It is not proven either. */
function checkHeadSignature(reading: Reading, head: Head): string[] {
  const { key, number, signature } = head
  const { trusted, untrusted } = reading
  if (trusted === undefined || trusted.includes(key)) return checkSignature(reading, headText(head), signature, key)
  if (!isSignedBy(headText(head), signature, key)) return ['has a wrong signature']
  const { count, first } = untrusted.get(key) ?? { count: 0, first: number }
  untrusted.set(key, { count: count + 1, first, last: number })
  return []
}

function* untrustedHeads({ untrusted }: Reading): Iterable<string> {
  for (const [key, { count, first, last }] of untrusted) {
    const which = count === 1 ? `head ${first} is` : `${count} heads (${first} to ${last}) are`
    yield `${which} signed with another key than those that were given: ${key}. That fits the signature, and proves nothing. If you noted this key down as an earlier one of your server, give it as well`
  }
}

function checkSignature({ trusted, keys }: Reading, text: string, signature: string, key: string): string[] {
  if (trusted && !trusted.includes(key)) return [`is signed with another key: ${key}`]
  if (!isSignedBy(text, signature, key)) return ['has a wrong signature']
  if (!keys.includes(key)) keys.push(key)
  return []
}
