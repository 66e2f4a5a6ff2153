import { type SourceFinding, send } from '@countersign/toolkit'
import { networkError } from '@countersign/toolkit/internal'
import type { Config, ConfiguredAgent } from '../../config/index.ts'
import { type ModelSettings, openModel } from '../../models/index.ts'
import { type Check, ok, problem } from './check.ts'

/** Returns one check for every address of routes: whether a server answers there. It sends no credentials and calls no route. */
export function routeChecks({ tools, sources, network }: Config): Check[] {
  const ofRoutes = tools.all().filter(({ group, destination }) => !sources.has(group) && /^https?:/.test(destination))
  const origins = [...new Set(ofRoutes.map(({ destination }) => destination))]
  return origins.map((origin) => ({
    name: `routes to ${origin}`,
    async run(signal): Promise<SourceFinding[]> {
      try {
        const answer = await send(network, {
          method: 'HEAD',
          url: new URL('/', origin),
          own: origin,
          headers: { 'user-agent': 'countersign doctor' },
          signal,
        })
        answer.destroy()
        return [ok(`answers (${answer.statusCode})`)]
      } catch (error) {
        return [problem(networkError(error, origin)?.message ?? (error instanceof Error ? error.message : 'cannot be reached'))]
      }
    },
  }))
}

/**
 * Returns one check for every model that an agent may use: whether it can be opened; with `isAsked`, whether it answers one short question.
 */
export function modelChecks(agents: readonly ConfiguredAgent[], settings: ModelSettings, isAsked: boolean): Check[] {
  const headersOf = new Map(agents.map(({ model, remoteHeaders }) => [model, remoteHeaders]))
  const models = [...new Set(agents.flatMap(({ model, fallbacks }) => [model, ...fallbacks.map((one) => one.model)]))]
  return models.map((name) => ({
    // The part after the path of a remote brain's URL may be a token.
    name: `model ${name.split(/[?#]/, 1)[0]}`,
    async run(signal): Promise<SourceFinding[]> {
      const model = await openModel(name, { ...settings, remote: { headers: { ...headersOf.get(name) } } })
      // A scripted model expects a fixed order of requests, which a question would disturb.
      if (!isAsked || name.startsWith('scripted/')) return [ok(isAsked ? 'is a script' : 'can be opened; --models sends it a question')]
      for await (const event of model.stream({
        instructions: 'Answer with one word.',
        messages: [{ role: 'user', content: 'Say ok.' }],
        tools: [],
        signal,
      })) {
        if (event.type === 'error') return [problem(event.message)]
        if (event.type === 'finish') break
      }
      return [ok('answers')]
    },
  }))
}
