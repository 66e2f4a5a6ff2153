import { audit, type Tx } from '../store/index.ts'
import { follows, gapOf, type Head, type HeadRef, headHashOf, headText, isSameHead, refOf } from './head.ts'
import { isSignedBy } from './key.ts'

/** Why the database does not hold the record that this server remembers. */
export interface RecordProblem {
  /**
   * `behind`: all that is there is genuine, and newer heads are missing, as after a restored backup or a rolled-back database.
   * `changed`: something that was sealed is not what it was.
   */
  kind: 'behind' | 'changed'
  /** As a sentence for people. */
  why: string
  found: HeadRef
  remembered: HeadRef
}

const HEADS_PER_READ = 200
/** Heads that are looked through, newest first, for one that was signed here. */
const MAX_LOOKED_THROUGH = 10_000

/** True for a head that is as it was signed, by one of these keys. */
export const isGenuine = (head: Head, keys: readonly string[]): boolean =>
  headHashOf(head) === head.hash && keys.includes(head.key) && isSignedBy(headText(head), head.signature, head.key)

export interface Compared {
  /** The newest head of the database. */
  last: Head | undefined
  problem: RecordProblem | undefined
}

/**
 * Compares the newest heads of the database with the one that is remembered: it has to be there, and all heads behind it have to follow it
 * and be signed with our key, or with the key that it is signed with itself. Heads that a person accepted later are taken.
 * @param remembered Undefined without a memory: then the newest head only has to be as it was signed.
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
  return {
    last,
    problem: { kind: isBehind ? 'behind' : 'changed', why: whyOf(remembered, last, isBehind), found, remembered: refOf(remembered) },
  }
}

function whyOf(remembered: Head, last: Head | undefined, isBehind: boolean): string {
  const known = `This server signed head ${remembered.number} of the record, over rows up to ${new Date(remembered.last_at).toISOString()}`
  if (!last) return `${known}, and the database holds no head at all: the record was deleted or its database replaced.`
  if (isBehind)
    return `${known}, and the database ends with head ${last.number}: newer heads were deleted, or the database is an earlier copy.`
  return `${known}, and the heads in the database do not go on from it: sealed rows or heads were changed.`
}

/** True when the heads of the database go on from the remembered one, or from one with which a person accepted what is there. */
function* hasGoneOn(remembered: Head, last: Head | undefined, keys: readonly string[]): Tx<boolean> {
  if (!last) return false
  const [own] = keys
  if (last.number > remembered.number && (yield* isChain(remembered, last, keys))) return true
  const accepted = yield* audit.lastGapHead.first({})
  if (!accepted || accepted.at < remembered.at || own === undefined || !isGenuine(accepted, [own])) return false
  return isSameHead(accepted, last) || (yield* isChain(accepted, last, keys))
}

/** True when the head `from` is in the database and all heads behind it, up to `last`, follow each other and are signed. */
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

/** The newest head that was signed with one of these keys; undefined where there is none among the newest 10,000. */
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

/** True when a person accepted that the record was changed after this head was signed, in whichever process. */
export function* isAcceptedSince({ number }: HeadRef, ownKey: string): Tx<boolean> {
  const accepted = yield* audit.lastGapHead.first({})
  if (accepted === undefined || accepted.number <= number || !isGenuine(accepted, [ownKey])) return false
  return gapOf(accepted)?.kind === 'changed'
}
