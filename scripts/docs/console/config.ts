import type { JsonObject } from '@countersign/core'
import type { ConfigInput } from '../../../packages/server/src/config/index.ts'

const text = { type: 'string', minLength: 1, maxLength: 2_000 }
const closed = (properties: Record<string, JsonObject>): JsonObject => ({
  type: 'object',
  required: Object.keys(properties),
  additionalProperties: false,
  properties,
})

const ORDER = { type: 'string', pattern: '^ORD-[0-9]{3,}$' }
const ORDER_STATUS = { type: 'string', enum: ['pending', 'processing', 'shipped', 'cancelled'] }
const AMOUNT = { type: 'number', exclusiveMinimum: 0, maximum: 10_000, title: 'Amount in EUR' }

/** A shop, its mail, and its servers, behind one service at `url`. */
const tools = (url: string): NonNullable<ConfigInput['tools']> => ({
  shop: {
    prefix: false,
    routes: {
      baseUrl: url,
      tools: {
        getOrder: { method: 'GET', path: '/orders/{orderId}', input: closed({ orderId: ORDER }), describe: 'Read order {orderId}' },
        updateOrderStatus: {
          ...{ method: 'PATCH', path: '/orders/{orderId}', body: { status: '{newStatus}' } },
          input: closed({ orderId: ORDER, newStatus: ORDER_STATUS }),
          describe: 'Set order {orderId}[ of {before.customer}] to {newStatus}',
          before: { get: '/orders/{orderId}', compare: { status: '{newStatus}' }, show: { total: 'total' } },
          ...{ idempotent: true, resultUrl: '/orders/{orderId}' },
        },
        refund: {
          ...{ method: 'POST', path: '/refunds', resultUrl: '/refunds/{result.id}' },
          input: closed({ orderId: ORDER, amount: AMOUNT, reason: text }),
          describe: 'Refund {amount} EUR[ to {before.customer}] for {orderId}',
          before: { get: '/orders/{orderId}', compare: { refunded: '{amount}' }, show: { total: 'total' } },
          declineReasons: ['Not our fault', 'Refunded already', 'Offer a voucher first'],
        },
        changePrice: {
          ...{ method: 'PATCH', path: '/products/{product}', body: { price: '{price}' }, idempotent: true },
          input: closed({ product: text, price: AMOUNT }),
          describe: 'Change the price of {product} to {price} EUR',
          before: { get: '/products/{product}', compare: { price: '{price}' } },
        },
        closeAccount: {
          ...{
            method: 'DELETE',
            path: '/accounts/{customer}',
            input: closed({ customer: text }),
            describe: 'Close the account of {customer}',
          },
        },
      },
    },
  },
  mail: {
    routes: {
      baseUrl: url,
      tools: {
        send: {
          ...{ method: 'POST', path: '/mails', input: closed({ to: text, subject: text, text }), describe: 'Mail {to}: {subject}' },
        },
      },
    },
  },
  ops: {
    routes: {
      baseUrl: url,
      tools: {
        deploy: {
          ...{
            method: 'POST',
            path: '/deployments',
            input: closed({ service: text, version: text }),
            describe: 'Deploy {service} {version}',
          },
          before: { get: '/services/{service}', compare: { version: '{version}' } },
        },
        setFlag: {
          ...{ method: 'PUT', path: '/flags/{flag}', idempotent: true },
          input: closed({ flag: text, enabled: { type: 'boolean' } }),
          describe: 'Set the flag {flag} to {enabled}',
          before: { get: '/flags/{flag}', compare: { enabled: '{enabled}' } },
        },
      },
    },
  },
})

const POLICY: ConfigInput['policy'] = {
  default: 'ask',
  expires: 'P7D',
  rules: [
    { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
    { name: 'small refunds run', match: { tool: 'refund', when: 'args.amount <= 20.0' }, verdict: 'allow' },
    {
      name: 'large refunds need two',
      match: { tool: 'refund', when: 'args.amount > 500.0' },
      ...{ verdict: 'ask', requires: { quorum: 2, roles: ['finance'], notRequester: true }, risk: 'high' },
      ...{ expires: 'P2D', remind: 'PT8H', escalate: { after: 'P1D', roles: ['admin'] } },
    },
    {
      name: 'refunds need finance',
      match: { tool: 'refund', when: 'args.amount > 20.0' },
      ...{ verdict: 'ask', requires: { roles: ['finance'] }, remind: 'PT12H', risk: 'medium' },
    },
    { name: 'order changes', match: { tool: 'updateOrderStatus' }, verdict: 'ask', remind: 'PT8H' },
    { name: 'mail to customers', match: { tool: 'mail.*' }, verdict: 'ask', remind: 'P1D', risk: 'low' },
    {
      name: 'deployments',
      match: { tool: 'ops.deploy' },
      ...{ verdict: 'ask', requires: { roles: ['release'] }, remind: 'PT6H', risk: 'high' },
    },
    {
      name: 'no accounts are closed',
      match: { tool: 'closeAccount' },
      ...{ verdict: 'deny', reason: 'Accounts are closed by support: open a ticket.' },
    },
    { name: 'prices', match: { tool: 'changePrice' }, verdict: 'ask', remind: 'P1D' },
    { name: 'flags', match: { tool: 'ops.setFlag' }, verdict: 'ask', requires: { roles: ['release'] }, remind: 'P1D' },
  ],
}

/** The order desk is the agent of the chat; the others come with keys of their own. */
export const configAt = (url: string): ConfigInput => ({
  agents: {
    desk: {
      model: 'scripted/desk.ts',
      instructions: 'You run the order desk of a small shop. Read before you propose.',
      tools: ['getOrder', 'updateOrderStatus', 'refund', 'mail.*'],
      suggestions: ['Refund ORD-1042', 'Cancel the oldest open order'],
    },
  },
  tools: tools(url),
  policy: POLICY,
  prices: { currency: 'EUR', models: { 'scripted/desk.ts': { inputPerMillion: 0.25, outputPerMillion: 2 } } },
})
