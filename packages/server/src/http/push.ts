import { CountersignError, PageQuery, PushSubscriptionBody, PushSubscriptionList, PushSubscriptionView } from '@countersign/core'
import { z } from 'zod'
import { callerOf } from '../identity/authenticate.ts'
import { readSubscription, subscribe, viewSubscription } from '../notify/index.ts'
import { pushSubscriptions } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { pageById } from './page.ts'
import { IdParams, taggedRoute } from './route.ts'

const route = taggedRoute('notifications')

/** Registers the routes with which a console subscribes its person to notifications in that browser. */
export function pushRoutes(app: App, { store, pushKey, clock, network }: HttpDeps): void {
  app.get(
    '/api/push-subscriptions',
    route('decide-lasting', {
      operationId: 'listPushSubscriptions',
      summary: 'List the browsers that notify you',
      errors: ['forbidden'],
      querystring: PageQuery,
      response: { 200: PushSubscriptionList },
    }),
    async (request) => {
      const person = callerOf(request).principal
      const page = pageById('push', request.query)
      const all = await store.read(() => pushSubscriptions.subscriptionsOf.all({ principal_id: person.id }))
      const { items: rows, nextCursor } = page.ofAll(all)
      return {
        items: rows.map((row) => viewSubscription(row, request.consoleSession?.id)),
        nextCursor,
        publicKey: pushKey.publicKey,
      }
    },
  )
  app.post(
    '/api/push-subscriptions',
    route('decide-lasting', {
      operationId: 'createPushSubscription',
      summary: 'Be notified in this browser',
      errors: ['invalid_arguments'],
      body: PushSubscriptionBody,
      response: { 201: PushSubscriptionView },
    }),
    async (request) => {
      const caller = callerOf(request)
      const session = request.consoleSession
      // It ends with that sign-in. A key would leave it behind when it is revoked.
      if (!session) throw new CountersignError('forbidden', 'only a browser that is signed in at the console can be notified')
      const subscription = await readSubscription(request.body, network)
      return store.transact(() => subscribe(caller, { sessionId: session.id, ...subscription }, clock.nowMs()))
    },
  )
  app.delete(
    '/api/push-subscriptions/:id',
    route('decide-lasting', {
      operationId: 'deletePushSubscription',
      summary: 'End the notifications in a browser of yours',
      params: IdParams,
      response: { 200: z.object({}) },
    }),
    async (request) => {
      const person = callerOf(request).principal
      const { id } = request.params
      const ended = await store.transact(() => pushSubscriptions.deleteOwn.change({ id, principal_id: person.id }))
      if (ended === 0) throw new CountersignError('not_found', `you have no push subscription ${id}`)
      return {}
    },
  )
}
