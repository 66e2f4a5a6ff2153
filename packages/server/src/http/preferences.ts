import { ChangePreferencesBody, type Preferences as Chosen, Preferences } from '@countersign/core'
import { callerOf } from '../identity/authenticate.ts'
import { QUIET_HOURS, quietHoursOf, VIEWS, viewsOf } from '../notify/index.ts'
import { preferences, type Tx } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'

/** Registers the routes with which people read and change how they have set up the console. */
export function preferenceRoutes(app: App, { store }: HttpDeps): void {
  const tags = ['notifications']

  app.get(
    '/api/preferences',
    {
      config: { right: 'person' },
      schema: {
        operationId: 'getPreferences',
        summary: 'Read how you have set up the console',
        errors: ['forbidden'],
        tags,
        response: { 200: Preferences },
      },
    },
    async (request) => {
      const { id } = callerOf(request).principal
      return store.read(() => viewPreferences(id))
    },
  )

  app.patch(
    '/api/preferences',
    {
      config: { right: 'decide-lasting' },
      schema: {
        operationId: 'changePreferences',
        summary: 'Change how you have set up the console',
        tags,
        body: ChangePreferencesBody,
        response: { 200: Preferences },
      },
    },
    async (request) => {
      const { id } = callerOf(request).principal
      const { quietHours, views } = request.body
      return store.transact(function* () {
        if (quietHours !== undefined) {
          yield* preferences.savePreference.run({ principal_id: id, name: QUIET_HOURS, value: JSON.stringify(quietHours) })
        }
        if (views !== undefined) yield* preferences.savePreference.run({ principal_id: id, name: VIEWS, value: JSON.stringify(views) })
        return yield* viewPreferences(id)
      })
    },
  )
}

function* viewPreferences(principalId: string): Tx<Chosen> {
  return { quietHours: yield* quietHoursOf(principalId), views: yield* viewsOf(principalId) }
}
