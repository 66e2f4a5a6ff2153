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
import { type Caller, requireAdmin } from '../gate/index.ts'
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
import { idempotently, type Outbox, type Tx, webhookDeliveries, webhooks } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { decodeCursor, pageOf } from './page.ts'

const Params = z.object({ id: z.string().max(100) })
const DeliveryParams = Params.extend({ deliveryId: z.string().max(100) })

const SHOWN_BEFORE = 'The secret was in the first answer to this request and is kept nowhere else to show it: rotate it.'

/** Registers the routes with which admins manage webhooks and read their deliveries. */
export function webhookRoutes(app: App, { store, clock, network }: HttpDeps): void {
  const tags = ['webhooks']
  const schema = { tags, params: Params }

  function admin(request: Parameters<typeof callerOf>[0], what: string): Caller {
    const caller = callerOf(request)
    requireAdmin(caller.principal, what)
    return caller
  }

  const once = <T>({ once }: Caller, nowMs: number, work: (outbox: Outbox) => Tx<T>): Promise<T> =>
    store.transact((outbox) => idempotently(once, nowMs, () => work(outbox)))

  /** Leaves out the secret, because the answer is stored for repeats. */
  function withSecret(
    caller: Caller,
    nowMs: number,
    work: (outbox: Outbox, secret: string) => Tx<Omit<CreatedWebhook, 'secret'>>,
  ): Promise<CreatedWebhook> {
    return store.transact(function* (outbox) {
      let secret: string | null = null
      const made = yield* idempotently(caller.once, nowMs, function* () {
        const drawn = drawSecret()
        const answer = yield* work(outbox, drawn)
        secret = drawn
        return answer
      })
      return secret === null ? { ...made, secret, message: SHOWN_BEFORE } : { ...made, secret }
    })
  }

  app.get(
    '/api/webhooks',
    {
      schema: {
        operationId: 'listWebhooks',
        summary: 'List the webhooks',
        errors: ['forbidden'],
        tags,
        querystring: PageQuery,
        response: { 200: WebhookList },
      },
    },
    async (request) => {
      admin(request, 'sees webhooks')
      const { limit, cursor } = request.query
      const before = decodeCursor(cursor, ['string'])?.map(String)[0]
      const now = clock.nowMs()
      return store.read(function* () {
        // There are few enough to read all of them.
        const found = (yield* webhooks.listWebhooks.all({})).filter(({ id }) => before === undefined || id < before)
        const { rows, nextCursor } = pageOf(found, limit, ({ id }) => [id])
        const items: Webhook[] = []
        for (const row of rows) items.push(yield* viewWebhook(row, now))
        return { items, nextCursor }
      })
    },
  )

  app.post(
    '/api/webhooks',
    {
      schema: {
        operationId: 'createWebhook',
        summary: 'Add a webhook; its secret is shown this once',
        tags,
        body: CreateWebhookBody,
        response: { 201: CreatedWebhook },
      },
    },
    async (request, reply) => {
      const caller = admin(request, 'adds webhooks')
      const url = await readAddress(request.body.url, network)
      const now = clock.nowMs()
      reply.code(201)
      return withSecret(caller, now, (outbox, secret) =>
        createWebhook({ outbox, by: caller.principal, nowMs: now }, { ...request.body, url }, secret),
      )
    },
  )

  app.get(
    '/api/webhooks/:id',
    { schema: { operationId: 'getWebhook', summary: 'Read a webhook', errors: ['forbidden'], ...schema, response: { 200: Webhook } } },
    async (request) => {
      admin(request, 'sees webhooks')
      return store.read(function* () {
        return yield* viewWebhook(yield* findWebhook(request.params.id), clock.nowMs())
      })
    },
  )

  app.patch(
    '/api/webhooks/:id',
    {
      schema: {
        operationId: 'changeWebhook',
        summary: 'Change, disable or enable a webhook',
        ...schema,
        body: ChangeWebhookBody,
        response: { 200: Webhook },
      },
    },
    async (request) => {
      const caller = admin(request, 'changes webhooks')
      const { url } = request.body
      const body = { ...request.body, ...(url !== undefined && { url: await readAddress(url, network) }) }
      const now = clock.nowMs()
      return once(caller, now, (outbox) => changeWebhook({ outbox, by: caller.principal, nowMs: now }, request.params.id, body))
    },
  )

  app.delete(
    '/api/webhooks/:id',
    { schema: { operationId: 'deleteWebhook', summary: 'Delete a webhook', ...schema, response: { 200: Webhook } } },
    async (request) => {
      const caller = admin(request, 'deletes webhooks')
      const now = clock.nowMs()
      return once(caller, now, (outbox) => deleteWebhook({ outbox, by: caller.principal, nowMs: now }, request.params.id))
    },
  )

  app.post(
    '/api/webhooks/:id/rotate',
    {
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Give a webhook another secret',
        ...schema,
        body: RotateWebhookBody,
        response: { 200: CreatedWebhook },
      },
    },
    async (request) => {
      const caller = admin(request, 'rotates the secrets of webhooks')
      const now = clock.nowMs()
      const overlapMs = durationMs(request.body.overlap) ?? 0
      return withSecret(caller, now, (outbox, secret) =>
        rotateSecret({ outbox, by: caller.principal, nowMs: now }, request.params.id, { secret, overlapMs }),
      )
    },
  )

  app.post(
    '/api/webhooks/:id/test',
    { schema: { operationId: 'testWebhook', summary: 'Send a test event to a webhook', ...schema, response: { 202: WebhookDelivery } } },
    async (request, reply) => {
      const caller = admin(request, 'tests webhooks')
      const now = clock.nowMs()
      reply.code(202)
      return once(caller, now, (outbox) => sendTest(outbox, request.params.id, now))
    },
  )

  app.get(
    '/api/webhooks/:id/deliveries',
    {
      schema: {
        operationId: 'listWebhookDeliveries',
        summary: 'List what was sent to a webhook',
        errors: ['forbidden'],
        ...schema,
        querystring: WebhookDeliveryQuery,
        response: { 200: WebhookDeliveryList },
      },
    },
    async (request) => {
      admin(request, 'sees what was sent to webhooks')
      const { limit, cursor, state } = request.query
      const before = decodeCursor(cursor, ['string'])?.map(String)[0]
      const webhookId = request.params.id
      const found = await store.read(function* () {
        yield* findWebhook(webhookId)
        return yield* webhookDeliveries.listDeliveries({ webhookId, state, before, limit: limit + 1 })
      })
      const { rows, nextCursor } = pageOf(found, limit, ({ id }) => [id])
      return { items: rows.map(viewDelivery), nextCursor }
    },
  )

  app.post(
    '/api/webhooks/:id/deliveries/:deliveryId/redeliver',
    {
      schema: {
        operationId: 'redeliverToWebhook',
        summary: 'Send a delivery again',
        tags,
        params: DeliveryParams,
        response: { 202: WebhookDelivery },
      },
    },
    async (request, reply) => {
      const caller = admin(request, 'sends to webhooks again')
      const now = clock.nowMs()
      reply.code(202)
      return once(caller, now, (outbox) => redeliver(outbox, request.params.id, request.params.deliveryId, now))
    },
  )
}
