import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openTestDatabase } from '../../../../../verification/testing/test-database.ts'
import { thisMachine } from '../../store/index.ts'
import { EVERYTHING, type Notice, openNotices } from './notices.ts'
import { createPeers } from './peers.ts'

const WITHIN = { interval: 10 }

test('what others hear is told once; what nobody of ours said ends no process, and everything is read again', async () => {
  await using database = await openTestDatabase()
  await using one = await openNotices(database.url, thisMachine)
  await using other = await openNotices(database.url, thisMachine)
  const heard: Notice[] = []
  let gaps = 0
  other.onNotice((notice) => heard.push(notice))
  other.onGap(() => gaps++)
  const psql = new Client({ connectionString: database.url })
  await psql.connect()
  for (const payload of ['', 'hello', '[]', '{"from":"somebody","sessions":7}'])
    await psql.query('select pg_notify($1, $2)', ['countersign', payload])
  await psql.end()
  await expect.poll(() => gaps, WITHIN).toBe(4)
  one.tell({ sessions: new Set(['ses_a']), inbox: true })
  one.tell({ sessions: new Set(['ses_b']), access: new Set(['prn_a']) })
  await expect
    .poll(() => heard, WITHIN)
    .toEqual([
      {
        from: expect.any(String),
        sessions: new Set(['ses_a', 'ses_b']),
        inbox: true,
        ended: new Set(),
        jobs: false,
        left: false,
        joined: false,
        access: new Set(['prn_a']),
      },
    ])
  // This includes what waits to be sent in one notice with others.
  one.tell({ sessions: new Set(['ses_c']) })
  expect(await one.tellOfLeaving()).toBe(true)
  await expect.poll(() => heard.slice(1), WITHIN).toMatchObject([{ sessions: new Set(['ses_c']), jobs: true, left: true }])
})

test('a process that is alone announces nothing; one that joins is heard, and told to read everything', async () => {
  await using database = await openTestDatabase()
  const peers = createPeers(thisMachine)
  await using one = await openNotices(database.url, thisMachine, peers)
  const isHeard = Promise.withResolvers<void>()
  peers.onAppear(() => void isHeard.promise.then(() => one.tell(EVERYTHING)))
  peers.look()(false)
  const psql = new Client({ connectionString: database.url })
  const sent: string[] = []
  psql.on('notification', ({ payload = '' }) => sent.push(payload))
  await psql.connect()
  await psql.query('listen countersign')
  one.tell({ sessions: new Set(['ses_a']) })
  await using other = await openNotices(database.url, thisMachine)
  const heard: Notice[] = []
  other.onNotice((notice) => heard.push(notice))
  isHeard.resolve()
  await expect.poll(() => heard, WITHIN).toMatchObject([{ ...EVERYTHING, joined: false }])
  one.tell({ sessions: new Set(['ses_b']) })
  await expect.poll(() => heard.slice(1), WITHIN).toMatchObject([{ sessions: new Set(['ses_b']) }])
  await psql.end()
  expect(sent.filter((text) => text.includes('ses_a'))).toEqual([])
  expect(sent.filter((text) => text.includes('"joined":true'))).toHaveLength(1)
})
