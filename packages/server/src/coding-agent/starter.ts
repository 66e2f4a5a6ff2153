import type { StarterRules } from '@countersign/toolkit'

/** Returns the starting policy rules for coding agents. A call that no rule matches needs approval, which is the default of the policy. */
export const codingAgentStarter = (group: string): StarterRules => [
  {
    name: `${group}: looking at the project runs`,
    match: { tool: `${group}.*`, effect: 'read', when: '!(has(args.outside) && args.outside) && !(has(args.sensitive) && args.sensitive)' },
    verdict: 'allow',
  },
  {
    name: `${group}: reading outside of the project, or a file that usually holds secrets, asks`,
    match: { tool: `${group}.read`, when: 'args.outside || args.sensitive' },
    verdict: 'ask',
  },
  {
    name: `${group}: pushing and publishing asks as high risk`,
    match: {
      tool: `${group}.shell`,
      when: 'args.shell.network && ["push", "publish", "deploy", "apply"].exists(word, args.command.contains(word))',
    },
    verdict: 'ask',
    risk: 'high',
  },
  {
    name: `${group}: credentials of cloud machines are not fetched`,
    match: { tool: `${group}.fetch`, when: 'args.address.reach == "never"' },
    verdict: 'deny',
    reason: 'Cloud machines give out credentials at this address.',
  },
  ...Object.entries({ fetch: 'requests to the web', search: 'searches of the web', mcp: 'tools of MCP servers' }).map(
    ([kind, what]): StarterRules[number] => ({ name: `${group}: ${what} ask`, match: { tool: `${group}.${kind}` }, verdict: 'ask' }),
  ),
  {
    name: `${group}: settings of coding agents are not changed`,
    match: {
      tool: `${group}.*`,
      effect: 'write',
      // In any letters: some file systems do not tell.
      when: '[".claude/", ".codex/", ".copilot/", ".countersign/", ".cursor/", ".gemini/", ".opencode/", "opencode.json"].exists(part, has(args.path) && args.path.lowerAscii().contains(part) || has(args.files) && args.files.exists(file, file.lowerAscii().contains(part)))',
    },
    verdict: 'deny',
    reason: 'The settings of coding agents and of Countersign decide what is asked, so agents do not change them.',
  },
]
