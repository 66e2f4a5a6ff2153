import { Action, CountersignError, HoldView, type Principal, VoidBody } from '@countersign/core'
import { accepterOf, isoTime, seesAll } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { countOpenActions } from '../instance/index.ts'
import { instance, type Tx } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { IdParams, taggedRoute } from './route.ts'

const route = taggedRoute('hold')

/** Changes that a held server still accepts. Every other change is answered with 503, because it could duplicate what the original does. */
const TAKEN_WHILE_HELD = new Set([
  '/api/sign-in',
  '/api/sign-in/oidc',
  '/api/sign-in/oidc/finish',
  '/api/sign-out',
  '/api/console-sessions',
  '/api/console-sessions/:id',
  '/api/hold/accept',
  '/api/actions/:id/release',
  '/api/actions/:id/void',
  '/api/actions/:id/resolve',
  '/api/actions/:id/result',
  '/api/sessions/:id/cancel',
  // A restored database gives back rights that were taken away since the backup: they end again before anything starts by them.
  '/api/keys/:id',
  '/api/people/:id/disable',
  // Roles that only become fewer: `changeRoles` refuses others.
  '/api/people/:id',
  '/api/sessions/:id/participants/:person',
  '/api/grants/:id',
  '/api/delegations/:id',
  // Nothing is sent before the copy is accepted: until then its admin can remove webhooks that should receive nothing afterwards.
  '/api/webhooks/:id',
  // The policy of a backup may allow what a later one asked about. What was approved is judged by the one in force when it starts.
  '/api/policy',
  // These two only read, by POST. The editor of the policy asks for a check while somebody writes.
  '/api/policy/check',
  '/api/policy/test',
])

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Lets through the changes that a held server still accepts.
 * @param why The reason of the hold; undefined while nothing is held.
 * @param route With its parameters named, such as `/api/actions/:id/void`.
 * @throws CountersignError `not_ready` for every other change.
 */
export function requireTakenWhileHeld(why: string | undefined, method: string, route: string): void {
  if (why === undefined || READS.has(method) || TAKEN_WHILE_HELD.has(route)) return
  throw new CountersignError('not_ready', `this server is held and starts nothing, because its database looks like a copy: ${why}`)
}

/** Registers the routes that show the hold on a database that looks like a copy, and that end it. */
export function holdRoutes(app: App, { store, gate, hold }: Pick<HttpDeps, 'store' | 'gate' | 'hold'>): void {
  app.get(
    '/api/hold',
    route('anyone', { operationId: 'getHold', summary: 'Say whether the server is held as a copy', response: { 200: HoldView } }),
    async (request) => {
      const { principal } = callerOf(request)
      return store.read(() => viewHold(principal))
    },
  )

  app.post(
    '/api/hold/accept',
    route('admin', {
      operationId: 'acceptHold',
      summary: 'Accept the copy, so that it executes actions again',
      response: { 200: HoldView },
    }),
    async (request) => {
      const caller = callerOf(request)
      await hold.accept(accepterOf(caller))
      return store.read(() => viewHold(caller.principal))
    },
  )

  app.post(
    '/api/actions/:id/release',
    route('by-object', {
      operationId: 'releaseAction',
      summary: 'Let a held action start after all',
      errors: ['gone', 'illegal_transition', 'busy'],
      params: IdParams,
      response: { 200: Action },
    }),
    (request) => gate.release(request.params.id, callerOf(request)),
  )

  app.post(
    '/api/actions/:id/void',
    route('by-object', {
      operationId: 'voidAction',
      summary: 'Cancel a held action',
      errors: ['gone', 'illegal_transition', 'busy'],
      params: IdParams,
      body: VoidBody,
      response: { 200: Action },
    }),
    (request) => gate.void(request.params.id, request.body, callerOf(request)),
  )
}

function* viewHold(principal: Principal): Tx<HoldView> {
  const { held_at, held_why, epoch } = yield* instance.readInstance()
  const status = { held: held_at !== null, why: held_why, since: held_at === null ? null : isoTime(held_at), epoch }
  if (!seesAll(principal)) return { ...status, open: null }
  return { ...status, open: yield* countOpenActions() }
}
