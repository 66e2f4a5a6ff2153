import { ChangePreferencesBody, Preferences } from '@countersign/core'
import { callerOf } from '../identity/authenticate.ts'
import { preferencesOf } from '../notify/index.ts'
import { preferences } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { taggedRoute } from './route.ts'

const route = taggedRoute('notifications')

/** Registers the routes with which people read and change how they have set up the console. */
export function preferenceRoutes(app: App, { store }: HttpDeps): void {
  app.get(
    '/api/preferences',
    route('person', {
      operationId: 'getPreferences',
      summary: 'Read how you have set up the console',
      errors: ['forbidden'],
      response: { 200: Preferences },
    }),
    async (request) => {
      const { id } = callerOf(request).principal
      return store.read(() => preferencesOf(id))
    },
  )

  app.patch(
    '/api/preferences',
    route('decide-lasting', {
      operationId: 'changePreferences',
      summary: 'Change how you have set up the console',
      body: ChangePreferencesBody,
      response: { 200: Preferences },
    }),
    async (request) => {
      const { id } = callerOf(request).principal
      const changes = Object.entries(request.body).filter(([, value]) => value !== undefined)
      return store.transact(function* () {
        for (const [name, value] of changes) yield* preferences.savePreference.run({ principal_id: id, name, value: JSON.stringify(value) })
        return yield* preferencesOf(id)
      })
    },
  )
}
