/** The result of checking an exported record. */
export interface Verdict {
  /** Where it differs from what was signed; undefined when it does not. */
  problem: string | undefined
  rows: number
  heads: number
  redacted: number
  /** Places where a person accepted that the record is not the one that was signed. */
  gaps: number
  /** Keys other than this server's that signed heads: these heads fit their own signatures, which does not prove them. */
  otherKeys: string[]
}

/** A line of the export: docs/reference/record.md describes each field. */
interface Row {
  id: number
  scope: string
  seq: number
  follows: number | null
  at: number
  kind: string
  actor: string
  action: string | null
  data: unknown
  salt: string | null
  dataHash: string
  prev: string
  hash: string
}
interface HeadRef {
  number: number
  hash: string
}
interface Head extends HeadRef {
  format?: number
  prev: string
  at: number
  firstId: number
  lastId: number
  rowCount: number
  firstAt: number
  lastAt: number
  rowsHash: string
  gap?: { found: HeadRef; remembered: HeadRef } | null
  key: string
  signature: string
}
interface End {
  rows: number
  heads: number
  lines: string
  exportedAt: number
  remembered: HeadRef | null
}

/** The reason why the check stops, as a sentence. */
class Difference extends Error {}

function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Difference(otherwise)
}

/**
 * Checks a whole exported record (`countersign-audit/2`) with nothing but the browser: each row against its own hashes and the row before it, the
 * rows against their head, the heads against each other and their signatures, and that nothing is missing before the end.
 * @param bytes The file.
 * @param publicKey The key that signs the record of this server.
 * @param onProgress Is told how many rows are checked, now and then.
 */
export async function verifyExport(
  bytes: Uint8Array<ArrayBuffer>,
  publicKey: string,
  onProgress: (rows: number) => void,
): Promise<Verdict> {
  const verdict: Verdict = { problem: undefined, rows: 0, heads: 0, redacted: 0, gaps: 0, otherKeys: [] }
  try {
    await check(bytes, publicKey, verdict, onProgress)
  } catch (error) {
    if (error instanceof Difference) verdict.problem = error.message
    else if (error instanceof SyntaxError || error instanceof TypeError) verdict.problem = 'A line is not in the format of an export.'
    else throw error
  }
  return verdict
}

async function check(
  bytes: Uint8Array<ArrayBuffer>,
  publicKey: string,
  verdict: Verdict,
  onProgress: (rows: number) => void,
): Promise<void> {
  const lines = new TextDecoder('utf-8', { fatal: true }).decode(bytes).split('\n')
  must(lines.pop() === '', 'The end is missing: the file was cut.')
  const key = await importKey(publicKey)
  const start = JSON.parse(lines[0] ?? '')
  must(start.format === 'countersign-audit/2', 'This is no exported record of this version.')
  must(start.publicKey === publicKey, 'It was signed with another key than the one of this server.')
  must(start.since === null && start.until === null, 'It is not the whole record.')

  const scopes = new Map<string, Row[]>()
  const redacted = { actions: new Set<string>(), said: new Set<string>() }
  const hashes = new Map<number, string>()
  let pending: Row[] = []
  let last: HeadRef = { number: 0, hash: '' }
  let lastId = 0
  for (const [at, text] of lines.slice(1, -1).entries()) {
    const line = JSON.parse(text)
    if (line.head) {
      await checkHead(line.head, pending, last, { key, publicKey })
      const { key: signer } = line.head
      if (signer !== publicKey && !verdict.otherKeys.includes(signer)) verdict.otherKeys.push(signer)
      last = line.head
      hashes.set(last.number, last.hash)
      pending = []
      verdict.heads++
      if (line.head.gap) verdict.gaps++
    } else {
      const row: Row = line
      await checkRow(row, text)
      must(row.id > lastId, `Row ${row.seq} of ${row.scope} is out of order.`)
      lastId = row.id
      pending.push(row)
      verdict.rows++
      const chain = scopes.get(row.scope) ?? []
      scopes.set(row.scope, chain)
      chain.push({ ...row, data: null })
      if (row.kind === 'redacted' && row.action !== null) redacted.said.add(row.action)
      if (row.data === null) {
        verdict.redacted++
        redacted.actions.add(row.action ?? '')
      }
    }
    if (at % 500 === 0) onProgress(verdict.rows)
  }
  must(pending.length === 0, 'There are rows without a head before the end.')
  for (const [scope, rows] of scopes) checkChain(scope, rows)
  for (const action of redacted.actions) must(redacted.said.has(action), `The data of ${action} was removed, and no redaction is recorded.`)
  await checkEnd(lines, bytes, { verdict, hashes, last, key, exportedAt: start.exportedAt })
}

const DATA = ',"data":'
const SALT = ',"salt":'

