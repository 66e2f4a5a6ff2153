import { type Action, isSettled } from '@countersign/core'
import { type Random, seededRandom } from '../../simulation/random.ts'
import type { ApiClient } from '../../testing/api-client.ts'
import type { EventReader } from '../../testing/event-reader.ts'
import { type Orders, orderTools, startOrders } from '../../testing/orders.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../../testing/test-server.ts'

/** Under way at a time. */
const WORKERS = 8
const STATUSES = ['pending', 'paid', 'shipped', 'cancelled']

/** When the target changes. */
const MOMENTS = ['before the decision', 'with the decision', 'before the send', 'before each start again', 'what is not shown'] as const
type Moment = (typeof MOMENTS)[number]

export interface TargetReport {
  changes: number
  byMoment: Record<string, number>
  /** How often people were asked again. */
  askedAgain: number
  violations: string[]
}

/** Changes a real service's data after it was shown, so often: no write may find anything but what was approved. */
export async function runTargets({ changes, seed, endsAt }: { changes: number; seed: number; endsAt: number }): Promise<TargetReport> {
  await using orders = await startOrders()
  using folder = temporaryFolder()
  const place = { dataDir: folder.path, environment: {} }
  await using server = await startTestServer({ config: { tools: orderTools(orders) }, place })
  const random = seededRandom(seed)
  const report: TargetReport = { changes: 0, byMoment: {}, askedAgain: 0, violations: [] }
  const approved = new Map<string, unknown>()
  const onWrite = new Map<string, () => void>()
  orders.beforeWrite = (id) => {
    const change = onWrite.get(id)
    onWrite.delete(id)
    change?.()
  }
  let taken = 0
  const worker = async () => {
    using inbox = await server.admin.stream('/api/events')
    while (report.changes < changes && Date.now() < endsAt) {
      const moment = MOMENTS[taken % MOMENTS.length] ?? 'before the decision'
      await oneChange({ server, inbox, orders, random, report, approved, onWrite, moment, id: `o${taken++}` })
      report.changes++
      report.byMoment[moment] = (report.byMoment[moment] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, worker))
  for (const { id, from } of orders.done) {
    if (approved.get(id) !== from)
      report.violations.push(`${id} was changed when it was ${from}; what was approved was shown as ${approved.get(id)}`)
  }
  return report
}

interface OneChange {
  server: TestServer
  inbox: EventReader
  orders: Orders
  random: Random
  report: TargetReport
  /** The status that was shown when a change of an order was approved last. */
  approved: Map<string, unknown>
  onWrite: Map<string, () => void>
  moment: Moment
  id: string
}

async function oneChange({ server, inbox, orders, random, report, approved, onWrite, moment, id }: OneChange): Promise<void> {
  const { admin } = server
  const say = (problem: string) => report.violations.push(`${id}, ${moment}: ${problem}`)
  const change = () => {
    const { status } = orders.order(id)
    orders.order(
      id,
      moment === 'what is not shown'
        ? { note: `n${random.int(1_000)}` }
        : { status: random.pick(STATUSES.filter((other) => other !== status)) },
    )
  }
  // Where it changes behind the last look, only the service itself can tell.
  const tool = moment === 'before the decision' ? 'set' : 'setGuarded'
  let asked: Action = await admin.post('/api/actions', { tool, arguments: { id, status: 'paid' } })
  let changesLeft = moment === 'before each start again' ? 3 : 1
  for (;;) {
    const isChanged = changesLeft-- > 0
    if (isChanged && moment === 'before the send') onWrite.set(id, change)
    else if (isChanged && moment !== 'with the decision') change()
    approved.set(id, asked.preview?.[0]?.oldValue)
    const decided = approve(admin, asked)
    if (isChanged && moment === 'with the decision') change()
    await decided
    const now = await ended(admin, inbox, asked)
    onWrite.delete(id)
    if (now.state === 'succeeded') break
    if (now.state !== 'proposed') return void say(`it ended ${now.state}: ${now.error?.message}`)
    if (!isChanged) return void say('it was asked again without a change')
    report.askedAgain++
    if (now.revision !== asked.revision + 1 || now.revised?.why !== 'target') say(`revision ${now.revision} because of ${now.revised?.why}`)
    if (now.preview?.[0]?.oldValue !== orders.order(id).status) say(`asked again with ${JSON.stringify(now.preview)}`)
    asked = now
  }
  const mustAsk = moment === 'before the decision' || moment === 'before the send' || moment === 'before each start again'
  if (mustAsk && asked.revision === 1) say('it was carried out without being asked again')
  if (moment === 'what is not shown' && asked.revision !== 1) say('it was asked again, although nothing that was shown had changed')
}

const approve = (admin: ApiClient, { id, revision, digest }: Action): Promise<Action> =>
  admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })

/** The action when it is carried out, or asked again. */
async function ended(admin: ApiClient, inbox: EventReader, { id, revision }: Action): Promise<Action> {
  // An action that the service refused is `failed` for a moment, then goes straight back for approval.
  await inbox.next('action_update', (data) => data.proposalId === id && (isSettled(data.state) || data.revision > revision))
  return admin.get(`/api/actions/${id}`)
}
