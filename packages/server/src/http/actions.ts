import {
  Action,
  ActionList,
  ActionListQuery,
  ActionRevisionList,
  ActionStory,
  CountersignError,
  FullWaitingList,
  isSettled,
  ProposeBody,
  ProposedAction,
  type SettledOrder,
} from '@countersign/core'
import { z } from 'zod'
import {
  type Caller,
  findFullWaiting,
  findVisibleAction,
  listWaitingFor,
  requireFittingArguments,
  searchActions,
  viewAction,
  viewActions,
  viewRevisions,
  viewSeenBy,
  viewStory,
} from '../gate/index.ts'
import { readUntil, whenHungUp } from '../gateway/read-until.ts'
import { callerOf } from '../identity/authenticate.ts'
import { watchStanding } from '../identity/standing.ts'
import { type ActionRow, actions } from '../store/index.ts'
import { readFilter } from './action-filter.ts'
import type { App, HttpDeps } from './app.ts'
import { decodeCursor, pageOf } from './page.ts'
import { IdParams, taggedRoute } from './route.ts'

const WaitQuery = z.object({
  wait: z.coerce.number().min(0).max(60).optional().describe('How many seconds to wait at most.'),
  until: z.enum(['decided', 'settled']).default('decided').describe('What to wait for.'),
})

const route = taggedRoute('actions')

/** Registers the routes that propose and read actions. */
export function actionRoutes(app: App, deps: HttpDeps): void {
  listRoutes(app, deps)
  oneActionRoutes(app, deps)
  historyRoutes(app, deps)
}

function listRoutes(app: App, { store, clock, policies }: HttpDeps): void {
  app.get(
    '/api/actions',
    route('anyone', {
      operationId: 'listActions',
      summary: 'List the actions you may see',
      querystring: ActionListQuery,
      response: { 200: ActionList },
    }),
    async (request) => {
      const { principal } = callerOf(request)
      const { limit, cursor, mine, delegated, snoozed = mine === 'true' ? 'false' : undefined, ...query } = request.query
      const { ordered, ...narrow } = readFilter(query, principal)
      const isForVote = mine === 'true' || delegated === 'true'
      if (ordered && isForVote) throw new CountersignError('bad_request', 'order: what waits for you is not settled')
      const filter = {
        ...narrow,
        ...(ordered && { ordered: { ...ordered, after: readPlace(ordered.order, cursor) } }),
        snoozed: snoozed && { by: principal.id, now: clock.nowMs(), not: snoozed === 'false' },
        before: ordered ? undefined : decodeCursor('actions', cursor, ['string'])?.map(String)[0],
        limit: limit + 1,
      }
      const found = isForVote
        ? await store.read(() => listWaitingFor(principal, { ...filter, isDelegated: delegated === 'true' }, clock.nowMs()))
        : await searchActions(store, filter)
      const { items, nextCursor } = ordered
        ? pageOf(orderedList(ordered.order), found, limit, (row) => placeOf(ordered.order, row))
        : pageOf('actions', found, limit, (row) => [row.id])
      return { items: await store.read(() => viewActions(items, clock.nowMs())), nextCursor }
    },
  )
  app.get(
    '/api/waiting/full',
    route('see-all', {
      operationId: 'listFullWaiting',
      summary: 'List agents and sessions with as much waiting as the policy allows',
      errors: ['forbidden'],
      response: { 200: FullWaitingList },
    }),
    (_request) => {
      return store.read(function* () {
        return { items: yield* findFullWaiting(yield* policies.inForce()) }
      })
    },
  )
}

function oneActionRoutes(app: App, deps: HttpDeps): void {
  const { gate, hub, clock, stopping } = deps
  app.post(
    '/api/actions',
    route('propose', {
      operationId: 'proposeAction',
      summary: 'Propose an action',
      errors: ['not_found', 'invalid_arguments', 'impossible', 'too_many_waiting'],
      body: ProposeBody,
      response: { 200: ProposedAction, 201: ProposedAction },
    }),
    async (request, reply) => {
      requireFittingArguments(request.body.arguments)
      const { once, ...caller } = callerOf(request)
      // Kept for as long as the action is open: who proposes it again after a week of waiting means the same call.
      const action = await gate.propose(request.body, { ...caller, ...(once && { once: { ...once, keptFor: 'action' } }) })
      // A repeat of a call that waits creates nothing new.
      reply.code(action.folded ? 200 : 201)
      return action
    },
  )
  app.get(
    '/api/actions/:id',
    route('by-object', {
      operationId: 'getAction',
      summary: 'Read an action, or wait until it is decided or settled',
      params: IdParams,
      querystring: WaitQuery,
      response: { 200: Action },
    }),
    async (request, reply) => {
      const caller = callerOf(request)
      const { id } = request.params
      const { wait = 0, until } = request.query
      const isThere = ({ state }: Action) => (until === 'settled' ? isSettled(state) : state !== 'proposed')
      if (wait === 0) return readAction(deps, id, caller)
      using standing = await watchStanding({ hub, clock }, request)
      return await readUntil({
        listen(changed) {
          standing.onJudged(changed)
          return hub.onAction(id, changed)
        },
        read: () => readAction(deps, id, { ...caller, principal: standing.principal }),
        isEnough: isThere,
        // 1.001 × 1000 is no whole number, and a timeout has to be one.
        giveUp: AbortSignal.any([AbortSignal.timeout(Math.round(wait * 1_000)), whenHungUp(reply), stopping]),
      })
    },
  )
}

function historyRoutes(app: App, { store, clock }: HttpDeps): void {
  app.get(
    '/api/actions/:id/revisions',
    route('by-object', {
      operationId: 'listRevisions',
      summary: 'List the revisions of an action',
      params: IdParams,
      response: { 200: ActionRevisionList },
    }),
    (request) => {
      const { principal } = callerOf(request)
      const { id } = request.params
      return store.read(function* () {
        yield* findVisibleAction(principal, id, clock.nowMs())
        return { items: yield* viewRevisions(id) }
      })
    },
  )
  app.get(
    '/api/actions/:id/story',
    route('by-object', {
      operationId: 'getStory',
      summary: 'Read what happened to an action, step by step',
      params: IdParams,
      response: { 200: ActionStory },
    }),
    (request) => {
      const { principal } = callerOf(request)
      const { id } = request.params
      return store.read(function* () {
        return yield* viewStory(yield* findVisibleAction(principal, id, clock.nowMs()), principal)
      })
    },
  )
}

/** The name of the list in its cursors: the place in one order is none in another. */
const orderedList = (order: SettledOrder): string => `actions by ${order}`

function placeOf(order: SettledOrder, row: ActionRow): (string | number)[] {
  const { stretch, key, id } = actions.placeIn(order, row)
  return [stretch, key, id]
}

function readPlace(order: SettledOrder, cursor: string | undefined): actions.OrderPlace | undefined {
  const [stretch, key, id] = decodeCursor(orderedList(order), cursor, ['number', 'number', 'string']) ?? []
  return id === undefined ? undefined : { stretch: Math.max(0, Number(stretch)), key: Number(key), id: String(id) }
}

const readAction = ({ store, clock }: HttpDeps, actionId: string, { principal }: Caller): Promise<Action> =>
  store.read(function* () {
    const nowMs = clock.nowMs()
    const visible = yield* findVisibleAction(principal, actionId, nowMs)
    const action = yield* viewAction(visible, { nowMs })
    const seenBy = principal.kind === 'person' ? yield* viewSeenBy(visible) : []
    return seenBy.length > 0 ? { ...action, seenBy } : action
  })
