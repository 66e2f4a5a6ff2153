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

/** The lines of `after` that are not in `before`, imports aside: changed ones count as added. */
export function linesAdded(before: string, after: string): string[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  // The length of the longest common subsequence from each pair of places on.
  const common = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0))
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--) {
      const row = common[i] as number[]
      row[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  const added: string[] = []
  let [i, j] = [0, 0]
  while (j < now.length) {
    if (i < old.length && old[i] === now[j]) [i, j] = [i + 1, j + 1]
    else if (i < old.length && at(i + 1, j) >= at(i, j + 1)) i++
    else added.push(now[j++] ?? '')
  }
  return added
}

/** The lines that the gate adds to the program of a framework, which asked people in the framework's own way before. */
export function linesAddedTo(root: string, framework: string): string[] {
  const read = (when: string) => readFileSync(join(root, 'verification', 'before-after', `${framework}.${when}.ts`), 'utf8')
  return linesAdded(read('before'), read('after'))
}

export function linesAddedReference(root: string): string {
  const rows = Object.entries(LOST).map(([id, { name, lost }]) => `| ${name} | ${linesAddedTo(root, id).length} | ${lost} |`)
  return ['| Framework | Lines added besides imports | Its own approval before |', '|---|---|---|', ...rows].join('\n')
}
