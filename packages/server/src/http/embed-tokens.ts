import { assert, CountersignError, EmbedToken, EmbedTokenBody } from '@countersign/core'
import { callerOf } from '../identity/authenticate.ts'
import { createBuckets } from '../identity/limits.ts'
import type { App, HttpDeps } from './app.ts'
import { taggedRoute } from './route.ts'

const route = taggedRoute('identity')

/** A page of a host makes one token when it opens and one before each expires: many tabs of one person fit. */
const PER_PERSON = { perSecond: 0.5, burst: 30 }

/** Registers the route with which a host's server makes short-lived tokens for its own people. */
export function embedTokenRoutes(app: App, { directory, clock }: HttpDeps): void {
  const made = createBuckets({ ...PER_PERSON, clock })

  app.post(
    '/api/embed-tokens',
    route('embed', {
      operationId: 'createEmbedToken',
      summary: 'Make a short-lived token for one of a host’s own people',
      errors: ['invalid_arguments'],
      body: EmbedTokenBody,
      response: { 201: EmbedToken },
    }),
    async (request) => {
      const caller = callerOf(request)
      const { keyHash, body } = request
      assert(keyHash, 'a service has signed in with a key')
      const { person } = body
      const retryAfterSeconds = made.take(`${caller.principal.id} ${typeof person === 'string' ? person : person.id}`)
      if (retryAfterSeconds > 0) {
        throw new CountersignError('rate_limited', `too many tokens for one person: try again in ${retryAfterSeconds} s`, {
          retryAfterSeconds,
        })
      }
      return directory.createEmbedToken(body, keyHash, caller)
    },
  )
}
