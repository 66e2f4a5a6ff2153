import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { systemClock } from '../../clock.ts'
import type { EventHub } from '../../dispatch/index.ts'
import type { SessionRow, Store } from '../../store/index.ts'
import type { HttpDeps } from '../app.ts'
import { createStreams } from '../sse.ts'
import { followTurn } from './turn.ts'

test('a turn whose session cannot be read is answered with an error: no stream stays open without an end', async () => {
  const principal = { id: 'prn_a', kind: 'person' as const, name: 'Ana', roles: [] }
  const read: Store['read'] = () => Promise.reject(new Error('the database is away'))
  const deps = {
    store: { read } as Store,
    hub: { onAccess: () => () => undefined } as unknown as EventHub,
    clock: systemClock,
    streams: createStreams(),
  }
  const app = Fastify({ forceCloseConnections: true })
  app.get('/', (request, reply) =>
    followTurn(deps as unknown as HttpDeps, Object.assign(request, { principal, standing: async () => ({ principal }) }), reply, {
      session: { id: 'ses_a' } as SessionRow,
      place: { messageId: 'msg_a', seq: 1, createdAtMs: 0, runId: undefined, isPast: false },
      caller: { principal },
      open: () => ({ take: () => undefined, isBusy: false, end: () => undefined }),
    }),
  )
  try {
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    expect((await fetch(url)).status).toBe(500)
  } finally {
    await app.close()
  }
})
