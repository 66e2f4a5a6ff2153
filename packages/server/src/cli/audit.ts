import { createReadStream } from 'node:fs'
import { Command } from 'commander'
import { type AuditVerdict, verifyExport } from '../audit/index.ts'
import { linesOf } from '../lines.ts'

interface VerifyFlags {
  publicKey?: string[]
}

const say = (line: string) => process.stdout.write(`${line}\n`)

const HELP = `
It needs the file and nothing else. Without --public-key it proves that the file is of one piece and says whose key signed it: compare
that with GET /api/audit/key of your server, or better with a copy that you noted down before.

Exit code: 0 when every row and every head is as it was written, 1 when one is not; the first one that is not is named.`

/** `countersign audit`: checks exported records. */
export const auditCommand = (): Command =>
  new Command('audit')
    .description('check exported records of what was decided and done')
    .addCommand(
      new Command('verify')
        .description('check a record that GET /api/audit/export?format=jsonl gave, without a database')
        .argument('<file>', 'the exported file')
        .option('--public-key <key...>', 'the key that must have signed it; name several when it was changed meanwhile')
        .addHelpText('after', HELP)
        .action(verify),
    )

async function verify(file: string, { publicKey }: VerifyFlags): Promise<void> {
  const verdict = await verifyExport(linesOf(createReadStream(file)), publicKey)
  if (verdict.problem !== undefined) {
    say(`${file}: ${verdict.problem}`)
    process.exitCode = 1
    return
  }
  for (const line of proofOf(verdict, publicKey !== undefined)) say(line)
}

function proofOf({ rows, redacted, scopes, heads, time, keys }: AuditVerdict, isKeyGiven: boolean): string[] {
  const counted = (count: number, what: string) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`
  const iso = (ms: number) => new Date(ms).toISOString()
  if (!heads || !time) return ['The record is empty, and signed.', `Signed with ${keys.join(', ')}.`]
  const from = heads.first === 1 ? 'from its beginning' : `from head ${heads.first} on; what came before is not in this file`
  return [
    `${counted(rows, 'row')} of ${counted(scopes, 'chain')} are as they were written, between ${iso(time.first)} and ${iso(time.last)}.`,
    `Heads ${heads.first} to ${heads.last} follow each other: no row is missing, added, changed or moved ${from}.`,
    ...(redacted > 0 ? [`The data of ${counted(redacted, 'row')} was redacted: that they happened is proved, not what they said.`] : []),
    `Signed with ${keys.join(', ')}${isKeyGiven ? '' : ': compare this key with the one of your server'}.`,
  ]
}
