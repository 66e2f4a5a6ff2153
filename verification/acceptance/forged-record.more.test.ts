import type { Action, AuditSealView } from '@countersign/core'
import { expect, test } from 'vitest'
import { deleteHeadsFrom, type Forger, openForger, rewriteRow } from '../testing/forge-record.ts'
import {
  EVERYTHING,
  kindsOf,
  openPlace,
  type Place,
  propose,
  rowOf,
  untilDegraded,
  untilSealed,
  verdictOf,
} from '../testing/record-place.ts'
import { runCommandLine } from '../testing/run-command.ts'
import { BOOTSTRAP_KEY, type TestServer } from '../testing/test-server.ts'

// The attacker can write to the database, and has neither the signing key nor the file beside it. On both databases.

type Forge = (forger: Forger, actions: readonly Action[]) => Promise<unknown>

/**
 * Starts a server with three sealed actions and stops it unless the forger works beside it, runs the forger, and starts a server on the
 * result.
 */
async function forged(place: Place, forge: Forge, isLive = false): Promise<TestServer> {
  const server = await place.start()
  // The row of the policy has a head of its own, and does not share one with the first action.
  await untilSealed(server)
  const actions: Action[] = []
  for (const what of ['first', 'second', 'third']) {
    actions.push(await propose(server, what))
    await untilSealed(server)
  }
  if (!isLive) await server.stop()
  {
    await using forger = await openForger(server.database)
    await forge(forger, actions)
  }
  const again = isLive ? server : await place.start()
  await propose(again, 'later')
  return again
}

/** Checks what comes with every refusal to seal, and that an accepted record is sealed again. */
async function isRefusedAndAccepted(
  server: TestServer,
  why: RegExp,
  accept: (server: TestServer) => Promise<void> = async ({ admin }) => {
    expect(await admin.post('/api/audit/accept', { reason: 'Ana looked into it' })).toMatchObject({ problem: null })
  },
): Promise<void> {
  const { admin } = server
  expect((await untilDegraded(server)).why).toMatch(why)
  const { publicKey } = await admin.get('/api/audit/key')
  const seal: AuditSealView = await admin.get('/api/audit/seal')
  expect(seal.problem).toMatchObject({ why: expect.stringMatching(why) })
  expect((await admin.send('GET', '/metrics')).text).toContain('countersign_record_problem 1\n')
  await expect.poll(() => server.errors.join('')).toMatch(/record\.problem/)
  // Decisions still count and are recorded, but no head covers their rows.
  const action = await propose(server, 'while it is not sealed')
  expect(await admin.post(`/api/actions/${action.id}/decision`, { verdict: 'decline' })).toMatchObject({ state: 'declined' })
  // It is told first, and then recorded.
  await expect
    .poll(() => kindsOf(server, 'record_problem'))
    .toMatchObject([{ actor: { kind: 'system' }, sealed: false, data: { why: expect.stringMatching(why) } }])
  expect((await verdictOf(server, publicKey)).problem).toBeDefined()

  const appa = await server.as({ name: 'Appa', kind: 'person', roles: ['approver'] })
  expect((await appa.send('POST', '/api/audit/accept', { body: { reason: 'mine' } })).status).toBe(403)
  expect((await admin.send('POST', '/api/audit/accept', { body: {} })).status).toBe(400)
  await accept(server)
  await expect.poll(() => admin.get('/readyz')).toEqual({ status: 'ok' })
  expect((await admin.send('GET', '/metrics')).text).toContain('countersign_record_problem 0\n')
  // The head that states it covers its row too, unless another transaction was open on Postgres: then the next one does.
  await expect
    .poll(() => kindsOf(server, 'record_accepted'))
    .toMatchObject([{ actor: { kind: 'person' }, sealed: true, data: { reason: 'Ana looked into it', why: expect.stringMatching(why) } }])
  await propose(server, 'afterwards')
  await untilSealed(server)
  const after: AuditSealView = await admin.get('/api/audit/seal')
  expect(after.problem).toBe(null)
  expect(after.head?.number).toBeGreaterThan(Number(seal.head?.number))
}

test('a sealed row that was rewritten, with all hashes recomputed and its heads deleted, is not signed again', async () => {
  await using place = await openPlace()
  const server = await forged(place, async (forger, [, second]) => {
    const row = await rowOf(forger, second)
    await rewriteRow(forger, row, (data) => ({ ...data, arguments: { what: 'forged' } }))
    await deleteHeadsFrom(forger, row)
  })
  await isRefusedAndAccepted(server, /signed head \d+ of the record.*database ends with head \d+/, async ({ url }) => {
    const command = (key: string) =>
      runCommandLine(['audit', 'accept', '--reason', 'Ana looked into it', '--server', url], { COUNTERSIGN_KEY: key })
    expect(await command('nobody')).toMatchObject({ code: 1, stderr: expect.stringContaining('this key is not known here') })
    const stdout = expect.stringMatching(/^Accepted: .*\nThe record is sealed again, from head \d+ on/)
    expect(await command(BOOTSTRAP_KEY)).toMatchObject({ code: 0, stdout })
    expect(await command(BOOTSTRAP_KEY)).toMatchObject({ code: 0, stdout: expect.stringContaining('There is nothing to accept') })
  })
  // The next head keeps the acceptance in the record.
  const { publicKey } = await server.admin.get('/api/audit/key')
  expect(await verdictOf(server, publicKey)).toMatchObject({
    problem: undefined,
    gaps: [{ reason: 'Ana looked into it', found: { number: 2 }, remembered: { number: 4 }, head: 5 }],
  })
  await server.restart()
  await expect.poll(() => server.admin.get('/readyz')).toEqual({ status: 'ok' })
})

