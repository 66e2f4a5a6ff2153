import { REGISTERED_GROUP, RegisteredTool, RegisterToolBody, type Tool, type ToolView } from '@countersign/core'
import { z } from 'zod'
import { isAdminInScope, usualRisk } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import type { App, HttpDeps } from './app.ts'
import { taggedRoute } from './route.ts'

const route = taggedRoute('tools')

/** Returns a tool as programs see it. @param groups The configured groups with their kinds. */
export function viewTool(tool: Tool, groups: ReadonlyMap<string, string>): ToolView {
  const { name, modelName, group, description, effect, executor, idempotent, destination, inputSchema, registered, caution } = tool
  const { level, reason, isGuess } = usualRisk(tool)
  return {
    ...{ name, modelName, group, kind: groups.get(group) ?? REGISTERED_GROUP },
    ...{ description, effect, executor, idempotent, destination, inputSchema },
    risk: { level, reason, ...(isGuess && { isGuess }) },
    ...(registered && {
      registeredBy: { id: registered.ownerId, name: registered.ownerName },
      claimedEffect: registered.claimedEffect,
    }),
    ...(caution !== undefined && { caution }),
  }
}

/** Registers the routes with which agents register the tools that they carry out themselves. */
export function registeredToolRoutes(app: App, { registered, tools }: HttpDeps): void {
  app.post(
    '/api/tools',
    route('propose', {
      operationId: 'registerTool',
      summary: 'Register a tool that you carry out yourself',
      errors: ['forbidden', 'name_taken'],
      body: RegisterToolBody,
      response: { 200: RegisteredTool, 201: RegisteredTool },
    }),
    async (request, reply) => {
      const { tool, status } = await registered.register(request.body, callerOf(request))
      reply.code(status === 'registered' ? 201 : 200)
      return { ...viewTool(tool, tools.groups), status }
    },
  )

  app.delete(
    '/api/tools/:name',
    route('propose-or-manage', {
      operationId: 'removeTool',
      summary: 'Remove a tool that you registered',
      errors: ['forbidden'],
      params: z.object({ name: z.string().max(100) }),
      response: { 200: z.object({ removed: z.string() }) },
    }),
    async (request) => {
      const caller = callerOf(request)
      await registered.remove(request.params.name, caller, isAdminInScope(caller.principal))
      return { removed: request.params.name }
    },
  )
}
