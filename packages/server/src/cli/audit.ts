import { createReadStream, existsSync, statSync } from 'node:fs'
import { AuditSealView } from '@countersign/core'
import { exactLinesOf } from '@countersign/toolkit/internal'
import { Command } from 'commander'
import { type Anchor, type AuditVerdict, anchorsIn, verifyExport } from '../audit/index.ts'
import type { Environment } from '../config/index.ts'
import { type ApiFlags, openApi, withServerFlag } from './api.ts'
import type { JsonOutput } from './json-output.ts'
import { counted, megabytes, openProgress, percent } from './progress.ts'
import { say, sayJson } from './say.ts'

interface VerifyFlags {
  json?: true
  publicKey?: string[]
  anchor?: string[]
}

interface AcceptFlags extends ApiFlags {
  reason: string
}

const HELP = `
It needs the file and nothing else. Without --public-key it proves that the file is of one piece and says whose key signed it: compare
that with GET /api/audit/key of your server, or better with a copy that you noted down before.

--anchor takes heads that were kept outside the database: a file of record.anchor, the file record.head of the server, or NUMBER:HASH as
GET /api/audit/seal answers them. Without one, nobody can tell whether the newest rows, or all of them, were deleted before the export.

Exit code: 0 when every row and every head is as it was written, 1 when one is not; the first hundred differences are listed.`

const ACCEPT_HELP = `
For a server that seals nothing because its database does not hold the record that it remembers: GET /readyz says why. Look for the cause
first. A row of the record says who accepted it and why, and the next head is signed with it.

The key is that of an admin: COUNTERSIGN_KEY in the environment, or a file that holds it. A server on another machine needs https.

Exit code: 0 when the record is sealed again, or nothing was wrong; 1 when it is not.`

/** `countersign audit`: checks exported records, and accepts a record that differs from the remembered one. */
export const auditCommand = (environment: Environment): Command =>
  new Command('audit')
    .description('check exported records of decisions and executions')
    .addCommand(
      withServerFlag(new Command('accept'))
        .description('let a running server continue to seal a record that differs from the one it remembers')
        .requiredOption('--reason <text>', 'the reason, which is stored in the record')
        .option('--json', 'print one JSON object: {accepted, seal}')
        .addHelpText('after', ACCEPT_HELP)
        .action((flags: AcceptFlags) => accept(flags, environment)),
    )
    .addCommand(
      new Command('verify')
        .description('check a record from GET /api/audit/export?format=jsonl, without a database')
        .argument('<file>', 'the exported file')
        .option('--public-key <key...>', 'the key that must have signed it; name several when it was changed meanwhile')
        .option('--anchor <file or number:hash...>', 'heads that were kept elsewhere, which the record must hold')
        .option('--json', 'print one JSON object: {file, problem, rows, …}')
        .addHelpText('after', HELP)
        .action(verify),
    )

async function verify(file: string, { publicKey, anchor, json }: VerifyFlags): Promise<void> {
  const anchors = anchor && (await Promise.all(anchor.map(readAnchors))).flat()
  const verdict = await verifyExport(exactLinesOf(readExport(file, json)), publicKey, { anchors })
  if (verdict.problem !== undefined) process.exitCode = 1
  if (json) sayJson(jsonOf(file, verdict))
  else if (verdict.problem !== undefined) for (const line of differencesOf(file, verdict)) say(line)
  else for (const line of proofOf(verdict, publicKey !== undefined)) say(line)
}

function jsonOf(file: string, { problem, scopes, heads, time, anchored, ...verdict }: AuditVerdict): JsonOutput<'audit verify'> {
  return {
    file,
    problem: problem ?? null,
    chains: scopes,
    heads: heads ?? null,
    time: time ? { first: iso(time.first), last: iso(time.last) } : null,
    anchored: anchored ?? null,
    ...verdict,
  }
}

const iso = (ms: number): string => new Date(ms).toISOString()

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'that is a folder',
  EACCES: 'this user may not read it',
}

function whyUnreadable(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return UNREADABLE[code] ?? code
}

