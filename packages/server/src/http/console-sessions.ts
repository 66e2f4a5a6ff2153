import { ConsoleSessionList, CountersignError, PageQuery } from '@countersign/core'
import { z } from 'zod'
import { callerOf } from '../identity/authenticate.ts'
import type { App, HttpDeps } from './app.ts'
import { pageById } from './page.ts'
import { IdParams, taggedRoute } from './route.ts'

const route = taggedRoute('identity')

/** Registers the routes that list the caller's own console sessions and sign out of them. */
export function consoleSessionRoutes(app: App, { consoleSessions }: HttpDeps): void {
  app.get(
    '/api/console-sessions',
    route('person', {
      operationId: 'listConsoleSessions',
      summary: 'List where you are signed in',
      errors: ['forbidden'],
      querystring: PageQuery,
      response: { 200: ConsoleSessionList },
    }),
    async (request) => {
      const person = callerOf(request).principal
      const page = pageById('console-sessions', request.query)
      const { items: rows, nextCursor } = page.of(await consoleSessions.list(person.id, page.range))
      const current = request.consoleSession?.id
      const items = rows.flatMap(({ isGood, ...session }) => (isGood ? { ...session, isCurrent: session.id === current } : []))
      return { items, nextCursor }
    },
  )

  app.delete(
    '/api/console-sessions/:id',
    route('decide', {
      operationId: 'endConsoleSession',
      summary: 'Sign out at one console',
      params: IdParams,
      response: { 200: z.object({}) },
    }),
    async (request) => {
      const person = callerOf(request).principal
      const { id } = request.params
      if (!(await consoleSessions.endOne(person.id, id))) throw new CountersignError('not_found', `there is no console session ${id}`)
      return {}
    },
  )

  // The session that sent this request stays, so that a person who sees an unknown session can end it at once and continue.
  app.delete(
    '/api/console-sessions',
    route('decide', {
      operationId: 'endOtherConsoleSessions',
      summary: 'Sign out at every other console',
      response: { 200: z.object({}) },
    }),
    async (request) => {
      await consoleSessions.endOthers(callerOf(request).principal.id, request.consoleSession?.id)
      return {}
    },
  )
}
