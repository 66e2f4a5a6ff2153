import { createClient, gate } from '../../../../packages/client/src/index.ts'

const { COUNTERSIGN_URL = '', COUNTERSIGN_KEY = '', WORK_URL = '', EXPIRES_IN } = process.env

/** The test does the work, and counts it. */
export const doWork = (tool: string) => async (args: object) => {
  const answer = await fetch(`${WORK_URL}/${tool}`, { method: 'POST', body: JSON.stringify(args) })
  if (!answer.ok) throw new Error(`${tool} failed: ${answer.status}`)
  return answer.json()
}

/** The tools behind the gate. */
export const gated = gate(
  createClient({ baseUrl: COUNTERSIGN_URL, key: COUNTERSIGN_KEY }),
  { readOrder: doWork('readOrder'), setStatus: doWork('setStatus') },
  { ...(EXPIRES_IN && { expiresIn: EXPIRES_IN }) },
)
