import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type GraphQLSchema, graphql } from 'graphql'
import { rootOf } from './resolvers.ts'
import { createWorld, type World } from './world.ts'

/** One document that was sent. */
export interface SentDocument {
  query: string
  variables: Record<string, unknown>
  headers: Record<string, string | string[] | undefined>
}

/** A fault to inject before or after a request is handled. `lost` carries it out and tears the connection. */
export type Mishap = 'lost' | 'torn' | { status: number; headers?: Record<string, string>; body: unknown }

export interface StandInOptions {
  schema: GraphQLSchema
  /** Default: any free one. */
  port?: number
  apiKey: string
  nowMs: number
  mishap?: (sent: SentDocument) => Mishap | undefined
  /** Writes an answer otherwise, for example with its members in another order. */
  rewrite?: (answer: unknown) => unknown
}

/** A Linear of one's own: a workspace in memory behind Linear's schema. */
export interface StandIn extends AsyncDisposable {
  /** Of its GraphQL endpoint. */
  readonly url: string
  readonly world: World
  /** Every document that came, in order. */
  readonly sent: readonly SentDocument[]
}

export async function startStandIn({ schema, port = 0, apiKey, nowMs, mishap, rewrite }: StandInOptions): Promise<StandIn> {
  const sent: SentDocument[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    if (request.headers.authorization !== apiKey) return answer(response, 401, NOT_SIGNED_IN)
    const { query, variables } = JSON.parse(text) as Pick<SentDocument, 'query' | 'variables'>
    const one = { query, variables, headers: request.headers }
    sent.push(one)
    const fate = mishap?.(one)
    if (fate === 'torn') return request.socket.resetAndDestroy()
    if (typeof fate === 'object') return answer(response, fate.status, fate.body, fate.headers)
    // Parses, validates and coerces before it executes: a document that does not fit the schema is an error here as it is there.
    const result = await graphql({ schema, source: query, rootValue: rootOf(world), variableValues: variables })
    if (fate === 'lost') return request.socket.resetAndDestroy()
    answer(response, 200, rewrite ? rewrite(result) : result)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const world = createWorld(origin, nowMs)
  // It is there for the program that started it, and no reason for it to go on.
  server.unref()
  return {
    url: `${origin}/graphql`,
    world,
    sent,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const NOT_SIGNED_IN = {
  errors: [
    {
      message: 'Authentication required, not authenticated',
      extensions: {
        type: 'authentication error',
        code: 'AUTHENTICATION_ERROR',
        userError: true,
        userPresentableMessage: 'You need to authenticate.',
      },
    },
  ],
}

function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
