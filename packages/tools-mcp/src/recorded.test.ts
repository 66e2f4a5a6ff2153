import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { KNOWN_SERVERS } from './classification.ts'
import { readDefinitions } from './definitions.ts'
import { readResult } from './result.ts'

const FIXTURES = new URL('../../../../shared/fixtures/mcp/', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, FIXTURES), 'utf8')

interface Message {
  id?: number
  method?: string
  params?: { name: string }
  result?: { tools?: unknown[]; content?: unknown; isError?: boolean }
}

test.each(['everything', 'filesystem', 'memory', 'sequential-thinking'] as const)(
  'of the recorded tools of %s all can be read, and what reads is what our list says',
  (name) => {
    const { toolsList } = JSON.parse(read(`tools-list/${name}.json`))
    const listed = toolsList.tools ?? toolsList.result?.tools ?? toolsList
    const { seen, leftOut } = readDefinitions(listed)
    expect(leftOut).toEqual([])
    const tools: Readonly<Record<string, { effect?: string }>> = KNOWN_SERVERS[name].tools
    const readers = seen.map(({ definition }) => definition.name).filter((tool) => tools[tool]?.effect === 'read')
    const hinted = seen.filter(({ definition }) => definition.annotations.readOnlyHint === true).map(({ definition }) => definition.name)
    // The hint of this tool is not trusted.
    expect(readers).toEqual(hinted.filter((tool) => tool !== 'get-env'))
  },
)

test.each(['everything', 'filesystem'])('of each recorded answer of %s something is kept, and a failure stays one', (name) => {
  const lines = read(`transcripts/${name}.calls.jsonl`).trim().split('\n')
  const answered = new Map<number, Message>()
  const called: Message[] = []
  for (const { dir, msg } of lines.map((line): { dir: string; msg: Message } => JSON.parse(line))) {
    if (dir === 'c2s' && msg.method === 'tools/call') called.push(msg)
    if (dir === 's2c' && msg.result?.content !== undefined && msg.id !== undefined) answered.set(msg.id, msg)
  }
  const answers = called.flatMap(({ id }) => answered.get(id ?? -1) ?? [])
  expect(answers.length).toBeGreaterThan(5)
  for (const { result } of answers) {
    const kept = readResult(result)
    expect(kept?.isError).toBe(result?.isError ?? false)
    expect(JSON.stringify(kept?.output).length).toBeGreaterThan(2)
  }
})
