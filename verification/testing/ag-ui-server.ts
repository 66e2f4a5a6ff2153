import { type AgUiMessage, openHttpAgent } from './ag-ui-agent.ts'
import { startScriptedDesk } from './scripted-desk.ts'

/** Starts a server whose agent follows a script, and a target; `open` opens the client of AG-UI for Ada, who may decide. */
export async function startAgUiServer(...of: Parameters<typeof startScriptedDesk>) {
  const desk = await startScriptedDesk(...of)
  const open = (messages: AgUiMessage[] = [], threadId?: string) => openHttpAgent(desk.server.url, desk.key, threadId, messages)
  return { ...desk, open }
}
