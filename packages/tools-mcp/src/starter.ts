import type { StarterRules } from '@countersign/toolkit'

/** A policy to start from for the tools of an MCP server: what is known to read runs, everything else asks. */
export const mcpStarter = (group: string): StarterRules => [
  { name: `${group}: reading runs`, match: { tool: `${group}.*`, effect: 'read' }, verdict: 'allow' },
  { name: `${group}: everything else asks`, match: { tool: `${group}.*`, effect: 'write' }, verdict: 'ask' },
]
