import { CountersignError, Json } from '@countersign/core'
import { z } from 'zod'
import { HOSTS } from '../coding-agent/hosts.ts'
import { requireOwnHost } from '../gateway/own-host.ts'
import { whenHungUp } from '../gateway/read-until.ts'
import type { Holders } from '../hooks/holders.ts'
import { callerOf } from '../identity/authenticate.ts'
import type { App, HttpDeps } from './app.ts'
import { whenThere } from './slow-answer.ts'

const Params = z.object({ host: z.enum(HOSTS) })
const Query = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(86_400)
    .default(550)
    .describe("How many seconds the answer may take. The host's own limit must be longer."),
  event: z.string().min(1).max(100).optional().describe('The name of the event, for hosts that do not send it.'),
  park: z
    .enum(['defer'])
    .optional()
    .describe('`defer`: at the end of the time a headless Claude Code stops, and asks again when it is resumed.'),
  again: z
    .enum(['true'])
    .optional()
    .describe(
      '`true`: a server that stops answers `{"decision": "later"}`, and the same request is to be made again. Otherwise it denies the call.',
    ),
})
/** In the words of the host. */
const Message = z.record(z.string(), Json)

/** Registers `/hooks/:host`: coding agents ask here, in their own words, whether they may run a call. */
export function hookRoutes(app: App, deps: HttpDeps, holders: Holders): void {
  app.post(
    '/hooks/:host',
    {
      onRequest: async (request) => requireOwnHost(request, { publicUrl: deps.publicUrl, hosts: deps.gateway.hosts }),
      config: { right: 'anyone' },
      schema: {
        operationId: 'answerHook',
        summary: 'Answer a hook of a coding agent',
        tags: ['hooks'],
        params: Params,
        querystring: Query,
        body: Message,
        response: { 200: Message },
      },
    },
    async (request, reply) => {
      if (request.consoleSession) {
        throw new CountersignError(
          'unauthenticated',
          'coding agents send a key: Authorization: Bearer <key>; a console sign-in is not accepted',
        )
      }
      const { once: _, ...caller } = callerOf(request)
      const { limit, event: named, park, again } = request.query
      const hungUp = whenHungUp(reply)
      // With the first request: the parser of shell commands is among what they load.
      const [{ answerHook }, { HOOK_SHAPES }] = await Promise.all([import('../hooks/answer-hook.ts'), import('../hooks/shapes/index.ts')])
      const shape = HOOK_SHAPES[request.params.host]
      const event = shape.read(request.body, named)
      const answer = answerHook(
        { ...deps, holders },
        {
          request,
          caller: { ...caller, signIn: `${caller.signIn}, hook` },
          shape,
          event,
          limitMs: limit * 1_000,
          parks: park === 'defer',
          asksAgain: again === 'true',
          hungUp,
          consoleUrl: deps.publicUrl ?? `${request.protocol}://${request.host}`,
        },
      )
      // People may take longer than a proxy waits for a silent server.
      return whenThere(reply, answer, { clock: deps.clock })
    },
  )
}
