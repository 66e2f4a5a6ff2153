import {
  CreateSessionBody,
  InviteBody,
  MessageList,
  PageQuery,
  PostedMessage,
  PostMessageBody,
  RenameSessionBody,
  Session,
  SessionApproveBody,
  SessionList,
  SessionListQuery,
} from '@countersign/core'
import { z } from 'zod'
import { findVisibleSession, listSessions } from '../agent/index.ts'
import { viewMessageWithActions, viewSession } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { mapInTurn, messages } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { DECISION_ERRORS } from './docs/index.ts'
import { decodeCursor, encodeCursor, pageById, pageOf } from './page.ts'
import { IdParams, taggedRoute } from './route.ts'

const ParticipantParams = IdParams.extend({ person: z.string().max(100) })

const route = taggedRoute('sessions')

export function sessionRoutes(app: App, deps: HttpDeps): void {
  ownSessionRoutes(app, deps)
  conversationRoutes(app, deps)
  participantRoutes(app, deps)
}

function ownSessionRoutes(app: App, { agentLoop, store, clock }: HttpDeps): void {
  app.post(
    '/api/sessions',
    route('propose', {
      operationId: 'createSession',
      summary: 'Begin a session with an agent',
      errors: ['not_found'],
      body: CreateSessionBody,
      response: { 201: Session },
    }),
    (request) => agentLoop.createSession(request.body, callerOf(request)),
  )
  app.get(
    '/api/sessions',
    route('anyone', {
      operationId: 'listSessions',
      summary: 'List the sessions you may see',
      querystring: SessionListQuery,
      response: { 200: SessionList },
    }),
    async (request, reply) => {
      const { principal } = callerOf(request)
      const { limit, status, q } = request.query
      const { before } = pageById('sessions', request.query).range
      const { rows, next } = await listSessions(store, { status, q, before, limit, isWanted: () => !reply.raw.destroyed }, principal)
      return store.read(function* () {
        const items = yield* mapInTurn(rows, (row) => viewSession(row, clock.nowMs()))
        return { items, nextCursor: next === undefined ? null : encodeCursor('sessions', [next]) }
      })
    },
  )
  app.get(
    '/api/sessions/:id',
    route('by-object', { operationId: 'getSession', summary: 'Read a session', params: IdParams, response: { 200: Session } }),
    (request) => {
      const caller = callerOf(request)
      return store.read(function* () {
        return yield* viewSession(yield* findVisibleSession(request.params.id, caller), clock.nowMs())
      })
    },
  )
  app.patch(
    '/api/sessions/:id',
    route('by-object', {
      operationId: 'renameSession',
      summary: 'Rename a session',
      params: IdParams,
      body: RenameSessionBody,
      response: { 200: Session },
    }),
    (request) => agentLoop.renameSession(request.params.id, request.body.title, callerOf(request)),
  )
  app.delete(
    '/api/sessions/:id',
    route('by-object', {
      operationId: 'deleteSession',
      summary: 'Delete a session and what was said in it',
      errors: ['illegal_transition'],
      params: IdParams,
      response: { 200: z.object({}) },
    }),
    async (request) => {
      await agentLoop.deleteSession(request.params.id, callerOf(request))
      return {}
    },
  )
}

function conversationRoutes(app: App, { store, clock, agentLoop }: HttpDeps): void {
  app.get(
    '/api/sessions/:id/messages',
    route('by-object', {
      operationId: 'listMessages',
      summary: 'List the messages of a session',
      params: IdParams,
      querystring: PageQuery,
      response: { 200: MessageList },
    }),
    (request) => {
      const caller = callerOf(request)
      const { limit, cursor } = request.query
      const before = Number(decodeCursor('messages', cursor, ['number'])?.[0] ?? Number.MAX_SAFE_INTEGER)
      return store.read(function* () {
        const session = yield* findVisibleSession(request.params.id, caller)
        const found = yield* messages.listMessages.all({ session_id: session.id, before, limit: limit + 1 })
        const { items, nextCursor } = pageOf('messages', found, limit, (row) => [row.seq])
        return { items: yield* mapInTurn(items, (row) => viewMessageWithActions(row, clock.nowMs())), nextCursor }
      })
    },
  )
  app.post(
    '/api/sessions/:id/messages',
    route('by-object', {
      operationId: 'postMessage',
      summary: 'Send a message to the agent, or decide with a command word',
      params: IdParams,
      body: PostMessageBody,
      response: { 202: PostedMessage },
    }),
    (request) => {
      const { content, shown } = request.body
      return agentLoop.postMessage(request.params.id, content, callerOf(request), shown)
    },
  )
  app.post(
    '/api/sessions/:id/approve',
    route('by-object', {
      operationId: 'decideInSession',
      summary: 'Decide the waiting actions of a session',
      errors: DECISION_ERRORS,
      params: IdParams,
      body: SessionApproveBody,
      response: { 200: Session },
    }),
    (request) => agentLoop.approveInSession(request.params.id, request.body, callerOf(request)),
  )
  app.post(
    '/api/sessions/:id/cancel',
    route('by-object', {
      operationId: 'cancelSession',
      summary: 'Cancel the unstarted actions of a session',
      params: IdParams,
      response: { 200: Session },
    }),
    (request) => agentLoop.cancelSession(request.params.id, callerOf(request)),
  )
}

function participantRoutes(app: App, { agentLoop }: HttpDeps): void {
  app.post(
    '/api/sessions/:id/participants',
    route('by-object', {
      operationId: 'inviteParticipant',
      summary: 'Invite a person to write in a session',
      errors: ['invalid_arguments'],
      params: IdParams,
      body: InviteBody,
      response: { 200: Session },
    }),
    (request) => agentLoop.invite(request.params.id, request.body.person, callerOf(request)),
  )
  app.delete(
    '/api/sessions/:id/participants/:person',
    route('by-object', {
      operationId: 'removeParticipant',
      summary: 'End an invitation to a session',
      params: ParticipantParams,
      response: { 200: Session },
    }),
    (request) => agentLoop.uninvite(request.params.id, request.params.person, callerOf(request)),
  )
}
