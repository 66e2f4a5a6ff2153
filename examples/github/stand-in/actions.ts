import { type Call, missing, ok, paged, problem, type Reply, type Route } from './route.ts'
import { type Addresses, nodeId, repository, urlOf, user } from './shapes.ts'
import type { Job, Repo, Run, State } from './state.ts'

const REPO = '/repos/{owner}/{repo}'
const RUN = `${REPO}/actions/runs/{run_id}`

const on =
  (answer: (call: Call, run: Run) => Reply) =>
  (call: Call): Reply => {
    const found = call.repo.runs.find(({ id }) => id === Number(call.params.run_id))
    return found ? answer(call, found) : missing()
  }

/** Runs of GitHub Actions, their jobs and logs. */
export const ACTION_ROUTES: Route[] = [
  [
    'GET',
    `${REPO}/actions/runs`,
    (call) => {
      const [branch, status] = [call.query.get('branch'), call.query.get('status')]
      const fits = (run: Run) =>
        (branch === null || run.branch === branch) && (status === null || run.status === status || run.conclusion === status)
      return paged(call, call.repo.runs.filter(fits).reverse(), (one) => runView(call.at, call.repo, one), 'workflow_runs')
    },
  ],
  ['GET', RUN, on(({ at, repo }, run) => ok(runView(at, repo, run)))],
  ['GET', `${RUN}/jobs`, on((call, run) => paged(call, run.jobs, (job) => jobView(call.at, call.repo, run, job), 'jobs'))],
  [
    'GET',
    `${REPO}/actions/jobs/{job_id}/logs`,
    ({ at, repo, params }) => {
      const job = repo.runs.flatMap(({ jobs }) => jobs).find(({ id }) => id === Number(params.job_id))
      return job ? { status: 302, headers: { location: `${at.logs}/${job.id}?sig=of-the-storage` } } : missing()
    },
  ],
  ['POST', `${RUN}/rerun`, on((call, run) => again(call, run, () => true))],
  ['POST', `${RUN}/rerun-failed-jobs`, on((call, run) => again(call, run, ({ conclusion }) => conclusion === 'failure'))],
  [
    'POST',
    `${RUN}/cancel`,
    on((_, run) => {
      if (run.status === 'completed') return problem(409, 'Cannot cancel a workflow run that is completed.')
      Object.assign(run, { status: 'completed', conclusion: 'cancelled' })
      return ok({}, 202)
    }),
  ],
]

function again({ state }: Call, run: Run, isMeant: (job: Job) => boolean): Reply {
  if (run.status !== 'completed') return problem(403, 'The workflow run is already running')
  const jobs = run.jobs.map((job) => (isMeant(job) ? { ...job, id: state.nextId++, conclusion: null } : job))
  Object.assign(run, { status: 'queued', conclusion: null, attempt: run.attempt + 1, actor: state.login, jobs })
  return ok({}, 201)
}

/** Returns the stored log at a path. Requires no token. */
export const logAt = ({ repos }: State, path: string): string | undefined =>
  repos.flatMap(({ runs }) => runs.flatMap(({ jobs }) => jobs)).find(({ id }) => path.endsWith(`/${id}`))?.log

function runView(at: Addresses, repo: Repo, run: Run) {
  const { url, page } = urlOf(at, repo)
  const self = `${url}/actions/runs/${run.id}`
  const commit = repo.git.commits.get(run.sha)
  const who = { name: commit?.author ?? '', email: `${commit?.author}@example.com` }
  return {
    ...{ id: run.id, node_id: nodeId(run.id), name: run.workflow, display_title: run.title, path: '.github/workflows/ci.yml' },
    ...{ run_number: run.number, run_attempt: run.attempt, event: run.event, status: run.status, conclusion: run.conclusion },
    ...{ head_branch: run.branch, head_sha: run.sha, workflow_id: 1, check_suite_id: run.id, pull_requests: [] },
    ...{ url: self, html_url: `${page}/actions/runs/${run.id}`, jobs_url: `${self}/jobs`, logs_url: `${self}/logs` },
    ...{ check_suite_url: `${url}/check-suites/${run.id}`, artifacts_url: `${self}/artifacts`, cancel_url: `${self}/cancel` },
    ...{ rerun_url: `${self}/rerun`, workflow_url: `${url}/actions/workflows/1`, previous_attempt_url: null },
    ...{ created_at: run.createdAt, updated_at: run.createdAt, run_started_at: run.createdAt },
    ...{ actor: user(at, 'ada'), triggering_actor: user(at, run.actor) },
    head_commit: {
      id: run.sha,
      tree_id: commit?.tree ?? '',
      message: commit?.message ?? '',
      timestamp: commit?.date,
      author: who,
      committer: who,
    },
    ...{ repository: repository(at, repo), head_repository: repository(at, repo) },
  }
}

function jobView(at: Addresses, repo: Repo, run: Run, job: Job) {
  const { url, page } = urlOf(at, repo)
  const status = job.conclusion === null ? 'in_progress' : 'completed'
  const endedAt = job.conclusion === null ? null : run.createdAt
  return {
    ...{ id: job.id, node_id: nodeId(job.id), run_id: run.id, run_url: `${url}/actions/runs/${run.id}`, run_attempt: run.attempt },
    ...{ head_sha: run.sha, head_branch: run.branch, workflow_name: run.workflow, name: job.name, status, conclusion: job.conclusion },
    ...{ url: `${url}/actions/jobs/${job.id}`, html_url: `${page}/actions/runs/${run.id}/job/${job.id}` },
    ...{ check_run_url: `${url}/check-runs/${job.id}`, labels: ['ubuntu-latest'], created_at: run.createdAt, started_at: run.createdAt },
    ...{ completed_at: endedAt, runner_id: 1, runner_name: 'runner', runner_group_id: 1, runner_group_name: 'Default' },
    steps: [{ number: 1, name: 'Run npm test', status, conclusion: job.conclusion, started_at: run.createdAt, completed_at: endedAt }],
  }
}
