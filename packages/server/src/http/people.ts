import { ChangePersonBody, CountersignError, PersonDetails, type Principal } from '@countersign/core'
import { z } from 'zod'
import { type Caller, requireAdmin } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { changeRoles, disablePerson, enablePerson, viewPerson } from '../identity/people.ts'
import { idempotently, type Outbox, type Tx } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'

const Params = z.object({ id: z.string().max(100) })

/** How many console sessions are shown per person. */
const MOST_SHOWN = 200

/** Registers the routes with which admins read people, change their roles and disable them. */
export function peopleRoutes(app: App, { store, gate, agentLoop, clock, consoleSessions }: HttpDeps): void {
  const tags = ['identity']
  const schema = { tags, params: Params, response: { 200: PersonDetails } }

  async function read(id: string): Promise<PersonDetails> {
    const person = await store.read(() => viewPerson(id, clock.nowMs()))
    const listed = await consoleSessions.list(id, { before: undefined, limit: MOST_SHOWN })
    return { ...person, consoleSessions: listed.flatMap(({ isGood, ...session }) => (isGood ? [session] : [])) }
  }

  const change = (caller: Caller, work: (outbox: Outbox, by: Principal, now: number) => Tx<unknown>): Promise<unknown> => {
    const { principal, once } = caller
    const now = clock.nowMs()
    return store.transact((outbox) =>
      idempotently(once, now, function* () {
        yield* work(outbox, principal, now)
        return null
      }),
    )
  }

  app.get(
    '/api/people/:id',
    { schema: { ...schema, operationId: 'getPerson', summary: 'Read a person and what they can act with', errors: ['forbidden'] } },
    async (request) => {
      requireAdmin(callerOf(request).principal, 'sees what people can act with')
      return read(request.params.id)
    },
  )

  app.patch(
    '/api/people/:id',
    {
      schema: {
        operationId: 'changeRoles',
        summary: 'Change the roles of a person',
        errors: ['invalid_arguments'],
        ...schema,
        body: ChangePersonBody,
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { id } = request.params
      requireAdmin(caller.principal, 'changes roles')
      await change(caller, (outbox, by, now) => changeRoles({ outbox, by, nowMs: now }, id, request.body.roles))
      return read(id)
    },
  )

  app.post(
    '/api/people/:id/disable',
    { schema: { ...schema, operationId: 'disablePerson', summary: 'Shut a person out' } },
    async (request) => {
      const caller = callerOf(request)
      const { id } = request.params
      requireAdmin(caller.principal, 'disables people')
      await change(caller, (outbox, by, now) => disablePerson(outbox, id, by, now))
      // Their votes no longer count already. A repeat after a crash finds what is left.
      await gate.voidVotesOf(id, caller)
      await agentLoop.endRunsOf(id)
      return read(id)
    },
  )

  app.post(
    '/api/people/:id/enable',
    { schema: { ...schema, operationId: 'enablePerson', summary: 'Let a disabled person back in' } },
    async (request) => {
      const caller = callerOf(request)
      const { id } = request.params
      requireAdmin(caller.principal, 'enables people')
      if (id === caller.principal.id) throw new CountersignError('bad_request', 'you are not disabled')
      // A vote or a run from before, left by a process that crashed while it disabled them, must not continue.
      if ((await read(id)).disabledAt !== null) {
        await gate.voidVotesOf(id, caller)
        await agentLoop.endRunsOf(id)
      }
      await change(caller, (outbox, by, now) => enablePerson(outbox, id, by, now))
      return read(id)
    },
  )
}
