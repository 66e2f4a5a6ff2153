import { expect } from 'vitest'
import type { ApiClient } from './api-client.ts'

/** Writes the first message to the agent of a project that `init` wrote, and approves what it proposes. Answers the action as it was proposed. */
export async function approveFirstProposal(admin: ApiClient): Promise<ApiAction> {
  const session = await admin.post('/api/sessions', { agent: 'assistant' })
  await admin.post(`/api/sessions/${session.id}/messages`, { content: 'Move the stand-up' })
  await expect.poll(async () => (await admin.get('/api/actions?state=proposed')).items.length).toBe(1)
  const [action] = (await admin.get('/api/actions?state=proposed')).items
  await admin.post(`/api/actions/${action.id}/decision`, { verdict: 'approve' })
  expect(await admin.get(`/api/actions/${action.id}?wait=60&until=settled`)).toMatchObject({ state: 'succeeded' })
  await expect.poll(async () => JSON.stringify(await admin.get(`/api/sessions/${session.id}/messages`))).toContain('has the new time.')
  return { tool: action.tool, preview: JSON.stringify(action.preview) }
}

interface ApiAction {
  tool: string
  /** As JSON. */
  preview: string
}
