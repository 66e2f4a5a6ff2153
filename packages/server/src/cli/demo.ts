import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Command } from 'commander'
import { type Config, type Environment, loadConfig, readSettings, type Settings, secretsOf } from '../config/index.ts'
import { createLog } from '../log.ts'
import { isPortTaken } from '../require-free-port.ts'
import { nameOf, startServer } from '../server.ts'
import { openBrowser } from './open-browser.ts'
import { type ServerFlags, withoutData, withServerFlags } from './options.ts'
import { runUntilStopped } from './run-until-stopped.ts'
import { say } from './say.ts'
import { sayAccepting, sayHeld } from './say-held.ts'
import { sayLink } from './sign-in.ts'

const SHOP = fileURLToPath(new URL('../../../../examples/shop/', import.meta.url))

/** The exports of the example. The example does not import Countersign; the demo calls these two functions. */
interface ShopExample {
  createShop(options: { databaseFile: string; host: string; port: number }): Promise<Service>
  createBrain(options: { host: string; port: number }): Promise<Service>
}
interface Service {
  url: string
  close(): Promise<void>
}

interface DemoFlags extends ServerFlags {
  shopPort?: string
  brainPort?: string
  model?: string
}

/** `countersign demo`: shop, remote brain, server and console in one process, without a key or an account. */
export const demoCommand = (environment: Environment): Command =>
  withServerFlags(new Command('demo').description('run the order desk example: shop, agent and console, no key needed'), {
    readsData: false,
  })
    .option(
      '--model <provider/model>',
      'model of the agent "desk"; default: the first provider with a key in the environment, else scripted',
    )
    .option('--shop-port <number>', 'port of the example shop (default 4400, or any free one)')
    .option('--brain-port <number>', 'port of the example’s remote brain (default 4401, or any free one)')
    .action((flags: DemoFlags) => runDemo(flags, environment))

async function runDemo(flags: DemoFlags, environment: Environment): Promise<void> {
  if (!existsSync(join(SHOP, 'countersign.yaml'))) throw new Error('the demo needs a checkout of the repository: examples/shop is not here')
  const settings = readSettings({ logLevel: environment.COUNTERSIGN_LOG_LEVEL ?? 'warn', ...flags }, withoutData(environment))
  const started: (() => Promise<void>)[] = []
  const closeAll = async () => {
    for (const close of started.reverse()) await close()
  }
  try {
    const { createShop, createBrain }: ShopExample = await import(pathToFileURL(join(SHOP, 'src/index.ts')).href)
    const databaseFile = join(settings.dataDir, 'shop.db')
    const shop = await onPort(flags.shopPort, '4400', (port) => createShop({ databaseFile, host: '127.0.0.1', port }))
    started.push(() => shop.close())
    const brain = await onPort(flags.brainPort, '4401', (port) => createBrain({ host: '127.0.0.1', port }))
    started.push(() => brain.close())
    const loaded = await loadConfig(join(SHOP, 'countersign.yaml'), { ...environment, SHOP_URL: shop.url, BRAIN_URL: brain.url })
    const config = withDeskModel(loaded, flags.model ?? modelWithKey(settings))
    const log = createLog(settings.logLevel, secretsOf(settings, config))
    const server = await startServer({ config, settings, log, onAccepting: sayAccepting })
    started.push(() => server.close())
    say('')
    const link = server.signInLink()
    say(
      `  Countersign   ${link === undefined ? server.url : new URL(link).origin}          chat with the order desk, decide what it may do`,
    )
    say(`  The shop      ${shop.url}          see the orders change`)
    say(`  Agents        ${config.agents.map((agent) => `${agent.name} (${agent.model})`).join(', ')}`)
    say(`  Data          ${nameOf(settings.database)}`)
    await sayHeld(server.engine.hold, server.url)
    if (link !== undefined) sayLink(link, settings, 'npm run countersign --')
    say('')
    say(
      '  Try: "What is open?", "Mark ORD-001 as processing", "Cancel ORD-003 and ORD-004". Stop it with Ctrl-C and start it again: nothing is lost.',
    )
    if (flags.open) openBrowser(link ?? server.url, environment)
    await runUntilStopped(closeAll, say)
  } catch (error) {
    await closeAll()
    throw error
  }
}

/** Listens on the given port; by default on the usual port, or on any free one when that is taken. */
async function onPort(chosen: string | undefined, usual: string, open: (port: number) => Promise<Service>): Promise<Service> {
  try {
    return await open(Number(chosen ?? usual))
  } catch (error) {
    if (chosen === undefined && isPortTaken(error)) return open(0)
    throw error
  }
}

/** Returns a real model when the environment has a key for one. */
function modelWithKey({ models }: Settings): string | undefined {
  if (models.anthropic?.apiKey) return 'anthropic/claude-haiku-4-5'
  if (models.openai?.apiKey) return 'openai/gpt-5-mini'
  if (models.google?.apiKey) return 'google/gemini-flash-latest'
  return undefined
}

const withDeskModel = (config: Config, model: string | undefined): Config =>
  model === undefined ? config : { ...config, agents: config.agents.map((agent) => (agent.name === 'desk' ? { ...agent, model } : agent)) }