async function checkRow({ salt, data, ...row }: Row, text: string): Promise<void> {
  const what = `Row ${row.seq} of ${row.scope}`
  must((data === null) === (salt === null), `${what} is half redacted.`)
  // The bytes as they are in the file, because the hash covers them.
  const stored = data === null ? null : text.slice(text.indexOf(DATA) + DATA.length, text.lastIndexOf(SALT))
  must(stored === null || (await sha256(`${salt}${stored}`)) === row.dataHash, `The data of row ${row.seq} of ${row.scope} was changed.`)
  const { action, actor, at, dataHash, kind, prev, scope, seq } = row
  must((await sha256(JSON.stringify({ action, actor, at, dataHash, kind, prev, scope, seq }))) === row.hash, `${what} was changed.`)
}

/** Checks that the rows of a scope follow each other from the first one on. Transactions may be numbered in another order than they commit. */
function checkChain(scope: string, rows: Row[]): void {
  let before: Row | undefined
  for (const row of rows.sort((a, b) => a.seq - b.seq)) {
    const seq = (before?.seq ?? 0) + 1
    must(row.seq === seq, `Row ${seq} of ${scope} is ${row.seq < seq ? 'duplicated' : 'missing'}.`)
    must(
      row.prev === (before?.hash ?? '') && row.follows === (before?.id ?? null),
      `Row ${seq} of ${scope} does not follow the row before it.`,
    )
    before = row
  }
}

interface Signer {
  key: CryptoKey
  publicKey: string
}

async function checkHead(head: Head, rows: Row[], before: HeadRef, { key, publicKey }: Signer): Promise<void> {
  const { format = 1, at, firstAt, firstId, lastAt, lastId, number, prev, rowCount, rowsHash, gap } = head
  const what = `Head ${number}`
  const after = gap && gap.remembered.number >= gap.found.number ? gap.remembered : before
  must(number === after.number + 1 && prev === after.hash, `${what} does not follow the one before it.`)
  must(!gap || (gap.found.number === before.number && gap.found.hash === before.hash), `${what} accepts another gap than there is.`)
  const list = rows.map(({ id, hash, follows }) => `${id} ${hash}${format > 1 ? ` ${follows ?? '-'}` : ''}\n`).join('')
  const times = rows.map((row) => row.at)
  const isOver =
    rows.length === rowCount &&
    rows[0]?.id === firstId &&
    rows.at(-1)?.id === lastId &&
    least(times) === firstAt &&
    -least(times.map((time) => -time)) === lastAt &&
    (await sha256(list)) === rowsHash
  must(isOver, `${what} was signed over other rows: one of them was changed, left out, added or moved.`)
  const text = JSON.stringify({
    ...{ at, firstAt, firstId },
    ...(format > 1 && { format, gap: gap ? JSON.stringify(gap) : null }),
    ...{ key: head.key, lastAt, lastId, number, prev, rowCount, rowsHash },
  })
  must((await sha256(text)) === head.hash, `${what} was changed.`)
  // The server may have had another key: its heads are named, and not taken for proven.
  const signer = head.key === publicKey ? key : await importKey(head.key).catch(() => undefined)
  must(signer !== undefined && (await isSigned(text, head.signature, signer)), `${what} has a wrong signature.`)
}

interface Seen {
  verdict: Verdict
  hashes: ReadonlyMap<number, string>
  last: HeadRef
  key: CryptoKey
  exportedAt: number
}

async function checkEnd(lines: string[], bytes: Uint8Array<ArrayBuffer>, { verdict, hashes, last, key, exportedAt }: Seen): Promise<void> {
  const endLine = lines.at(-1) ?? ''
  const { end, signature }: { end?: End; signature: string } = JSON.parse(endLine)
  must(end !== undefined, 'The end is missing: lines were cut off.')
  must(end.rows === verdict.rows && end.heads === verdict.heads, `There should be ${end.rows} rows and ${end.heads} heads.`)
  const before = bytes.subarray(0, bytes.length - new TextEncoder().encode(`${endLine}\n`).length)
  must((await digest(before)) === end.lines && end.exportedAt === exportedAt, 'A line before the end was changed.')
  const text = JSON.stringify({
    exportedAt: end.exportedAt,
    heads: end.heads,
    lines: end.lines,
    remembered: end.remembered,
    rows: end.rows,
  })
  must(await isSigned(text, signature, key), 'The end has a wrong signature.')
  const { remembered } = end
  if (!remembered || remembered.number === 0) return
  must(
    remembered.number <= last.number,
    `It ends with head ${last.number}, and the server remembers head ${remembered.number}: the newest rows were deleted.`,
  )
  must(
    hashes.get(remembered.number) === remembered.hash,
    `Head ${remembered.number} is not the one that the server remembers: the record was rewritten.`,
  )
}

const least = (numbers: readonly number[]): number => numbers.reduce((found, each) => Math.min(found, each), Number.POSITIVE_INFINITY)

const sha256 = (text: string): Promise<string> => digest(new TextEncoder().encode(text))
const digest = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const fromBase64url = (text: string): Uint8Array<ArrayBuffer> => {
  must(/^[\w-]*$/.test(text), 'A signature or a key is not in base64url.')
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
}

const importKey = (publicKey: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', fromBase64url(publicKey), 'Ed25519', false, ['verify'])
const isSigned = (text: string, signature: string, key: CryptoKey): Promise<boolean> =>
  crypto.subtle.verify('Ed25519', key, fromBase64url(signature), new TextEncoder().encode(text))
