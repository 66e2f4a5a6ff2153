// Writes packages/core/src/text/confusables.ts from the Unicode Consortium's confusables.txt (UTS #39):
//   node scripts/confusables.mjs confusables.txt
// The file of each Unicode version is at https://www.unicode.org/Public/security/. Only what can stand in a name is kept: letters, digits
// and marks of other scripts that look like one ASCII letter or digit. What NFKC turns into ASCII by itself (mathematical and full-width
// letters) is left out. Its licence: packages/core/src/text/unicode-license.txt.
import { readFileSync, writeFileSync } from 'node:fs'

const ASCII = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789']
const source = process.argv[2]
if (source === undefined) throw new Error('Name the file: node scripts/confusables.mjs confusables.txt')
const lines = readFileSync(source, 'utf8').split('\n')
const version = lines.map((line) => /^# Version: (\S+)/.exec(line)?.[1]).find(Boolean)

const text = (hex) => String.fromCodePoint(...hex.split(' ').map((code) => Number.parseInt(code, 16)))
const prototypes = new Map()
for (const line of lines) {
  const [, from, to] = /^([0-9A-F]+)\s*;\s*([0-9A-F ]+?)\s*;/.exec(line) ?? []
  if (from !== undefined) prototypes.set(text(from), text(to))
}

const groups = { others: new Map(), latin: new Map() }
for (const [char, prototype] of [...prototypes].sort(([a], [b]) => a.codePointAt(0) - b.codePointAt(0))) {
  const ascii = ASCII.findLast((one) => (prototypes.get(one) ?? one) === prototype)
  const isNamed = /[\p{L}\p{N}]/u.test(char) || !/\p{Script=Common}/u.test(char)
  if (ascii === undefined || char < '\u0080' || !isNamed || char.normalize('NFKC') !== char) continue
  const group = groups[/\p{Script_Extensions=Latin}/u.test(char) ? 'latin' : 'others']
  // 1, I and l look alike, as 0 and O do: one letter stands for each.
  const key = { 1: 'l', I: 'l', 0: 'O' }[ascii] ?? ascii
  group.set(key, (group.get(key) ?? key) + char)
}

const [others, latin] = [groups.others, groups.latin].map((group) => [...group.values()].sort().join(' '))
writeFileSync(
  new URL('../packages/core/src/text/confusables.ts', import.meta.url),
  `// Made by scripts/confusables.mjs from confusables.txt of Unicode ${version} (UTS #39). © Unicode, Inc., licence: unicode-license.txt.

/** An ASCII letter or digit, and the letters of other scripts that look like it, group by group. */
export const OTHER_SCRIPTS =
  '${others}'

/** The same for letters of the Latin script. */
export const SAME_SCRIPT =
  '${latin}'
`,
)
