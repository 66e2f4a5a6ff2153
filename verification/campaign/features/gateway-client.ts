import { setTimeout as delay } from 'node:timers/promises'
import type { Door } from '../../crash/door.ts'
import type { Random } from '../../simulation/random.ts'
import { MCP_CLIENTS } from '../../testing/mcp-clients.ts'
import type { GatewayAnswer } from './journal.ts'
import type { PlannedCall } from './plan.ts'

const AGAIN_MS = 25
/**
 * Longer than the gateway holds a call, shorter than this campaign lets anybody wait. It bounds `initialize` too: when a server dies after
 * the headers of an answer, the SDK's client reports no error and waits for its own limit, 60 s by default.
 */
const TIMEOUT_MS = 20_000

export interface GatewayCallOptions {
  door: Door
  key: string
  call: PlannedCall
  random: Random
  isOver(): boolean
  /** The action is proposed, and nobody will vote on it any more: the person who was to vote gave up when the connection broke. */
  isLeftToPeople(actionId: string): Promise<boolean>
  /** Told what the client does next, and how its last step ended. */
  onStep(step: string): void
}

/**
 * Makes a call over `/mcp` with a published client, and makes it again after every broken connection, at whichever server lives, until it
 * is told how the action ended. Undefined when it was over before, or when the action is left to people.
 */
export async function callThroughGateway(options: GatewayCallOptions): Promise<GatewayAnswer | undefined> {
  const { door, key, call, random, isOver, isLeftToPeople, onStep } = options
  const { connect, client: program, speaks } = random.pick(MCP_CLIENTS)
  const isNamed = random.chance(0.5)
  const meta = isNamed ? { 'countersign/idempotencyKey': call.what } : {}
  let last = 'nothing yet'
  while (!isOver()) {
    try {
      const url = `${await door.pick()}/mcp`
      onStep(`${program} (${speaks}) connects to ${url} after ${last}`)
      await using client = await connect({ url, key, timeoutMs: TIMEOUT_MS })
      while (!isOver()) {
        onStep(`${program} (${speaks}) calls ${url} after ${last}`)
        const result = await client.call(call.tool, call.arguments, { timeoutMs: TIMEOUT_MS, meta })
        const about = result._meta?.['countersign/action'] as { id: string; state: string } | undefined
        last = about ? `${about.id} ${about.state}` : JSON.stringify(result.content).slice(0, 200)
        onStep(`${program} (${speaks}) was told ${last} by ${url}`)
        if (about && !['proposed', 'approved', 'executing'].includes(about.state)) {
          return { what: call.what, actionId: about.id, state: about.state, isNamed }
        }
        if (about?.state === 'proposed' && (await isLeftToPeople(about.id))) return undefined
        await delay(AGAIN_MS)
      }
    } catch (error) {
      // The connection broke, or the server said that it is stopping: the same call again is the same action.
      last = String(error).slice(0, 200)
      await delay(AGAIN_MS)
    }
  }
  return undefined
}
