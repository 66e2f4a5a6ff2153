import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The failures of each framework's own approval, which `before-after.more.test.ts` and `before-after-route.more.test.ts` show. */
export const LOST = {
  'ai-sdk': {
    name: 'AI SDK, documented agent',
    lost: 'a history that nobody approved ran the tool, each time that it was sent; with the experimental signature, an approval that came twice still ran it twice',
  },
  'ai-sdk-route': {
    name: 'AI SDK, documented route',
    lost: 'an approval that came twice, or was never asked for, ran the tool each time',
  },
  'openai-agents': { name: 'OpenAI Agents SDK', lost: 'a saved state that was resumed twice ran the tool twice' },
  langgraph: {
    name: 'LangGraph',
    lost: 'two approvals at once ran the tool twice; with `MemorySaver` an approval was lost when the program started again',
  },
  langchain: {
    name: 'LangChain, documented `humanInTheLoopMiddleware`',
    lost: 'two approvals at once ran the tool twice; with `MemorySaver` an approval was lost when the program started again; the program could approve its own call, with other arguments',
  },
  mastra: { name: 'Mastra, documented quickstart', lost: 'without storage an approval was lost while the program still ran' },
} as const

const linesOf = (program: string): string[] =>
  program
    .replaceAll(/^import [^'"]+['"][^'"]+['"];?\n/gm, '')
    .split('\n')
    .filter((line) => line.trim() !== '')

interface Line {
  mark: ' ' | '-' | '+'
  text: string
}

/** Both programs as one list: the lines that stayed, that went, and that came. */
function diffOf(old: readonly string[], now: readonly string[]): Line[] {
  // The length of the longest common subsequence from each pair of places on.
  const common = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0))
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--) {
      const row = common[i] as number[]
      row[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ mark: ' ', text: old[i++] ?? '' })
      j++
    } else if (j === now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) lines.push({ mark: '-', text: old[i++] ?? '' })
    else lines.push({ mark: '+', text: now[j++] ?? '' })
  }
  return lines
}

/** The lines of `after` that are not in `before`, imports aside: changed ones count as added. */
export const linesAdded = (before: string, after: string): string[] =>
  diffOf(linesOf(before), linesOf(after)).flatMap(({ mark, text }) => (mark === '+' ? [text] : []))

const program = (root: string, framework: string, when: 'before' | 'after'): string =>
  readFileSync(join(root, 'verification', 'before-after', `${framework}.${when}.ts`), 'utf8')

/** The lines that the gate adds to the program of a framework, which asked people in the framework's own way before. */
export const linesAddedTo = (root: string, framework: string): string[] =>
  linesAdded(program(root, framework, 'before'), program(root, framework, 'after'))

export function linesAddedReference(root: string): string {
  const rows = Object.entries(LOST).map(([id, { name, lost }]) => `| ${name} | ${linesAddedTo(root, id).length} | ${lost} |`)
  const diffs = Object.entries(LOST).map(
    ([id, { name }]) => `::: details ${name}: before and after\n\`\`\`diff\n${diffText(root, id)}\n\`\`\`\n:::`,
  )
  return [...['| Framework | Lines added besides imports | Its own approval before |', '|---|---|---|', ...rows], '', ...diffs].join('\n')
}

/** The changes in a program, with the line before and after each change; packages under the names that they are published with. */
function diffText(root: string, framework: string): string {
  const [before = [], after = []] = (['before', 'after'] as const).map((when) =>
    program(root, framework, when)
      .replaceAll(/^\/\/ .*\n/gm, '')
      .replaceAll('../../packages/client/src/index.ts', '@countersign/client')
      .replaceAll(/\.\.\/\.\.\/packages\/client\/src\/gate\/([\w-]+)\.ts/g, '@countersign/client/$1')
      .trimEnd()
      .split('\n'),
  )
  const lines = diffOf(before, after)
  const isShown = (at: number) => [at - 1, at, at + 1].some((near) => lines[near] !== undefined && lines[near].mark !== ' ')
  const shown = lines.map(({ mark, text }, at) => (isShown(at) ? `${mark}${text}`.trimEnd() : '…'))
  return shown.filter((line, at) => line !== '…' || (at > 0 && shown[at - 1] !== '…')).join('\n')
}
