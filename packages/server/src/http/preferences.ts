import { ChangePreferencesBody, type Preferences as Chosen, Preferences, type Principal } from '@countersign/core'
import { requireOwnSignIn, requirePerson, requireScope } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { QUIET_HOURS, quietHoursOf, VIEWS, viewsOf } from '../notify/index.ts'
import { preferences, type Tx } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'

/** Registers the routes with which people read and change how they have set up the console. */
export function preferenceRoutes(app: App, { store }: HttpDeps): void {
  const tags = ['notifications']

  function owner(principal: Principal): Principal {
    // A key that only asks must not silence the person who decides about it.
    requireScope(principal, ['decide'], 'change preferences')
    requireOwnSignIn(principal, 'change preferences')
    return requirePerson(principal, 'have preferences')
  }

  app.get(
    '/api/preferences',
    {
      schema: {
        operationId: 'getPreferences',
        summary: 'Read how you have set up the console',
        errors: ['forbidden'],
        tags,
        response: { 200: Preferences },
      },
    },
    async (request) => {
      const { id } = requirePerson(callerOf(request).principal, 'have preferences')
      return store.read(() => viewPreferences(id))
    },
  )

  app.patch(
    '/api/preferences',
    {
      schema: {
        operationId: 'changePreferences',
        summary: 'Change how you have set up the console',
        tags,
        body: ChangePreferencesBody,
        response: { 200: Preferences },
      },
    },
    async (request) => {
      const { id } = owner(callerOf(request).principal)
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
