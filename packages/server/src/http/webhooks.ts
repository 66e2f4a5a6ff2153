import {
  ChangeWebhookBody,
  CreatedWebhook,
  CreateWebhookBody,
  durationMs,
  PageQuery,
  RotateWebhookBody,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookDeliveryQuery,
  WebhookList,
} from '@countersign/core'
import { z } from 'zod'
import { type Caller, type CallerContext, transactOnce } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  drawSecret,
  findWebhook,
  readAddress,
  redeliver,
  rotateSecret,
  sendTest,
  viewDelivery,
  viewWebhook,
} from '../notify/index.ts'
import { idempotently, mapInTurn, type Tx, webhookDeliveries, webhooks } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { pageById } from './page.ts'
import { IdParams, taggedRoute } from './route.ts'

const DeliveryParams = IdParams.extend({ deliveryId: z.string().max(100) })

const SHOWN_BEFORE = 'The secret was in the first answer to this request and is kept nowhere else to show it: rotate it.'

const route = taggedRoute('webhooks')

/** Leaves out the secret, because the answer is stored for repeats. */
function withSecret(
  { store, clock }: HttpDeps,
  caller: Caller,
  work: (context: CallerContext, secret: string) => Tx<Omit<CreatedWebhook, 'secret'>>,
): Promise<CreatedWebhook> {
  const nowMs = clock.nowMs()
  return store.transact(function* (outbox) {
    let secret: string | null = null
    const made = yield* idempotently(caller.once, nowMs, function* () {
      const drawn = drawSecret()
      const answer = yield* work({ outbox, nowMs, caller }, drawn)
      secret = drawn
      return answer
    })
    return secret === null ? { ...made, secret, message: SHOWN_BEFORE } : { ...made, secret }
  })
}

/** Registers the routes with which admins manage webhooks and read their deliveries. */
export function webhookRoutes(app: App, deps: HttpDeps): void {
  endpointRoutes(app, deps)
  endpointChangeRoutes(app, deps)
  deliveryRoutes(app, deps)
}

function endpointRoutes(app: App, deps: HttpDeps): void {
  const { store, clock } = deps
  app.get(
    '/api/webhooks',
    route('admin', {
      operationId: 'listWebhooks',
      summary: 'List the webhooks',
      errors: ['forbidden'],
      querystring: PageQuery,
      response: { 200: WebhookList },
    }),
    async (request) => {
      const page = pageById('webhooks', request.query)
      const now = clock.nowMs()
      return store.read(function* () {
        // There are few enough to read all of them.
        const { items, nextCursor } = page.ofAll(yield* webhooks.listWebhooks.all({}))
        return { items: yield* mapInTurn(items, (row) => viewWebhook(row, now)), nextCursor }
      })
    },
  )
  app.post(
    '/api/webhooks',
    route('admin', {
      operationId: 'createWebhook',
      summary: 'Add a webhook',
      description: 'The secret is in this answer only.',
      body: CreateWebhookBody,
      response: { 201: CreatedWebhook },
    }),
    async (request) => {
      const url = await readAddress(request.body.url, deps.network)
      return withSecret(deps, callerOf(request), (context, secret) => createWebhook(context, { ...request.body, url }, secret))
    },
  )
  app.get(
    '/api/webhooks/:id',
    route('admin', {
      operationId: 'getWebhook',
      summary: 'Read a webhook',
      errors: ['forbidden'],
      params: IdParams,
      response: { 200: Webhook },
    }),
    async (request) => {
      return store.read(function* () {
        return yield* viewWebhook(yield* findWebhook(request.params.id), clock.nowMs())
      })
    },
  )
}

function endpointChangeRoutes(app: App, deps: HttpDeps): void {
  app.patch(
    '/api/webhooks/:id',
    route('admin', {
      operationId: 'changeWebhook',
      summary: 'Change, disable or enable a webhook',
      params: IdParams,
      body: ChangeWebhookBody,
      response: { 200: Webhook },
    }),
    async (request) => {
      const { url } = request.body
      const body = { ...request.body, ...(url !== undefined && { url: await readAddress(url, deps.network) }) }
      return transactOnce(deps, callerOf(request), (context) => changeWebhook(context, request.params.id, body))
    },
  )
  app.delete(
    '/api/webhooks/:id',
    route('admin', { operationId: 'deleteWebhook', summary: 'Delete a webhook', params: IdParams, response: { 200: Webhook } }),
    (request) => transactOnce(deps, callerOf(request), (context) => deleteWebhook(context, request.params.id)),
  )
  app.post(
    '/api/webhooks/:id/rotate',
    route('admin', {
      operationId: 'rotateWebhookSecret',
      summary: 'Give a webhook another secret',
      params: IdParams,
      body: RotateWebhookBody,
      response: { 200: CreatedWebhook },
    }),
    (request) => {
      const overlapMs = durationMs(request.body.overlap) ?? 0
      return withSecret(deps, callerOf(request), (context, secret) => rotateSecret(context, request.params.id, { secret, overlapMs }))
    },
  )
}

function deliveryRoutes(app: App, deps: HttpDeps): void {
  const { store } = deps
  app.post(
    '/api/webhooks/:id/test',
    route('admin', {
      operationId: 'testWebhook',
      summary: 'Send a test event to a webhook',
      params: IdParams,
      response: { 202: WebhookDelivery },
    }),
    (request) => transactOnce(deps, callerOf(request), (context) => sendTest(context, request.params.id)),
  )
  app.get(
    '/api/webhooks/:id/deliveries',
    route('admin', {
      operationId: 'listWebhookDeliveries',
      summary: 'List what was sent to a webhook',
      errors: ['forbidden'],
      params: IdParams,
      querystring: WebhookDeliveryQuery,
      response: { 200: WebhookDeliveryList },
    }),
    async (request) => {
      const { state } = request.query
      const page = pageById('deliveries', request.query)
      const webhookId = request.params.id
      const found = await store.read(function* () {
        yield* findWebhook(webhookId)
        return yield* webhookDeliveries.listDeliveries({ webhookId, state, ...page.range })
      })
      const { items, nextCursor } = page.of(found)
      return { items: items.map(viewDelivery), nextCursor }
    },
  )
  app.post(
    '/api/webhooks/:id/deliveries/:deliveryId/redeliver',
    route('admin', {
      operationId: 'redeliverToWebhook',
      summary: 'Send a delivery again',
      params: DeliveryParams,
      response: { 202: WebhookDelivery },
    }),
    (request) => {
      const { id, deliveryId } = request.params
      return transactOnce(deps, callerOf(request), (context) => redeliver(context, id, deliveryId))
    },
  )
}
