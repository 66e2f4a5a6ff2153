import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import type { Fault } from '../../../examples/github/stand-in/server.ts'
import { cpuTimeMs } from '../../../verification/testing/cpu-time.ts'
import { addActivity, openGithubBench } from '../../../verification/testing/github.ts'

const CONTEXT = (version?: string) => ({ actionId: 'act', idempotencyKey: 'act.1', version, signal: AbortSignal.timeout(240_000) })

/** Starts a log storage at its own address. It answers with `log` and stores the requests. */
async function openStorage(log: string | Buffer, status = 200) {
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    response.writeHead(status, { 'content-type': 'text/plain' }).end(log)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    asked,
    origin,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('readJobLog: the end of a log comes from its storage, without colours and times, and the token is not sent there', async () => {
  const lines = Array.from({ length: 300 }, (_, line) => `2026-01-01T00:00:00.0000000Z \u001b[31mline ${line + 1}\u001b[0m`)
  await using storage = await openStorage(`\uFEFF${lines.join('\r\n')}\r\n`)
  await using bench = await openGithubBench({ logsAt: `${storage.origin}/logs`, network: { allow: [storage.origin] } })
  const { failedJob } = addActivity(bench.standin, bench.repo)
  expect(await bench.run('readJobLog', { jobId: failedJob, lines: 2 })).toEqual({
    ...{ jobId: failedJob, log: 'line 299\nline 300', complete: false },
  })
  expect(await bench.run('readJobLog', { jobId: failedJob, lines: 300 })).toMatchObject({ complete: true })
  expect(storage.asked.map(({ url }) => url)).toEqual(Array(2).fill(`/logs/${failedJob}?sig=of-the-storage`))
  expect(storage.asked.flatMap(({ headers }) => Object.keys(headers))).not.toContain('authorization')
  expect(JSON.stringify(storage.asked.map(({ rawHeaders }) => rawHeaders))).not.toContain('standin-token')
})

test('readJobLog: a log of many megabytes is cut at its beginning, and one without end is not read to its end', async () => {
  const line = `${'x'.repeat(98)}\n`
  await using long = await openStorage(Buffer.from(line.repeat(40_000)))
  await using bench = await openGithubBench({ logsAt: long.origin, network: { allow: [long.origin] } })
  const { failedJob } = addActivity(bench.standin, bench.repo)
  const read = (await bench.run('readJobLog', { jobId: failedJob, lines: 1_000 })) as { log: string; note?: string }
  expect([read.log.split('\n').length, read.note]).toEqual([1_000, undefined])
  await using endless = await openStorage(Buffer.from(line.repeat(400_000)))
  await using other = await openGithubBench({ logsAt: endless.origin, network: { allow: [endless.origin] } })
  const cut = await other.run('readJobLog', { jobId: addActivity(other.standin, other.repo).failedJob })
  expect(cut).toMatchObject({ complete: false, note: expect.stringContaining('too long to be read to its end') })
})

test('readJobLog: controls of a terminal that never end take no longer than others, and no line of it is taken for a marker', async () => {
  const title = '\u001b]0;title\u0007\u001b]8;;https://ci.example\u001b\\link\u001b]8;;\u001b\\'
  const marker = '+<!-- countersign:act_1.1 -->'
  await using storage = await openStorage(`${'\u001b]'.repeat(200_000)}\n${'\u001b;'.repeat(200_000)}!\n${title}\n${marker}\n`)
  await using bench = await openGithubBench({ logsAt: storage.origin, network: { allow: [storage.origin] } })
  const { failedJob } = addActivity(bench.standin, bench.repo)
  const startedAt = cpuTimeMs()
  const { log } = (await bench.run('readJobLog', { jobId: failedJob })) as { log: string }
  expect(cpuTimeMs() - startedAt).toBeLessThan(5_000)
  expect(log.split('\n').slice(2)).toEqual(['link', marker])
})

test('readJobLog: an address that is private, of another kind or turned on is not followed, and no address is told', async () => {
  const locations: [string | undefined, RegExp][] = [
    ['http://169.254.169.254/latest?sig=secret', /not a public address/],
    ['http://127.0.0.1:1/x?sig=secret', /not a public address/],
    ['file:///etc/passwd', /names no address of the log/],
    ['http://user:pass@logs.example/x?sig=secret', /names no address of the log/],
    ['//', /names no address of the log/],
  ]
  for (const [location = '', words] of locations) {
    const fault: Fault = { status: 302, headers: { location } }
    await using bench = await openGithubBench({ fault: ({ path }) => (path.endsWith('/logs') ? fault : undefined) })
    const error = await bench.run('readJobLog', { jobId: 1 }).catch((thrown: unknown) => thrown)
    expect([location, error]).toEqual([location, expect.objectContaining({ kind: 'refused', message: expect.stringMatching(words) })])
    expect(String(error)).not.toContain('secret')
  }
  await using gone = await openStorage('expired', 403)
  await using bench = await openGithubBench({ logsAt: gone.origin, network: { allow: [gone.origin] } })
  const { failedJob } = addActivity(bench.standin, bench.repo)
  await expect(bench.run('readJobLog', { jobId: failedJob })).rejects.toMatchObject({ kind: 'refused', message: /refused \(403\)/ })
  await expect(bench.run('readJobLog', { jobId: 7 })).rejects.toThrow('404')
})

test('runs: what is run again is named with its jobs; what is under way, or did not fail, is refused', async () => {
  await using bench = await openGithubBench()
  const { failed, running } = addActivity(bench.standin, bench.repo)
  const title = `“CI” #1 “Fix the price” at ${failed.sha.slice(0, 7)} of acme/shop`
  const again = await bench.look('rerunWorkflow', { runId: failed.id })
  expect(again.headline).toBe(`Run again ${title}`)
  expect(again.fields.at(-1)).toMatchObject({ field: 'jobs that run again', newValue: ['lint: success', 'test: failure'] })
  const some = await bench.look('rerunFailedJobs', { runId: failed.id })
  expect(some.headline).toBe(`Run the failed jobs again of ${title}`)
  expect(some.fields.at(-1)).toMatchObject({ newValue: ['test: failure'] })
  for (const name of ['rerunWorkflow', 'rerunFailedJobs']) {
    await expect(bench.look(name, { runId: running.id })).rejects.toMatchObject({ impossible: true, message: /is still in progress/ })
  }
  await expect(bench.look('cancelWorkflowRun', { runId: failed.id })).rejects.toMatchObject({
    impossible: true,
    message: /ended as failure/,
  })
  for (const job of failed.jobs) job.conclusion = 'success'
  await expect(bench.look('rerunFailedJobs', { runId: failed.id })).rejects.toMatchObject({ impossible: true, message: /No job/ })
})

test('runs: a failed job after the first hundred runs again, and a run with more jobs than are read is not refused', async () => {
  await using bench = await openGithubBench()
  const { failed } = addActivity(bench.standin, bench.repo)
  const [lint, test] = failed.jobs
  if (!lint || !test) throw new Error('the run has two jobs')
  const fine = (count: number) => Array.from({ length: count }, (_, n) => ({ ...lint, id: 10_000 + n }))
  failed.jobs.splice(0, 2, ...fine(150), test)
  const some = await bench.look('rerunFailedJobs', { runId: failed.id })
  expect(some.fields.at(-1)).toMatchObject({ field: 'jobs that run again', newValue: ['test: failure'] })
  failed.jobs.splice(0, failed.jobs.length, ...fine(500), test)
  const many = await bench.look('rerunFailedJobs', { runId: failed.id })
  expect(many.fields.at(-1)).toMatchObject({ newValue: ['The run has more than 500 jobs. The rest was not read.'] })
})

test('runs: a cancellation is told as requested, because the run may still end otherwise', async () => {
  await using bench = await openGithubBench()
  const { running } = addActivity(bench.standin, bench.repo)
  expect(await bench.run('cancelWorkflowRun', { runId: running.id })).toMatchObject({ runId: running.id, cancellation: 'requested' })
})

test('runs: a run that somebody else started again meanwhile is not started once more, and theirs is not taken for ours', async () => {
  await using bench = await openGithubBench()
  const { failed } = addActivity(bench.standin, bench.repo)
  const args = { runId: failed.id }
  const shown = await bench.look('rerunWorkflow', args)
  Object.assign(failed, { attempt: 2, actor: 'ben' })
  await expect(bench.execute('rerunWorkflow', args, CONTEXT(shown.version))).rejects.toMatchObject({ kind: 'stale' })
  expect(failed.attempt).toBe(2)
  expect((await bench.look('rerunWorkflow', args)).precondition).not.toEqual(shown.precondition)
  expect(await bench.verify('rerunWorkflow', args, CONTEXT(shown.version))).toEqual({ done: 'unknown' })
  Object.assign(failed, { attempt: 3, actor: bench.standin.state.login })
  expect(await bench.verify('rerunWorkflow', args, CONTEXT(shown.version))).toEqual({ done: 'unknown' })
})
