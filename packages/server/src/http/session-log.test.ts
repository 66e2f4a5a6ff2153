import { expect, test } from 'vitest'
import type { EventHub } from '../dispatch/index.ts'
import type { LogReader } from './log-reader.ts'
import { sessionLog } from './session-log.ts'

/** The names of the reads that somebody's stream makes: reads of the same name are merged into one. */
async function readsOf(roles: string[]): Promise<string[]> {
  const names: string[] = []
  const store: LogReader = {
    async read<T>(_: unknown, what: string): Promise<T> {
      names.push(what)
      return undefined as T
    },
  }
  const principal = { id: 'prn_x', kind: 'person' as const, name: 'X', roles }
  await sessionLog({ store, clock: { nowMs: () => 0 }, hub: {} as EventHub, sessionId: 'ses_1', principal }).read(0, 10, true)
  return names
}

test('two groups never get the answer that is about one group with a comma in its name', async () => {
  const [one, two] = [await readsOf(['ops,finance']), await readsOf(['ops', 'finance'])]
  expect(one).toHaveLength(2)
  expect(one[0]).toBe(two[0])
  expect(one[1]).not.toBe(two[1])
})
