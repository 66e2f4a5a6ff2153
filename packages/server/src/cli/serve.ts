import { resolve } from 'node:path'
import { Command } from 'commander'
import { type Environment, loadConfig, readSettings, requireConfig, secretsOf } from '../config/index.ts'
import { createLog } from '../log.ts'
import { startServer } from '../server.ts'
import { openBrowser } from './open-browser.ts'
import { type ServerFlags, withServerFlags } from './options.ts'
import { runUntilStopped } from './run-until-stopped.ts'
import { say } from './say.ts'
import { sayAccepting, sayHeld } from './say-held.ts'
import { sayLink } from './sign-in.ts'

/** `countersign serve`: runs the server with the given configuration. */
export const serveCommand = (environment: Environment): Command =>
  withServerFlags(new Command('serve').description('run the server with your configuration'))
    .option('--config <file>', 'configuration (COUNTERSIGN_CONFIG, default countersign.config.ts or countersign.yaml here)')
    .action(async (flags: ServerFlags) => {
      const settings = readSettings(flags, environment)
      const file = settings.configFile ?? (await requireConfig(resolve('.')))
      const config = await loadConfig(file, environment)
      const log = createLog(settings.logLevel, secretsOf(settings, config))
      const server = await startServer({ config, settings, log, onAccepting: sayAccepting })
      say(`Countersign is ready at ${server.url}`)
      await sayHeld(server.engine.hold, server.url)
      const link = server.signInLink()
      if (link !== undefined) sayLink(link, settings)
      if (flags.open) openBrowser(link ?? server.url, environment)
      await runUntilStopped(() => server.close(), say)
    })