/** @throws Error that says in words why the file cannot be read. */
async function* readExport(file: string, json: true | undefined): AsyncGenerator<Buffer> {
  const report = openProgress({ json })
  try {
    const bytes = statSync(file).size
    let read = 0
    for await (const chunk of createReadStream(file)) {
      yield chunk
      read += chunk.length
      // A pipe has no size.
      report(() => `${bytes > 0 ? percent(read / bytes) : megabytes(read)} verified`)
    }
  } catch (cause) {
    throw new Error(`${file} cannot be read: ${whyUnreadable(cause)}`, { cause })
  }
}

/** @throws Error for a value that names no head. */
async function readAnchors(given: string): Promise<Anchor[]> {
  const [, number, hash] = /^(\d{1,15}):([A-Za-z0-9_-]{43})$/.exec(given) ?? []
  if (hash !== undefined) return [{ number: Number(number), hash }]
  if (!existsSync(given)) throw new Error(`--anchor: ${given} is neither a file nor NUMBER:HASH`)
  const heads = await anchorsIn(createReadStream(given)).catch((cause: unknown) => {
    throw new Error(`--anchor: ${given} cannot be read: ${whyUnreadable(cause)}`, { cause })
  })
  if (heads.length === 0) throw new Error(`--anchor: ${given} holds no head of a record`)
  return heads
}

async function accept({ reason, json, ...address }: AcceptFlags, environment: Environment): Promise<void> {
  const api = openApi(address, environment)
  const before = readSeal(await api.call('GET', '/api/audit/seal'))
  const print = (seal: AuditSealView, lines: readonly string[]) => {
    if (json) return void sayJson({ accepted: before.problem, seal } satisfies JsonOutput<'audit accept'>)
    for (const line of lines) say(line)
  }
  if (before.problem === null) return print(before, ['There is nothing to accept: the record is the one that this server remembers.'])
  const after = readSeal(await api.call('POST', '/api/audit/accept', { reason }))
  if (after.problem !== null) throw new Error(`it was accepted, but something else is wrong by now: ${after.problem.why}`)
  print(after, [`Accepted: ${before.problem.why}`, `The record is sealed again${after.head ? `, from head ${after.head.number} on` : ''}.`])
}

/** @throws Error for the answer of another version of the server. */
function readSeal(answer: unknown): AuditSealView {
  const seal = AuditSealView.safeParse(answer)
  if (seal.success) return seal.data
  throw new Error('the server answered in an unknown format: does it run the same version?', { cause: seal.error })
}

function differencesOf(file: string, { problems, unlisted }: AuditVerdict): string[] {
  return [...problems.map((problem) => `${file}: ${problem}`), ...(unlisted > 0 ? [`${file}: and ${unlisted} more`] : [])]
}

const NO_ANCHOR =
  'Without an anchor this does not show whether the newest rows, or all of them, were deleted before the export: keep heads elsewhere, and give them with --anchor.'

/** Tells a reader who gave no key what to compare. */
const compareOf = (keys: readonly string[]): string =>
  keys.length > 1
    ? 'Compare each with those of your server that you noted down: what another key signed is not proven'
    : 'Compare this key with the one of your server'

function proofOf({ rows, redacted, scopes, heads, time, keys, gaps, anchored }: AuditVerdict, isKeyGiven: boolean): string[] {
  if (!heads || !time) return ['The record is empty, and signed.', NO_ANCHOR, `Signed with ${keys.join(', ')}.`]
  const from = heads.first === 1 ? 'from its beginning' : `from head ${heads.first} on; what came before is not in this file`
  return [
    `${counted(rows, 'row')} of ${counted(scopes, 'chain')} are as they were written, between ${iso(time.first)} and ${iso(time.last)}.`,
    `Heads ${heads.first} to ${heads.last} follow each other: no row between them is missing, added, changed or moved ${from}.`,
    ...gaps.map(
      ({ head, found, remembered, by, reason }) =>
        `Before head ${head} the database ended with head ${found.number} although the server remembered head ${remembered.number}; ${by} accepted that: ${reason}`,
    ),
    anchored === undefined ? NO_ANCHOR : `Head ${anchored} is the one that was kept elsewhere: nothing up to it was deleted or rewritten.`,
    ...(redacted > 0 ? [`The data of ${counted(redacted, 'row')} was redacted: that they happened is proved, not what they said.`] : []),
    `Signed with ${keys.length > 1 ? `${keys.length} keys: ` : ''}${keys.join(', ')}${isKeyGiven ? '' : `. ${compareOf(keys)}`}.`,
  ]
}
