/** The permission of a fine-grained token that each group of tools needs. *Metadata: read* is always needed. */
const PERMISSIONS: readonly { permission: string; tools: readonly string[] }[] = [
  { permission: '', tools: ['getRepository', 'listAssignees', 'searchRepositories', 'searchUsers'] },
  { permission: 'Issues: read', tools: ['searchIssues', 'getIssue', 'listIssues', 'getWorkload', 'listLabels', 'listMilestones'] },
  {
    permission: 'Pull requests: read; for checks also Checks and Commit statuses: read',
    tools: ['getPullRequest', 'listPullRequests', 'listReviews', 'listReviewComments'],
  },
  {
    permission: 'Contents: read',
    tools: ['searchCode', 'getFile', 'listFiles', 'listBranches', 'listCommits', 'getCommit', 'listReleases', 'getRelease'],
  },
  { permission: 'Actions: read', tools: ['listWorkflowRuns', 'getWorkflowRun', 'readJobLog'] },
  {
    permission: 'Issues: write; on pull requests Pull requests: write',
    tools: [
      ...['createIssue', 'updateIssue', 'closeIssue', 'reopenIssue', 'addLabels', 'removeLabel'],
      ...['assignIssue', 'unassignIssue', 'commentOnIssue', 'editComment'],
    ],
  },
  {
    permission: "Pull requests: write, Contents: read; for checks on a review's card also Checks and Commit statuses: read",
    tools: [
      ...['createPullRequest', 'updatePullRequest', 'requestReview', 'closePullRequest', 'createReview', 'replyToReviewComment'],
      ...['markReadyForReview', 'convertToDraft'],
    ],
  },
  { permission: 'Pull requests: write, Contents: write', tools: ['updatePullBranch'] },
  { permission: 'Actions: write', tools: ['rerunWorkflow', 'rerunFailedJobs', 'cancelWorkflowRun'] },
  {
    permission: 'Contents: write; for files in `.github/workflows` also Workflows: write',
    tools: ['mergePullRequest', 'createBranch', 'deleteBranch', 'commitFiles', 'createRelease', 'publishRelease'],
  },
]

/** The permission that each GitHub tool needs, by its name. */
export const GITHUB_PERMISSIONS: Readonly<Record<string, string>> = Object.fromEntries(
  PERMISSIONS.flatMap(({ permission, tools }) => tools.map((tool) => [tool, permission])),
)
