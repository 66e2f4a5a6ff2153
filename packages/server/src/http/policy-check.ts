import { CheckedPolicy, CheckPolicyBody, PolicyNames, PolicyNamesQuery } from '@countersign/core'
import { dotted } from '@countersign/toolkit/internal'
import { checkPolicy, findRuleReach, namesFor, warningsAbout } from '../policy/index.ts'
import type { App, HttpDeps } from './app.ts'
import { readRoles } from './policy.ts'
import { taggedRoute } from './route.ts'

const route = taggedRoute('policy')

/** Registers what helps to write a policy: the check of a document that was not saved, and the names that a condition may use. */
export function policyCheckRoutes(app: App, { store, tools, registered, agents }: HttpDeps): void {
  app.post(
    '/api/policy/check',
    route('person-with-role', {
      operationId: 'checkPolicy',
      summary: 'Check a policy that was not saved',
      errors: ['forbidden'],
      body: CheckPolicyBody,
      response: { 200: CheckedPolicy },
    }),
    async (request): Promise<CheckedPolicy> => {
      // Rules may name what agents have registered meanwhile.
      const all = [...tools.all(), ...(await registered.list())]
      const { document, problems } = checkPolicy(request.body.document, { tools, agents: [...agents.keys()] })
      const roles = await store.read(readRoles)
      const warnings = document ? await warningsAbout(document, { roles, tools: all }) : []
      return {
        problems: problems.map(({ path, message, at = null }) => ({ path: dotted(path), message, at })),
        warnings: warnings.map(({ path, text, at = null }) => ({ path: dotted(path), message: text, at })),
        rules: document ? await findRuleReach(document, all) : [],
      }
    },
  )
  app.get(
    '/api/policy/names',
    route('person-with-role', {
      operationId: 'listPolicyNames',
      summary: 'List the names that the condition of a rule may use',
      errors: ['forbidden'],
      querystring: PolicyNamesQuery,
      response: { 200: PolicyNames },
    }),
    async (request) => {
      const { verdict, ...match } = request.query
      return namesFor({ match, verdict }, [...tools.all(), ...(await registered.list())])
    },
  )
}
