import { highRisk, type KnownServer, reads, said } from './known-tool.ts'

/** `@cyanheads/git-mcp-server`. Its annotations only mark reads, so tools that rewrite or publish history are marked here. */
export const GIT: KnownServer = {
  startedBy: ['@cyanheads/git-mcp-server', 'git-mcp-server'],
  tools: {
    ...reads(
      'git_blame',
      'git_changelog_analyze',
      'git_diff',
      'git_log',
      'git_reflog',
      'git_show',
      'git_status',
      'git_wrapup_instructions',
    ),
    ...highRisk('git_push', 'git_reset', 'git_clean', 'git_clear_working_dir', 'git_rebase', 'git_remote'),
    git_commit: { effect: 'write', describe: ({ message, path }) => `Commit in ${said(path)}: ${said(message)}` },
    git_add: { effect: 'write', describe: ({ paths, path }) => `Stage ${said(paths)} in ${said(path)}` },
    git_checkout: { effect: 'write', describe: ({ target, path }) => `Check out ${said(target)} in ${said(path)}` },
    git_branch: {
      effect: 'write',
      describe: ({ mode, branchName, path }) => `Branch ${said(mode)} ${branchName === undefined ? '' : said(branchName)} in ${said(path)}`,
    },
  },
}
