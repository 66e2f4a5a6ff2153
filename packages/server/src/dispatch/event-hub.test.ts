import type { NewEvent } from '@countersign/core'
import { expect, test } from 'vitest'
import type { StoredEvent } from '../store/index.ts'
import { createEventHub } from './event-hub.ts'

const storedAs = (id: number, event: NewEvent): StoredEvent => ({ id, sessionId: 'ses_1', seq: id, event })
const MOVED = storedAs(1, { type: 'action_update', data: { proposalId: 'act_1', state: 'approved', revision: 1, updatedAt: '' } })
const ENDED = storedAs(2, { type: 'error', data: { code: 'cancelled', error: 'Cancelled.', runId: 'run_1' } })

test('a listener that throws breaks no commit, and keeps no other listener from what was committed', async () => {
  const failures: unknown[] = []
  const hub = createEventHub({ log: { error: (failure: object) => failures.push(failure) } })
  const heard: string[] = []
  for (const listens of [false, true]) {
    const hear = (what: string) => () => {
      if (!listens) throw new Error(`${what} broke`)
      heard.push(what)
    }
    await hub.onSession('ses_1', hear('session'))
    await hub.onInbox(hear('inbox'))
    await hub.onAction('act_1', hear('action'))
    hub.onRunEnded('run_1', hear('run'))
    hub.onAccess('prn_1', hear('access'))
  }
  hub.publish([MOVED, ENDED])
  hub.publishAccess(new Set(['prn_1']))
  hub.publishAccess('all')
  const told = ['session', 'inbox', 'action', 'session', 'run', 'access', 'access']
  expect(heard).toEqual(told)
  expect(failures).toEqual(told.map((what) => ({ error: new Error(`${what} broke`) })))
})
