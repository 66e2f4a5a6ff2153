import type { StarterRules } from '@countersign/toolkit'

/** Returns the starting policy rules for the tools of an MCP server: known reads run, all other tools need approval. */
export const mcpStarter = (group: string): StarterRules => [
  { name: `${group}: reading runs`, match: { tool: `${group}.*`, effect: 'read' }, verdict: 'allow' },
  { name: `${group}: everything else asks`, match: { tool: `${group}.*`, effect: 'write' }, verdict: 'ask' },
]
