import type { PolicyDocument } from '@countersign/core'
import { startTarget, toolsOf } from './target.ts'
import { startTestServer } from './test-server.ts'

/** The policy of the configuration: reads run, and all else is asked about. */
export const FILE_POLICY = { rules: [{ name: 'reads run', match: { effect: 'read' }, verdict: 'allow' }] } as const

/** A server whose policy people change, with a target that every call reaches. */
export async function startPolicyDesk() {
  const target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
  const server = await startTestServer({ config: { tools: toolsOf(target), policy: { ...FILE_POLICY, rules: [...FILE_POLICY.rules] } } })
  const propose = (what: string, tool = 'keyed', by = server.admin) => by.post('/api/actions', { tool, arguments: { what } })
  /** Saves a new version on top of the one in force. */
  const save = async (document: unknown, more: object = {}, by = server.admin) => {
    const { version } = await server.admin.get('/api/policy')
    return by.send('PUT', '/api/policy', { body: { document, reason: 'because', ...more }, headers: { 'if-match': `"${version}"` } })
  }
  return {
    target,
    server,
    propose,
    save,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

/** A policy with a rule of each verdict, two of them with a condition. */
export const LARGE_POLICY: PolicyDocument = {
  default: 'ask',
  rules: [
    { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
    {
      name: 'two for gold',
      match: { tool: 'keyed', when: 'args.what.contains("gold")' },
      verdict: 'ask',
      requires: { quorum: 2, roles: ['finance'], notRequester: true },
      risk: 'critical',
      expires: 'PT1H',
    },
    { name: 'small change', match: { tool: 'keyed', when: 'size(args.what) < 4' }, verdict: 'allow', risk: 'low' },
    { name: 'never lead', match: { when: 'args.what == "lead"' }, verdict: 'deny' },
  ],
}
