import { type OpenChat, openChat } from './ai-chat.ts'
import { startScriptedDesk } from './scripted-desk.ts'

/** A call that waits for a person. */
export const CALL = { tool: 'keyed', arguments: { what: 'x' } }

/** Starts a server with a target and an agent that follows a script, for pages of the AI SDK's `useChat`. */
export async function startAiSdk(...of: Parameters<typeof startScriptedDesk>) {
  const desk = await startScriptedDesk(...of)
  return {
    ...desk,
    open: (more: Partial<OpenChat> = {}) => openChat({ url: desk.server.url, key: desk.key, ...more }),
    waiting: async () => (await desk.server.admin.get('/api/actions?state=proposed')).items,
  }
}
