import { ChangePersonBody, CountersignError, PersonDetails, type Principal } from '@countersign/core'
import { type Caller, requireStanding, transactOnce } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { changeRoles, disablePerson, enablePerson, viewPerson } from '../identity/people.ts'
import { changeRights, type Outbox, type Tx } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { IdParams, taggedRoute } from './route.ts'

/** How many console sessions are shown per person. */
const MOST_SHOWN = 200

const route = taggedRoute('identity')
const SCHEMA = { params: IdParams, response: { 200: PersonDetails } }

const changePerson = (
  deps: HttpDeps,
  caller: Caller,
  work: (outbox: Outbox, by: Principal, now: number) => Tx<unknown>,
): Promise<unknown> =>
  transactOnce(deps, caller, function* ({ outbox, nowMs }) {
    yield* changeRights()
    yield* requireStanding(caller, nowMs)
    yield* work(outbox, caller.principal, nowMs)
    return null
  })

async function readPerson({ store, clock, consoleSessions }: HttpDeps, id: string): Promise<PersonDetails> {
  const person = await store.read(() => viewPerson(id, clock.nowMs()))
  const listed = await consoleSessions.list(id, { before: undefined, limit: MOST_SHOWN })
  return { ...person, consoleSessions: listed.flatMap(({ isGood, ...session }) => (isGood ? [session] : [])) }
}

/** Registers the routes with which admins read people, change their roles and disable them. */
export function peopleRoutes(app: App, deps: HttpDeps): void {
  const { gate, agentLoop } = deps
  app.get(
    '/api/people/:id',
    route('admin', { ...SCHEMA, operationId: 'getPerson', summary: 'Read a person and what they can act with', errors: ['forbidden'] }),
    async (request) => readPerson(deps, request.params.id),
  )
  app.patch(
    '/api/people/:id',
    route('admin', {
      operationId: 'changeRoles',
      summary: 'Change the roles of a person',
      errors: ['invalid_arguments', 'revision_mismatch'],
      ...SCHEMA,
      body: ChangePersonBody,
    }),
    async (request) => {
      const caller = callerOf(request)
      const { id } = request.params
      await changePerson(deps, caller, (outbox, by, now) =>
        changeRoles({ outbox, by, nowMs: now, whyHeld: deps.hold.why }, id, request.body),
      )
      return readPerson(deps, id)
    },
  )
  app.post(
    '/api/people/:id/disable',
    route('admin', { ...SCHEMA, operationId: 'disablePerson', summary: 'Shut a person out' }),
    async (request) => {
      const caller = callerOf(request)
      const { id } = request.params
      await changePerson(deps, caller, function* (outbox, by, nowMs) {
        const signedIn = yield* deps.consoleSessions.countIn(id, nowMs)
        yield* disablePerson({ outbox, by, nowMs, signedIn }, id)
      })
      // Their votes no longer count already. A repeat after a crash finds what is left.
      await gate.voidVotesOf(id, caller)
      await agentLoop.endRunsOf(id)
      return readPerson(deps, id)
    },
  )
  app.post(
    '/api/people/:id/enable',
    route('admin', { ...SCHEMA, operationId: 'enablePerson', summary: 'Let a disabled person back in' }),
    async (request) => {
      const caller = callerOf(request)
      const { id } = request.params
      if (id === caller.principal.id) throw new CountersignError('bad_request', 'you are not disabled')
      // A vote or a run from before, left by a process that crashed while it disabled them, must not continue.
      if ((await readPerson(deps, id)).disabledAt !== null) {
        await gate.voidVotesOf(id, caller)
        await agentLoop.endRunsOf(id)
      }
      await changePerson(deps, caller, (outbox, by, now) => enablePerson(outbox, id, by, now))
      return readPerson(deps, id)
    },
  )
}
