import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type ChildServer, startChildServer } from '../../testing/child-server.ts'
import { checkData } from './check-data.ts'
import { type DiskFault, shimEnvironment } from './disk-shim.ts'
import { keepInodes } from './keep-inodes.ts'
import { openWorkload, type Workload } from './workload.ts'

const ACTIONS = 4
const ROUNDS = 3

export interface FaultResult {
  /** Calls that were made to fail. */
  hits: number
  /** Whether the server listened in spite of the disk. */
  hasStarted: boolean
  /** Answers of the server with the bad disk, by status. */
  answers: Record<number, number>
  /** A sentence for each thing that is not as promised. */
  problems: string[]
}

/** A folder whose last server was killed, so that the next one finds a write-ahead log. */
export interface UsedFolder extends AsyncDisposable {
  /** Starts a server on a copy of it, on a disk that fails; then one on a disk that works, and holds both against the promises. */
  run(fault: DiskFault): Promise<FaultResult>
}

export async function prepareFolder(): Promise<UsedFolder> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-disk-')))
  const workload = await openWorkload(folder)
  const template = join(folder, 'template')
  const { configFile } = workload
  const server = await startChildServer({ configFile, dataDir: template })
  await workload.propose(server.admin, ACTIONS)
  await workload.decide(server.admin)
  await workload.settle(server.admin)
  await server.kill()
  const witnessFile = join(template, 'instance')
  const inodes = new Map([witnessFile, join(template, 'countersign.db')].map((file) => [file, statSync(file, { bigint: true }).ino]))
  let runs = 0
  return {
    async run(fault) {
      const place = join(folder, `run-${++runs}`)
      mkdirSync(place)
      cpSync(template, join(place, 'data'), { recursive: true })
      keepInodes(inodes, witnessFile, (path) => join(place, 'data', basename(path)))
      // Answers from before the copy must be in every copy. Each copy also gets answers of its own, which the others do not have.
      await using own = await openWorkload(place)
      own.witness.proposed.push(...workload.witness.proposed)
      own.witness.decided.push(...workload.witness.decided)
      const result = await runFault({ place, workload: own, fault })
      rmSync(place, { recursive: true, force: true })
      return result
    },
    async [Symbol.asyncDispose]() {
      await workload[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface FaultRun {
  place: string
  workload: Workload
  fault: DiskFault
}

async function runFault({ place, workload, fault }: FaultRun): Promise<FaultResult> {
  const { configFile, witness } = workload
  const dataDir = join(place, 'data')
  const hitsFile = join(place, 'hits')
  const hits = () => (existsSync(hitsFile) ? readFileSync(hitsFile, 'utf8').split('\n').length - 1 : 0)
  const problems: string[] = []

  const failing = await startChildServer({
    configFile,
    dataDir,
    environment: shimEnvironment({ folder: place, fault, hits: hitsFile }),
  }).catch(() => undefined)
  if (failing) {
    for (let round = 0; round < ROUNDS; round++) {
      await workload.propose(failing.admin, ACTIONS)
      await workload.decide(failing.admin)
    }
    if (hits() > 0) problems.push(...(await checkStopped(failing, fault)))
    // Its end may be what the disk fails at.
    await failing.stop()
  }
  const answers: Record<number, number> = {}
  for (const { status } of witness.refused) answers[status] = (answers[status] ?? 0) + 1
  for (const { status, text } of witness.refused) {
    if (status !== 503 && status !== 507) problems.push(`an answer was neither 503 nor 507: ${status} ${text}`)
  }

  const next = await startChildServer({ configFile, dataDir }).catch(
    (error) => void problems.push(`it does not start again: ${error.message}`),
  )
  if (next) {
    const ready = await next.admin.send('GET', '/readyz')
    if (ready.status !== 200) problems.push(`after the start /readyz is ${ready.status}`)
    await workload.settle(next.admin)
    await next.stop()
  }
  problems.push(...(await checkData(dataDir, witness)), ...checkOnce(workload))
  return { hits: hits(), hasStarted: failing !== undefined, answers, problems }
}

/** After a call of the log failed with EIO nothing more is taken, and the server says so. */
async function checkStopped({ admin }: ChildServer, { error, call, file }: DiskFault): Promise<string[]> {
  const isLogLost = file === '-wal' && (call === 'sync' || error === 'EIO') && error !== 'SHORT'
  if (!isLogLost) return []
  const ready = await admin.send('GET', '/readyz')
  const later = await admin.send('POST', '/api/actions', { body: { tool: 'keyed', arguments: { what: 'too late' } } })
  return [
    ...(ready.status === 503 ? [] : [`the disk failed and /readyz is ${ready.status}`]),
    ...(later.status === 503 ? [] : [`the disk failed and a proposal is answered with ${later.status}`]),
  ]
}

/** Checks that a call without an idempotency key was sent at most once. */
function checkOnce({ witness }: Workload): string[] {
  const counts = new Map<string, number>()
  for (const { what, tool } of witness.effects) if (tool === 'unkeyed') counts.set(what, (counts.get(what) ?? 0) + 1)
  return [...counts].flatMap(([what, count]) => (count > 1 ? [`${what} was sent ${count} times without a key`] : []))
}
