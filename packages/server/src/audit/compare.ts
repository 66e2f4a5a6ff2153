import { audit, type Tx } from '../store/index.ts'
import { follows, gapOf, type Head, type HeadRef, headHashOf, headText, isSameHead, refOf } from './head.ts'
import { isSignedBy } from './key.ts'

/** Why the database does not hold the record that this server remembers. */
export interface RecordProblem {
  /**
   * `behind`: everything in the database is genuine, but newer heads are missing, as after a restored backup or a rolled-back database.
   * `changed`: sealed data was modified.
   */
  kind: 'behind' | 'changed'
  /** The reason as a sentence. */
  why: string
  found: HeadRef
  remembered: HeadRef
}

const HEADS_PER_READ = 200
/** How many heads, newest first, are searched for one that was signed here. */
const MAX_LOOKED_THROUGH = 10_000

/** Returns true for a head whose signature is valid, by one of these keys. */
export const isGenuine = (head: Head, keys: readonly string[]): boolean =>
  headHashOf(head) === head.hash && keys.includes(head.key) && isSignedBy(headText(head), head.signature, head.key)

export interface Compared {
  /** The newest head of the database. */
  last: Head | undefined
  problem: RecordProblem | undefined
}

/**
 * Compares the newest heads of the database with the remembered one: it has to be there, and all heads after it have to follow it and be
 * signed with this server's key, or with the key of the remembered head. Heads that a person accepted later are valid.
 * @param remembered Undefined without a memory: then the newest head only needs a valid signature.
 */
export function* compareHeads(remembered: Head | undefined, ownKey: string): Tx<Compared> {
  const last = yield* audit.lastHead.first({})
  const found = refOf(last)
  if (!remembered) {
    const isFine = !last || isGenuine(last, [last.key])
    const why = `Head ${found.number} of the record is not as it was signed.`
    return { last, problem: isFine ? undefined : { kind: 'changed', why, found, remembered: refOf(undefined) } }
  }
  if (last && last.number === remembered.number && headHashOf(last) === remembered.hash) return { last, problem: undefined }
  const keys = [ownKey, remembered.key]
  if (yield* hasGoneOn(remembered, last, keys)) return { last, problem: undefined }
  const isBehind = !last || (last.number < remembered.number && isGenuine(last, keys))
  const otherKeys = isBehind ? [] : yield* otherKeysAfter(remembered, keys)
  const why = otherKeys.length > 0 ? whyOtherKeys(otherKeys, ownKey) : whyOf(remembered, last, isBehind)
  return { last, problem: { kind: isBehind ? 'behind' : 'changed', why, found, remembered: refOf(remembered) } }
}

/**
 * Returns the keys of the newest heads after `number` when each is signed, by itself, with another key than these: as after a start
 * without the setting of the key. Empty when there are none, or one of them is not as it was signed.
 */
export function* otherKeysAfter({ number }: HeadRef, keys: readonly string[]): Tx<string[]> {
  const newest = yield* audit.headsDownFrom.all({ last: Number.MAX_SAFE_INTEGER, limit: HEADS_PER_READ })
  const later = newest.filter((head) => head.number > number)
  return later.every((head) => !keys.includes(head.key) && isGenuine(head, [head.key])) ? [...new Set(later.map(({ key }) => key))] : []
}

/** It names no head: while another process signs with the other key, each second brings a new one. */
export const whyOtherKeys = (others: readonly string[], ownKey: string): string =>
  `The newest heads in the database are signed with the key ${others.join(', ')}, and this server signs with ${ownKey}: is COUNTERSIGN_AUDIT_KEY_FILE set as before?`

function whyOf(remembered: Head, last: Head | undefined, isBehind: boolean): string {
  const known = `This server signed head ${remembered.number} of the record, over rows up to ${new Date(remembered.last_at).toISOString()}`
  if (!last) return `${known}, and the database holds no head at all: the record was deleted or its database replaced.`
  if (isBehind)
    return `${known}, and the database ends with head ${last.number}: newer heads were deleted, or the database is an earlier copy.`
  return `${known}, and the heads in the database do not go on from it: sealed rows or heads were changed.`
}

/** Returns true when the heads of the database continue from the remembered one, or from one with which a person accepted the database. */
function* hasGoneOn(remembered: Head, last: Head | undefined, keys: readonly string[]): Tx<boolean> {
  if (!last) return false
  const [own] = keys
  if (last.number > remembered.number && (yield* isChain(remembered, last, keys))) return true
  const accepted = yield* audit.lastGapHead.first({})
  if (!accepted || accepted.at < remembered.at || own === undefined || !isGenuine(accepted, [own])) return false
  return isSameHead(accepted, last) || (yield* isChain(accepted, last, keys))
}

/** Returns true when the head `from` is in the database and all heads after it, up to `last`, form a signed chain. */
function* isChain(from: Head, last: Head, keys: readonly string[]): Tx<boolean> {
  let before: HeadRef | undefined
  for (let after = from.number - 1; after < last.number; ) {
    const heads = yield* audit.headsUpTo.all({ after, last: last.number, limit: HEADS_PER_READ })
    for (const head of heads) {
      if (
        before === undefined
          ? head.number !== from.number || headHashOf(head) !== from.hash
          : !follows(head, before) || !isGenuine(head, keys)
      )
        return false
      before = head
    }
    after = heads.at(-1)?.number ?? last.number
  }
  return before !== undefined
}

/** Returns the newest head that was signed with one of these keys; undefined when the newest 10,000 include none. */
export function* newestGenuine(keys: readonly string[]): Tx<Head | undefined> {
  for (let last = Number.MAX_SAFE_INTEGER, seen = 0; seen < MAX_LOOKED_THROUGH; ) {
    const heads = yield* audit.headsDownFrom.all({ last, limit: HEADS_PER_READ })
    const genuine = heads.find((head) => isGenuine(head, keys))
    if (genuine || heads.length < HEADS_PER_READ) return genuine
    seen += heads.length
    last = (heads.at(-1)?.number ?? 1) - 1
  }
  return undefined
}

/** Returns true when a head after this one states that a person accepted such a problem, in any process. */
export function* isAcceptedSince({ number }: HeadRef, ownKey: string, kind: RecordProblem['kind']): Tx<boolean> {
  const accepted = yield* audit.lastGapHead.first({})
  if (accepted === undefined || accepted.number <= number || !isGenuine(accepted, [ownKey])) return false
  return gapOf(accepted)?.kind === kind
}
