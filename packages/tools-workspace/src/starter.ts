import type { StarterRules } from '@countersign/toolkit'

/** Returns the starting policy rules for the tools of a workspace. */
export const workspaceStarter = (group: string): StarterRules => [
  { name: `${group}: looking at files runs`, match: { tool: `${group}.*`, effect: 'read' }, verdict: 'allow' },
  { name: `${group}: deleting a file asks`, match: { tool: `${group}.deleteFile` }, verdict: 'ask', risk: 'high' },
  {
    name: `${group}: a patch that deletes a file asks`,
    match: { tool: `${group}.applyPatch`, when: 'args.files.exists(file, has(file.delete))' },
    verdict: 'ask',
    risk: 'high',
  },
  {
    name: `${group}: files that decide what runs elsewhere ask as high risk`,
    match: {
      tool: `${group}.*`,
      effect: 'write',
      when: '[".github/*", "*/.github/*", "*.gitlab-ci.yml", "*Dockerfile", "*Makefile", "*package.json"].exists(glob, has(args.files) ? args.files.exists(file, file.path.fits(glob)) : (has(args.path) ? args.path : has(args.to) ? args.to : "").fits(glob))',
    },
    verdict: 'ask',
    risk: 'high',
  },
  { name: `${group}: every change asks`, match: { tool: `${group}.*`, effect: 'write' }, verdict: 'ask' },
]
