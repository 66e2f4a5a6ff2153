import { onTestFinished } from 'vitest'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { gatewayStarter } from '../../packages/server/src/ext-authz/index.ts'
import { manualClock } from './manual-clock.ts'
import { rawRequest } from './raw-request.ts'
import { startTestServer, type TestServerOptions } from './test-server.ts'

export const PUBLIC_URL = 'https://approvals.example.com'

interface GatewayServerOptions extends Pick<TestServerOptions, 'place'> {
  /** Those of the group of tools for gateways; null for none. */
  settings?: object | null
  /** True for a server on the machine's clock. */
  isRealTime?: boolean
  /** Further members of the rule that asks people. */
  rule?: { expires?: string }
  /** Default: those that the documentation begins with. */
  rules?: ReturnType<typeof gatewayStarter>
  /** Other groups of tools. */
  others?: ConfigInput['tools']
}

/** Starts a server that a gateway asks. */
export async function startGatewayServer({
  settings = { bodies: true },
  isRealTime = false,
  others = {},
  place,
  rule = {},
  rules = gatewayStarter('gateway'),
}: GatewayServerOptions = {}) {
  const clock = manualClock(Date.now())
  const tools: ConfigInput['tools'] = { ...others, ...(settings && { gateway: { 'ext-authz': settings } }) }
  const server = await startTestServer({
    config: {
      tools,
      policy: { rules: settings ? rules.map((one) => (one.verdict === 'ask' ? { ...one, ...rule } : one)) : [] },
    },
    ...(!isRealTime && { clock }),
    environment: { COUNTERSIGN_PUBLIC_URL: PUBLIC_URL },
    ...(place && { place }),
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { key } = await server.makeKey({ name: 'bot', kind: 'agent', agent: 'billing', roles: ['agent'] })
  return { server, ask: askWith(() => server.url, key), key, clock }
}

/** Asks as Envoy does: the original method, its prefix with the original path, the original host, and the key. */
export const askWith =
  (urlOf: () => string, key: string) =>
  async (method: string, url: string, more: { body?: string; headers?: Record<string, string>; prefix?: string } = {}) => {
    const { body, headers = {}, prefix = '/ext-authz' } = more
    const {
      status,
      headers: answered,
      text,
    } = await rawRequest(urlOf(), {
      method,
      ...(body !== undefined && { body }),
      path: prefix + url,
      headers: {
        host: 'pay.example',
        'x-countersign-key': key,
        'content-length': String(Buffer.byteLength(body ?? '')),
        ...(body !== undefined && { 'content-type': 'application/json', 'x-envoy-auth-partial-body': 'false' }),
        ...headers,
      },
    })
    return { status, headers: answered, detail: text.startsWith('{') ? String(JSON.parse(text).detail) : text }
  }
