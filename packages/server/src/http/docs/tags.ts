/** The groups of the document's operations, in the order they are shown. */
export const TAGS: Readonly<Record<string, string>> = {
  sessions: 'Conversations with an agent: their messages, who writes in them, and deciding what waits in them.',
  chat: 'One call for a chat: send a message, and stream the run that answers it.',
  'agent requests': 'Requests that run only while somebody calls for them. Each call returns at the next pause.',
  actions: 'Tool calls: propose them, look at them, decide them, carry them out, and settle what became of them.',
  events: 'Server-sent events of one session, or of all actions you may see.',
  grants: 'Recorded approvals of later calls.',
  delegations: 'Who votes in whose place.',
  policy: 'What needs approval: the policy in force, its versions, tests and trials.',
  tools: 'The configured agents and tools.',
  objectives: 'Objectives and key results. They are changed by tools.',
  audit: 'The record of what was decided and done: read it, export it, verify it.',
  stats: 'Numbers about what was asked, decided and done.',
  identity: 'Who is signed in, keys, consoles and people.',
  hold: 'A server that holds everything, because its database looks like a copy.',
  health: 'Whether the process lives and can take a decision, and metrics.',
  mcp: 'The tools for clients of the Model Context Protocol.',
}