const ATTACKS: Record<string, { forge: Forge; why: RegExp; isLive?: boolean }> = {
  'the whole record is deleted': {
    async forge(forger) {
      for (const text of EVERYTHING) await forger.run(text)
    },
    why: /the database holds no head at all/,
    // At a start the server would hold an older database as a copy first; see kept-heads.more.test.ts.
    isLive: true,
  },
  'the newest rows and heads are deleted': {
    async forge(forger, [, , third]) {
      const row = await rowOf(forger, third)
      await deleteHeadsFrom(forger, row)
      await forger.run('delete from audit where id >= ?', row)
    },
    why: /newer heads were deleted/,
    isLive: true,
  },
  'a row in the middle is deleted': {
    forge: async (forger, [first]) => forger.run('delete from audit where id = ?', await rowOf(forger, first)),
    why: /was signed over other rows/,
  },
  'a row in the middle is rewritten under its head': {
    forge: async (forger, [first]) =>
      rewriteRow(forger, await rowOf(forger, first), (data) => ({ ...data, arguments: { what: 'forged' } })),
    why: /was signed over other rows/,
  },
  'the data of a row is changed, and nothing else': {
    forge: async (forger, [first]) => forger.run("update audit set data = '{}' where id = ?", await rowOf(forger, first)),
    why: /Row 1 of act_\w+, which head \d+ covers, is not what was sealed/,
  },
  'who did it is changed': {
    forge: async (forger, [first]) => forger.run("update audit set actor = 'system' where id = ?", await rowOf(forger, first)),
    why: /is not what was sealed/,
  },
  'two rows change places': {
    async forge(forger, [first, second]) {
      const [a, b] = [await rowOf(forger, first), await rowOf(forger, second)]
      for (const [from, to] of [
        [a, -1],
        [b, a],
        [-1, b],
      ] as const)
        await forger.run('update audit set id = ? where id = ?', to, from)
    },
    why: /was signed over other rows/,
  },
  'a row is said to follow another one': {
    async forge(forger, [first, second]) {
      await forger.run('update audit set follows = ? where id = ?', await rowOf(forger, first), await rowOf(forger, second))
    },
    why: /is not what was sealed/,
  },
  'a row is put between those of two heads': {
    async forge(forger, [first, second]) {
      const [a, b] = [await rowOf(forger, first), await rowOf(forger, second)]
      expect(b).toBeGreaterThan(a + 1)
      const columns = 'seq, prev, follows, at, kind, actor, action_id, data, salt, data_hash, hash'
      await forger.run(`insert into audit (id, scope, ${columns}) select ${a + 1}, 'act_never', ${columns} from audit where id = ?`, a)
    },
    why: /is not what was sealed|was signed over other rows/,
  },
  'a head in the middle is deleted': {
    forge: (forger) => forger.run('delete from audit_head where number = 2'),
    why: /a head before it is missing/,
  },
  'the newest head is made to end earlier': {
    async forge(forger, [first]) {
      const text = 'update audit_head set last_id = ? where number = (select max(number) from audit_head)'
      await forger.run(text, await rowOf(forger, first))
    },
    why: /do not go on from it/,
  },
  'a head of nobody is put behind the newest': {
    async forge(forger) {
      const columns = 'prev, at, first_id, last_id, row_count, first_at, last_at, rows_hash, key, hash, signature, format, gap'
      await forger.run(
        `insert into audit_head (number, ${columns}) select 9007199254740991, ${columns} from audit_head where number = ?`,
        1,
      )
    },
    why: /do not go on from it/,
  },
}

test.each(Object.entries(ATTACKS))('when %s, nothing is sealed until an admin accepts it', async (_name, { forge, why, isLive }) => {
  await using place = await openPlace()
  await isRefusedAndAccepted(await forged(place, forge, isLive), why)
})

test('what is changed while the server runs is noticed with the next row', async () => {
  await using place = await openPlace()
  const server = await place.start()
  const action = await propose(server, 'first')
  await untilSealed(server)
  await using forger = await openForger(server.database)
  const row = await rowOf(forger, action)
  await rewriteRow(forger, row, (data) => ({ ...data, arguments: { what: 'forged' } }))
  await deleteHeadsFrom(forger, row)
  await propose(server, 'later')
  await isRefusedAndAccepted(server, /newer heads were deleted|holds no head at all/)
})
