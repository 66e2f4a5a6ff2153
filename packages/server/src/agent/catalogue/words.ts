/** Said in every sentence, and so telling nothing. */
const STOP = new Set(
  'a am an and are as at be by do for from given has have how in into is it its of on or that somebody someone the their this to up want was who with you your'.split(
    ' ',
  ),
)

/** Words for the same deed: descriptions have one of them, people another. */
const SAME: readonly (readonly string[])[] = [
  ['create', 'add', 'new', 'make', 'open', 'post', 'start'],
  ['delete', 'remove', 'destroy', 'drop', 'unset'],
  ['list', 'show', 'find', 'all', 'browse', 'which'],
  ['get', 'read', 'fetch', 'show', 'view', 'look', 'see', 'detail'],
  ['update', 'edit', 'change', 'modify', 'set', 'rename'],
  ['replace', 'overwrite', 'set'],
  ['search', 'find', 'query'],
  ['close', 'update'],
  ['assign', 'assignee'],
  ['person', 'people', 'user', 'member'],
  ['repo', 'repository'],
  ['org', 'organization', 'organisation'],
  ['pull', 'pr'],
  ['my', 'me', 'i', 'authenticated'],
  ['review', 'reviewer', 'approve'],
  ['branch', 'reference'],
  ['merge', 'combine'],
  ['cancel', 'stop', 'abort'],
  ['run', 'trigger', 'dispatch', 'start', 'execute'],
  ['disable', 'off', 'deactivate'],
  ['enable', 'on', 'activate'],
  ['invite', 'invitation'],
  ['config', 'configuration', 'setting'],
  ['ci', 'workflow', 'check', 'action'],
]

const KIN = new Map<string, Set<string>>()
for (const group of SAME) {
  const stems = group.map(stem)
  for (const word of stems) KIN.set(word, new Set([...(KIN.get(word) ?? []), ...stems]))
}

/** The other words that mean the same. */
export const kinOf = (word: string): ReadonlySet<string> => KIN.get(word) ?? new Set()

/** The words of a text in their simplest form: `listIssueComments` and `Lists the comments of an issue` have the same. */
export function wordsOf(text: string): string[] {
  return text
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !STOP.has(word))
    .map(stem)
}

/** Without the endings of number and tense. Two words that it makes one wrongly are found both: that is the better mistake. */
function stem(word: string): string {
  if (word.length <= 3) return word
  const base = word
    .replace(/ies$/, 'y')
    .replace(/(ss|sh|ch|x)es$/, '$1')
    .replace(/([^s])s$/, '$1')
    .replace(/(?<=\p{L}{3})(ing|ed)$/u, '')
  return base.replace(/([^aeiouls])\1$/, '$1').replace(/(?<=\p{L}{3})e$/u, '')
}
