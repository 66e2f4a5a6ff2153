import { expect, test } from 'vitest'
import type { Clock } from '../clock.ts'
import { type InstanceRow, instance, LONGEST_ATTEMPT_MS, type Mark, type Store } from '../store/index.ts'
import { VOUCH_AFTER_MS, watchPromotion } from './promotion.ts'

const MARK: Mark = { place: 7, hash: 'seven' }

/** A database on timeline 1, and processes that watch it on a clock that the test moves by seconds. */
function openDatabase() {
  const row = { id: 'one', timeline: '1', held_at: null, current_timeline: '1' } as InstanceRow & { current_timeline: string }
  const said: string[] = []
  const timers = new Set<{ atMs: number; run(): void }>()
  let nowMs = 0
  const clock: Pick<Clock, 'nowMs' | 'after'> = {
    nowMs: () => nowMs,
    after(ms, run) {
      const timer = { atMs: nowMs + ms, run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
  }
  return {
    row,
    said,
    /** @param has Whether the promoted database has what this process knows. */
    watch(name: string, { has = true, answers = Promise.resolve() }: { has?: boolean; answers?: Promise<void> } = {}) {
      const store = {
        async read(work: unknown) {
          if (row.current_timeline !== '1') await answers
          return work === instance.readNow ? { ...row } : has ? MARK : undefined
        },
        async transact() {
          said.push(`${name} vouches`)
          row.timeline = row.current_timeline
        },
      }
      watchPromotion({
        store: store as unknown as Store,
        clock: clock as Clock,
        opened: { ...row },
        marks: [MARK],
        seen: async () => {},
        async hold() {
          said.push(`${name} holds`)
          row.held_at = nowMs
        },
        vouched: () => said.push(`${name} goes on`),
        failed: (error) => said.push(String(error)),
      })
    },
    async pass(seconds: number) {
      for (let i = 0; i < seconds; i++) {
        nowMs += 1_000
        for (const timer of [...timers]) {
          if (timer.atMs > nowMs) continue
          timers.delete(timer)
          timer.run()
        }
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

test('nobody vouches for a promoted database while another process may still wait for the old address', async () => {
  const it = openDatabase()
  const isBack = Promise.withResolvers<void>()
  it.watch('first')
  it.watch('late', { has: false, answers: isBack.promise })
  it.row.current_timeline = '2'
  await it.pass(Math.ceil(LONGEST_ATTEMPT_MS / 1_000))
  expect(it.said).toEqual([])
  isBack.resolve()
  await it.pass(2)
  expect(it.said).toEqual(['late holds'])
  expect(VOUCH_AFTER_MS).toBe(7_000)
})

test('a process that began to watch just before a promotion compares, too, when another has vouched', async () => {
  const it = openDatabase()
  it.watch('late', { has: false })
  it.row.timeline = it.row.current_timeline = '2'
  await it.pass(1)
  expect(it.said).toEqual(['late holds'])
})

test('once a person has accepted the database, nobody holds it for what it lacks; it is compared at the next promotion', async () => {
  const it = openDatabase()
  it.watch('one', { has: false })
  it.row.current_timeline = '2'
  await it.pass(1)
  expect(it.said).toEqual(['one holds'])
  Object.assign(it.row, { id: 'two', timeline: '2', held_at: null })
  await it.pass(5)
  expect(it.said).toEqual(['one holds'])
  it.row.current_timeline = '3'
  await it.pass(9)
  expect(it.said).toEqual(['one holds', 'one vouches', 'one goes on'])
})
